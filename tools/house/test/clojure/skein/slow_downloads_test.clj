;; SPDX-License-Identifier: Apache-2.0
(ns skein.slow-downloads-test
  "The example of that name, small."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]]))

(set! *warn-on-reflection* true)

(defn- run
  "Returns the rows of the example's table with the given number of connections at once."
  [max-connections]
  (let [setup {:file-bytes 4000 :bytes-per-s 1000000 :max-connections max-connections :few 10 :many 60 :window 8}]
    (within-deadline
      (binding [*command-line-args* [(pr-str setup)] *out* (java.io.StringWriter.)]
        (load-file "examples/slow_downloads.clj")))))

(deftest every-contestant-gets-all-files
  (is (= (concat (repeat 5 [10 0]) (repeat 6 [60 0]))
         (map (juxt :files :resets) (run 60)))))

(deftest a-window-keeps-connections-from-being-reset
  (is (= #{"v/map, all at once"}
         (into #{"v/map, all at once"} (comp (filter #(pos? (long (:resets %)))) (map :what)) (run 10)))
      "at most, since it takes luck to be reset"))

(deftest a-server-that-is-full-resets-connections
  (is (every? #(= (:files %) (:resets %)) (run 0))))
