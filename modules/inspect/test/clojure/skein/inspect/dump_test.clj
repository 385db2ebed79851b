;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.dump-test
  "Snapshots as text."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.inspect.dump :as dump])
  (:import
   (java.io StringWriter)))

(set! *warn-on-reflection* true)

(defn- first-line [n-blocks n-threads n-collected]
  (let [out (StringWriter.)]
    (dump/write {:at-ms 0
                 :blocks (repeat n-blocks {:id 1 :state :parked})
                 :threads (repeat n-threads {:name "main" :tid 1})
                 :collected {:count n-collected}}
                out :text)
    (re-find #".*, at " (str out))))

(deftest nouns-and-verbs-agree-with-counts
  (is (= "1 block, 1 thread waits, 1 block collected, at " (first-line 1 1 1)))
  (is (= "2 blocks, 0 threads wait, 2 blocks collected, at " (first-line 2 0 2))))
