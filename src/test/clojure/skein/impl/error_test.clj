;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.error-test
  (:require [clojure.test :refer [deftest is]]
            [skein.impl.error :as error])
  (:import (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(deftest fail-names-the-error-in-its-data
  (let [e (try (error/fail! :skein/example "It failed." {:at 3}) (catch ExceptionInfo e e))]
    (is (= ["It failed." {:skein/error :skein/example, :at 3}] [(ex-message e) (ex-data e)]))))

(deftest previews-are-bounded
  (is (= "\"a\"" (error/preview "a")))
  (is (= 80 (count (error/preview (apply str (repeat 1000 "x"))))))
  (is (<= (count (error/preview (range))) 80)))
