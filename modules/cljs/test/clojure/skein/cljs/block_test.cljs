;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.block-test
  "The compiler of blocks: each form that parks has the value that it has without parks, whether
  values are ready or late."
  (:require-macros
   [skein.cljs.testing :refer [defblock repeated]])
  (:require
   [cljs.test :refer-macros [deftest is async]]
   [skein.async :as a :refer [<! alts! chan go]]))

(defn- ready [x]
  (doto (chan 1) (a/put! x)))

(defn- late [x]
  (let [c (chan 1)]
    (js/setTimeout (fn [] (a/put! c x)) (rand-int 3))
    c))

(def ^:private f3 (fn [& xs] (vec xs)))

(def ^:private checks (atom []))

(defn- check [name expected port]
  (swap! checks conj [name expected port]))

(defn- start-all
  "Starts each check with ports made by `p`."
  [p]
  (check "let" 3 (go (let [a (<! (p 1)) b (<! (p 2))] (+ a b))))
  (check "nested let in argument" [1 5 9] (go (f3 1 (let [x (<! (p 2)) y (<! (p 3))] (+ x y)) 9)))
  (check "unknown function" [1 2 3] (go (let [f (if (<! (p true)) f3 nil)] (f (<! (p 1)) (<! (p 2)) 3))))
  (check "function from park" 6 (go ((<! (p inc)) (<! (p 5)))))
  (check "order" [[:a :b 7 :c] [:a :b :c]]
         (let [log (atom []) note (fn [x] (swap! log conj x) x)]
           (go (let [x (f3 (note :a) (note :b) (let [q (<! (p 7))] q) (note :c))] [x @log]))))
  (check "if in argument" [1 :no] (go (f3 1 (if (<! (p false)) (<! (p :yes)) (<! (p :no))))))
  (check "if with let in branch" [1 3] (go (f3 1 (if (<! (p true)) (let [z (<! (p 2))] (inc z)) 0))))
  (check "and or" [3 nil 1 2] (go [(and (<! (p 1)) (<! (p 3))) (and (<! (p 1)) nil (<! (p 3))) (or (<! (p 1)) (<! (p 3))) (or nil (<! (p 2)))]))
  (check "loop in let" 10 (go (let [s (loop [i 0 s 0] (if (< i 5) (recur (inc i) (+ s i (- (<! (p 0))))) s))] s)))
  (check "loop in argument" [10 1] (go (f3 (loop [i 0 s 0] (if (< i 5) (recur (inc i) (+ s (<! (p i)))) s)) 1)))
  (check "loop init parks" 11 (go (loop [a (<! (p 1)) b (let [q (<! (p 10))] q)] (+ a b))))
  (check "nested loops" 60 (go (loop [i 0 s 0] (if (< i 4) (recur (inc i) (loop [j 0 s s] (if (< j 5) (recur (inc j) (+ s (<! (p 3)))) s))) s))))
  (check "case" [:one :two :none] (go (loop [xs [1 2 3] out []] (if-let [[x & more] (seq xs)] (recur more (conj out (case (long x) 1 (<! (p :one)) 2 (do (<! (p 0)) :two) :none))) out))))
  (check "case kw" 43 (go (case (<! (p :bar)) :foo (<! (p 42)) :bar (<! (p 43)) 0)))
  (check "recur from case" 42 (go (loop [x 0] (case (int x) 0 (do (<! (p 1)) (recur (inc x))) 1 (recur (inc x)) 2 (<! (p 42)) nil))))
  (check "try catch" [:caught "no"] (go (try (<! (p 1)) (throw (js/Error. "no")) (catch js/Error e [(<! (p :caught)) (.-message e)]))))
  (check "try value in let" 5 (go (let [x (try (<! (p 5)) (catch :default e 0))] x)))
  (check "try in argument" [5 :f] (let [a (atom [])] (go (f3 (try (<! (p 5)) (finally (swap! a conj (<! (p :f))))) (first @a)))))
  (check "finally runs" [[1 2 :out] [:in :f1 :f2]]
         (let [log (atom [])]
           (go (let [x (try (try (swap! log conj :in) (let [q (<! (p 1))] [q (<! (p 2)) :out])
                                 (finally (<! (p 0)) (swap! log conj :f1)))
                            (finally (swap! log conj :f2) (<! (p 9))))]
                 [x @log]))))
  (check "throw through two" [:x [:f1 :c1 :f2]]
         (let [log (atom [])]
           (go (try (try (try (<! (p 1)) (throw :x)
                              (finally (swap! log conj :f1) (<! (p 2))))
                         (catch :default e (swap! log conj :c1) (throw (<! (p e))))
                         (finally (<! (p 3)) (swap! log conj :f2)))
                    (catch :default e [e @log])))))
  (check "closures in loop" [0 1 2 3 4] (go (let [fs (loop [i 0 fs []] (if (< i 5) (let [x (<! (p i))] (recur (inc i) (conj fs (fn [] x)))) fs))] (mapv (fn [f] (f)) fs))))
  (check "closures over loop locals" [0 1 2] (go (let [fs (loop [i 0 fs []] (if (< i 3) (do (<! (p i)) (recur (inc i) (conj fs (fn [] i)))) fs))] (mapv (fn [f] (f)) fs))))
  (check "literals" [[1 2] {:a 1 :b [2]} #{3}] (go [[(<! (p 1)) (<! (p 2))] {:a (<! (p 1)) :b [(let [x (<! (p 2))] x)]} #{(<! (p 3))}]))
  (check "js literal" [1 2 5] (go (let [k 5 a #js [(<! (p 1)) (let [y (<! (p 2))] y) k] o #js {:foo (<! (p 5))}] [(aget a 0) (aget a 1) (.-foo o)])))
  (check "dot" "AB" (go (.toUpperCase (str (<! (p "a")) (let [x (<! (p "b"))] x)))))
  (check "set!" 7 (let [o #js {}] (go (set! (.-foo o) (let [x (<! (p 7))] x)) (.-foo o))))
  (check "new" 12 (go (.-length (js/Array. (<! (p 12))))))
  (check "destructuring" [1 2 [3]] (go (let [[a {:keys [b]} & c] [(<! (p 1)) {:b (<! (p 2))} (<! (p 3))]] [a b c])))
  (check "doseq" 6 (go (let [s (volatile! 0)] (doseq [x [1 2 3]] (vswap! s + (<! (p x)))) @s)))
  (check "dotimes, when" 3 (go (let [s (volatile! 0)] (dotimes [i 3] (when (<! (p true)) (vswap! s inc))) @s)))
  (check "cond" :b (go (cond (<! (p false)) :a (let [x (<! (p 1))] (= x 1)) :b :else :c)))
  (check "letfn" 8 (go (letfn [(g [x] (h x)) (h [x] (* 2 x))] (g (<! (p 4))))))
  (check "shadowing" [1 2 1] (go (let [x 1] [x (let [x (<! (p 2))] x) x])))
  (check "nested go" 3 (go (let [x (<! (go (inc (<! (p 1)))))] (inc x))))
  (check "nested go in fn" [1 2 3] (go (let [cs (mapv (fn [i] (go (inc (<! (p i))))) [0 1 2])] (loop [[c & more] cs out []] (if c (recur more (conj out (<! c))) out)))))
  (check "alts" [:a true] (go (let [c (p :a) d (chan)] (let [[x q] (alts! [c d])] [x (= q c)]))))
  (check "tail loop without parks" 10 (go (<! (p 1)) (loop [i 0 s 0] (if (< i 5) (recur (inc i) (+ s i)) s))))
  (check "nil" nil (go (<! (p 1)) nil))
  (check "empty" nil (go))
  (check "->" 4 (go (-> (p 1) <! inc inc inc)))
  (check "let over arithmetic" 15 (go (+ 1 2 (let [a (<! (p 3)) b (<! (p 4))] (+ a b 5)))))
  (check "throw in expression" :c (go (try (inc (if (<! (p true)) (throw :c) 1)) (catch :default e e)))))

(deftest forms-that-park-have-their-plain-value
  (async done
    (run! start-all [ready late])
    (go (doseq [[name expected port] @checks]
          (is (= expected (<! port)) name))
        (done))))

;;;; Locals around a block

(deftype Account [rate ^:mutable balance]
  Object
  (add [this port] (go (set! balance (+ balance (* rate (<! port)))) [balance (identical? this (<! (ready this)))]))
  (addInside [_ port] (go (<! (go (let [x (<! port)] (set! balance (+ balance x)) balance)))))
  (addLater [_ port] (let [add (fn [x] (set! balance (+ balance x)))] (go (add (<! port)) (<! (late 0)) balance))))

(defblock a-block-reads-and-sets-the-fields-of-its-object
  (let [account (Account. 2 10)]
    (is (= [16 true] (<! (.add account (late 3)))))
    (is (= [18 true] (<! (.add account (ready 1)))))
    (is (= 19 (<! (.addInside account (late 1)))))
    (is (= 20 (<! (.addLater account (late 1)))))
    (is (= 20 (.-balance account)))))

(defrecord Pair [a b]
  IFn
  (-invoke [_ port] (go [(<! port) a b])))

(defblock a-block-sees-the-fields-of-a-record
  (is (= [0 1 2] (<! ((->Pair 1 2) (late 0))))))

(defblock locals-may-have-names-that-javascript-reserves
  (let [new 1 default 2 arguments 3 yield 4 await 5 class 6 self 7 frame 8 this 9]
    (is (= [0 1 2 3 4 5 6 7 8 9] (<! (go [(<! (late 0)) new default arguments yield await class self frame this]))))
    (is (= [4 5] (<! (go (let [yield (<! (late 4)) await (<! (ready 5))] (<! (late 0)) [yield await])))))))

(defblock a-function-starts-itself-in-a-block
  (let [sum (fn sum [n] (go (if (pos? n) (+ n (<! (sum (dec n)))) (<! (late 0)))))]
    (is (= 6 (<! (sum 3))))))

(defblock blocks-started-in-a-loop-have-the-locals-of-their-turn
  (let [blocks (loop [i 0 blocks []] (if (< i 3) (recur (inc i) (conj blocks (go (<! (late 0)) i))) blocks))]
    (is (= [0 1 2] (<! (a/map vector blocks))))))

(def ^:dynamic *depth* 0)

(defblock a-var-is-bound-until-the-body-of-binding-ends
  (is (= [1 0] (<! (go [(binding [*depth* 1] (<! (ready 0)) *depth*) *depth*])))))

;;;; Large blocks

(defblock two-thousand-parks-in-a-row-run
  (let [c (a/to-chan! (range 2000))
        last-value (repeated 2000 (<! c))]
    (is (= 1999 last-value))))
