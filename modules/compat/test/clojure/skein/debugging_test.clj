;; SPDX-License-Identifier: Apache-2.0
(ns skein.debugging-test
  "The example of that name prints the text at its foot."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.fresh-jvm :as fresh-jvm]))

(set! *warn-on-reflection* true)

(defn- constant
  "Text with what differs from run to run made the same: times, numbers of calls, frames of the
  JDK and of Clojure."
  [text]
  (let [first-id (parse-long (or (second (re-find #"#(\d+)" text)) "0"))]
    (-> text
        (str/replace #"\d\d:\d\d:\d\d\.\d{3}" "hh:mm:ss.SSS")
        (str/replace #"#(\d+)" (fn from-one [[_ id]] (str "#" (- (long (parse-long id)) (long first-id) -1))))
        (str/replace #"\d+\.\d(µs|ms|s)\b" "1.0µs")
        (str/replace #"/eval\d+ " "/eval ")
        (str/replace #"(?m)^\t(java|clojure\.lang)\..*\n" "")
        str/trim)))

;; In a JVM of its own no exception has been thrown so often that the JVM leaves out its message.
(deftest the-example-prints-the-text-at-its-foot
  (let [foot (-> (slurp "examples/debugging.clj") (str/split #";;;; Output\r?\n") second (str/replace #"(?m)^;; ?" ""))]
    (is (= (str/split-lines (constant foot)) (str/split-lines (constant (fresh-jvm/output [] ["examples/debugging.clj"])))))))
