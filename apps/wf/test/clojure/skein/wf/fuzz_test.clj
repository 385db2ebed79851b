;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.fuzz-test
  "A few rounds of the fuzzer; `./skein fuzz` does more."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.wf.fuzz :as fuzz])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(deftest broken-logs-count-as-in-the-models
  (let [file (File/createTempFile "skein-fuzz" ".log")]
    (try
      (doseq [seed (conj (range 60) 84142276)]  ; which made bzip2's unpacker throw
        (is (nil? (fuzz/round seed file)) (str "seed " seed)))
      (finally (.delete file)))))
