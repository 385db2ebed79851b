;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.infer-test
  (:require
   [clojure.test :refer [are deftest is]]
   [skein.impl.infer :as infer]))

(set! *warn-on-reflection* true)

(defn- type-of [form]
  (let [known {'n (infer/primitive 'n Long/TYPE), 's (infer/tagged 's 'String), 'o (infer/tagged 'o nil)}
        lb (infer/local 'x form known)]
    (or (infer/primitive-class lb) (infer/class-tag lb))))

(deftest inferred-types-agree-with-the-compiler
  (are [t form] (= t (type-of form))
    Long/TYPE 1
    Double/TYPE 1.5
    'java.lang.String "x"
    Long/TYPE 'n
    'String 's
    nil 'o
    nil nil
    Long/TYPE '(+ n 1)
    'java.lang.Number '(+ o 1)
    Integer/TYPE '(. s length)
    Integer/TYPE '(int n)
    Boolean/TYPE '(. s isEmpty)
    'java.util.Date '(new java.util.Date n)
    Long/TYPE '(if o 1 2)
    nil '(if o 1 "x")
    Long/TYPE '(do o 1)
    Long/TYPE '(let* [y o] (+ n 1))
    'clojure.lang.AFunction '(fn* ([y] y))
    'java.lang.Runnable '(reify* [java.lang.Runnable] (run [_]))
    nil '(loop* [i 0] i)
    nil '(try 1)
    nil '(no-such-function 1)
    'clojure.lang.IPersistentVector '[n o]))

(deftest hints-win
  (is (= 'String (infer/class-tag (infer/local (with-meta 'x {:tag 'String}) 'o {'o (infer/tagged 'o nil)}))))
  (is (= Long/TYPE (infer/primitive-class (infer/parameter (with-meta 'x {:tag 'long})))))
  (is (= 'longs (infer/class-tag (infer/parameter (with-meta 'x {:tag 'longs}))))))
