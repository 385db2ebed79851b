;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.progress-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cli.progress :as progress])
  (:import
   (java.io ByteArrayOutputStream PrintStream)
   (java.util.concurrent CountDownLatch TimeUnit)))

(set! *warn-on-reflection* true)

(deftest the-bar-fills
  (is (= "[                              ]   0 %  0.00 GB  0.00 GB/s" (progress/line 0 1000 1000000)))
  (is (= "[==============================] 100 %  2.50 GB  1.25 GB/s" (progress/line 2500000000 2500000000 2000000000)))
  (is (= "[                              ]   0 %  0.00 GB  0.00 GB/s" (progress/line 0 0 0)))
  (is (= "2.50 GB  1.25 GB/s" (progress/line 2500000000 nil 2000000000)) "without a total there is none"))

(defn- shown
  "Returns what a bar prints until it has asked twice how much is read. Standard error is a terminal if `terminal` is \"true\"."
  [terminal]
  (let [before (System/setProperty "skein.stderr.terminal" terminal)
        out (ByteArrayOutputStream.)
        looks (CountDownLatch. 2)
        bar (progress/bar (PrintStream. out true "UTF-8"))]
    (try
      (progress/start! bar {:total-bytes 100, :bytes-read (fn [] (.countDown looks) 50)})
      (when (= terminal "true") (assert (.await looks 30 TimeUnit/SECONDS)))
      (progress/stop! bar)
      (.toString out "UTF-8")
      (finally (if before (System/setProperty "skein.stderr.terminal" before) (System/clearProperty "skein.stderr.terminal"))))))

(deftest a-bar-is-for-terminals-and-is-wiped-away
  (let [text (shown "true")]
    (is (str/starts-with? text "\r[===============               ]  50 %"))
    (is (str/ends-with? text "\r\u001B[K")))
  (is (= "" (shown "false"))))
