;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.json-test
  (:require
   [clojure.java.io :as io]
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! >! chan go]]
   [skein.console.json :as json]
   [skein.inspect :as inspect]
   [skein.kind :refer [kind-of]])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)))

(set! *warn-on-reflection* true)

(defn- with-file
  "Calls `f` with a temporary file of that extension."
  [ending f]
  (let [file (File/createTempFile "skein-console" ending)]
    (try (f (str file)) (finally (io/delete-file file)))))

(defn- both
  "Returns a snapshot as it is read from each kind of dump."
  [snapshot]
  [(with-file ".edn" (fn edn [path] (inspect/dump! {:to path} snapshot) (inspect/read-snapshot path)))
   (with-file ".json" (fn json [path] (inspect/dump! {:to path} snapshot) (json/read-dump path)))])

(deftest json-and-edn-dumps-are-read-as-equal
  (inspect/stop!)
  (inspect/start!)
  (let [c (a/label! (chan 3) "\"\u2028 :orders/x"), t (a/timeout 60000)
        blocks [(go (<! c)) (go (a/alts! [c t])) (go (try (>! (chan) :x) (finally nil)))]]
    (loop [] (when-not (= 3 (count (inspect/blocks {:state :parked}))) (recur)))
    (let [[edn json] (both (inspect/snapshot))]
      (is (= edn json))
      (is (= [:parked :parked :parked] (map :state (:blocks json))))
      (is (some (comp #{'FixedBuffer} :type :buffer) (:channels json))))
    (a/close! c)
    (is (= 3 (count blocks)))
    (inspect/stop!)))

(deftest version-1-dumps-are-read-from-json
  (let [[edn json] (both (inspect/read-snapshot "modules/inspect/test/clojure/skein/inspect/dump-1.edn"))]
    (is (= edn json))))

(deftest other-files-are-refused
  (doseq [text ["" "{" "[]" "5" "{\"skein/snapshot\": 99}" "{\"skein/snapshot\"" "\u0000" (apply str (repeat 200000 \[))]]
    (with-file ".json"
      (fn refuse [path]
        (spit path text)
        (is (= [:skein/file :foreign] (try (json/read-dump path) (catch ExceptionInfo e (kind-of (ex-data e))))) (subs text 0 (min 20 (count text)))))))
  (is (= [:skein/file :missing] (try (json/read-dump "no-such-file.json") (catch ExceptionInfo e (kind-of (ex-data e)))))))
