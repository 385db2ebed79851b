;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.broken-there
  "A namespace that executors can't load, for the tests."
  (:import
   (org.apache.spark SparkEnv)))

(set! *warn-on-reflection* true)

(when-not (contains? #{nil "driver"} (some-> (SparkEnv/get) .executorId))
  (throw (ex-info "broken on purpose" {})))

(defn same [n] n)
