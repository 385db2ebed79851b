;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.check-test
  (:require [clojure.test :refer [are deftest is]]
            [skein.virtual.check :as check]))

(set! *warn-on-reflection* true)

(defn- refusal [f x]
  (try (f x) nil (catch clojure.lang.ExceptionInfo e (ex-data e))))

(deftest what-is-right-is-returned
  (is (= inc (check/function inc)))
  (doseq [coll [[] () {} "text" (range) (java.util.ArrayList.)]]
    (is (true? (identical? coll (check/collection coll)))))
  (is (= 1 (check/window 1))))

(deftest what-is-wrong-is-told
  (is (= {:skein/error :skein/not-a-function :value "1"} (refusal check/function 1)))
  (is (= {:skein/error :skein/bad-collection :value "nil"} (refusal check/collection nil)))
  (is (= {:skein/error :skein/bad-collection :value "1"} (refusal check/collection 1)))
  (is (= {:skein/error :skein/bad-semaphore :value "1"}
         (refusal check/semaphore 1)))
  (is (= {:skein/error :skein/bad-executor :value "nil"} (refusal check/executor nil)))
  (are [n] (= {:skein/error :skein/bad-number :option :n :value n} (refusal check/window n)) 0 -1 nil 1.5 :n 3000000000))
