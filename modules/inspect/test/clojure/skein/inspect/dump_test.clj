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

(deftest surest-findings-come-first
  (let [out (StringWriter.)
        block (fn block [id c holds] {:id id :state :parked :since-ms 9000 :waits [{:op :take :channel c :place 1}] :holds holds})]
    (dump/write {:at-ms 0 :collected {:count 0}
                 :blocks [(block 1 3 [4]) (block 2 4 [3])]
                 :channels [{:id 3 :kind :chan :takes [{:block 1}] :puts []} {:id 4 :kind :chan :takes [{:block 2}] :puts []}]
                 :failures [{:at-ms 0 :thread "main" :exception "java.lang.Error"}]}
                out :text)
    (is (= ["ERROR" "SUSPECTED"] (map second (re-seq #"(?m)^([A-Z]+)  " (str out)))))))

(deftest scopes-are-listed
  (let [out (StringWriter.)]
    (dump/write {:at-ms 0 :collected {:count 0}
                 :scopes [{:id 3 :body {:thread "main" :tid 1} :children [{:block 5} {:thread "skein-virtual" :tid 31} {:begun? false}] :remaining-ms 2000}
                          {:id 4 :parent 3 :body {:block 5} :children [] :cancelled-ms 100}]}
                out :text)
    (is (= ["scope-3 of thread main, has children: go-5, thread skein-virtual-31, and 1 that have not begun, ends in 2.0 s"
            "scope-4 of go-5, in scope-3, has no children, was cancelled 0.1 s ago"]
           (re-seq #"scope-\d of.*" (str out))))))

(deftest nouns-and-verbs-agree-with-counts
  (is (= "1 block, 1 thread waits, 1 block collected, at " (first-line 1 1 1)))
  (is (= "2 blocks, 0 threads wait, 2 blocks collected, at " (first-line 2 0 2))))
