;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.function-boundary-test
  "Parking operations that a block reaches through functions."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! >! alts! async go]]
   [skein.deadline :refer [await-port]]))

(set! *warn-on-reflection* true)

(defn- later
  "A port that gives `v` after a while."
  [v]
  (go (<! (a/timeout 2)) v))

(defprotocol Source
  (draw [source]))

(extend-protocol Source
  Long
  (draw [n] (<! (later n))))

(defn- one-down [v] (<! (later v)))
(defn- two-down [v] (one-down v))
(defn- three-down [v] (two-down v))

(deftest take-through-functions
  (is (= [1 2 3] (await-port (go (mapv <! (map later [1 2 3]))))) "mapv")
  (is (= [1 2 3] (await-port (go (doall (for [p (map later [1 2 3])] (<! p)))))) "for")
  (is (= 1 (await-port (go (apply <! [(later 1)])))) "apply")
  (is (= 1 (await-port (go (letfn [(f [p] (<! p))] (f (later 1)))))) "letfn")
  (is (= 1 (await-port (go (.call ^Callable (reify Callable (call [_] (<! (later 1)))))))) "reify")
  (is (= 1 (await-port (go (draw 1)))) "a protocol method")
  (is (= 6 (await-port (go (reduce (fn [s p] (+ (long s) (long (<! p)))) 0 (map later [1 2 3]))))) "reduce")
  (is (= 1 (await-port (go (three-down 1)))) "three calls deep")
  (is (= 1 (await-port (go (locking (Object.) (<! (later 1)))))) "locking")
  (is (= [1 2] (await-port (go [(<! (later 1)) (one-down 2)]))) "beside a lexical one"))

(deftest put-and-alts-through-functions
  (let [c (a/chan)
        taken (go [(<! c) (<! c)])]
    (is (= [true true] (await-port (go (mapv #(>! c %) [1 2])))))
    (is (= [1 2] (await-port taken))))
  (let [c (later 1)]
    (is (= [1 c] (await-port (go ((fn [ports] (alts! ports)) [c (a/chan)])))))))

(deftest parking-functions-work-in-async-blocks
  (is (= [1 2] (await-port (async (mapv <! [(later 1) (later 2)])))))
  (is (= [1 2] (await-port (async (<! (later 0)) (mapv <! [(later 1) (later 2)]))))))

(defn- message [f]
  (try (f) (catch AssertionError e (.getMessage e))))

(defn- refusal
  "What Skein says where there is no block: core.async's two lines, and what to do."
  [op on-a-thread]
  (str "Assert failed: " op " used not in (go ...) block\nnil\n"
       op " parks a block, but no go or async block runs here. On a thread, such as a REPL's, use " on-a-thread "."
       " A lazy sequence must be realized in the block: use mapv or doall. [:skein/not-in-block]"))

(deftest on-a-thread-without-a-block-they-are-refused
  (is (= (refusal "<!" "<!!") (message #(<! (a/chan)))))
  (is (= (refusal ">!" ">!!") (message #(>! (a/chan) 1))))
  (is (= (refusal "alts!" "alts!!, or alt!! for alt!") (message #(alts! [(a/chan)]))))
  (is (= (refusal "<?" "<??") (message #(a/<? (a/chan)))))
  (is (= (refusal "<!" "<!!") (await-port (a/io-thread (message #(<! (a/chan)))))))
  (is (= (refusal "<!" "<!!")
         (let [result (promise)]
           (a/take! (later 1) (fn [_] (deliver result (message #(<! (a/chan))))) false)
           @result))
      "nor in a callback")
  (is (= (refusal "<!" "<!!")
         (let [unread (await-port (go (map <! [(later 1)])))]
           (message #(doall unread))))
      "nor in a lazy sequence that leaves its block"))
