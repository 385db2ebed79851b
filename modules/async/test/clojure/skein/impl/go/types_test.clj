;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.types-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.impl.go.types :as types]
   [skein.impl.infer :as infer]))

(set! *warn-on-reflection* true)

(defn- types-of [blocks syms]
  (update-vals (types/types (types/definitions blocks (range (count blocks))) {'s (infer/tagged 's 'String)} syms)
               (fn shown [lb] (or (infer/primitive-class lb) (infer/class-tag lb)))))

(defn- looping [init next-value]
  [{:params [], :code [['i init]], :exit [:jump 1 ['i]]}
   {:kind :loop, :params ['i], :code [['j '(inc i)]], :exit [:jump 1 [next-value]]}])

(deftest a-local-has-the-type-of-its-form
  (is (= {'x Long/TYPE, 'y Integer/TYPE, 'z 'String}
         (types-of [{:params [], :code [['x 1] ['y '(. s length)] ['z 's]], :exit [:return nil]}] '[x y z]))))

(deftest loops-count-in-long-unless-given-an-object
  (is (= {'i Long/TYPE, 'j Long/TYPE} (types-of (looping 0 '(inc i)) '[i j])))
  (is (= {'i Long/TYPE} (types-of (looping '(int 0) 'j) '[i])))
  (is (= {'i nil, 'j 'java.lang.Number} (types-of (looping 0 '(first s)) '[i j]))))

(deftest branches-must-agree
  (let [meeting (fn meeting [a b]
                  (get (types-of [{:params [], :code [], :exit [:jump 2 [a]]}
                                  {:params [], :code [], :exit [:jump 2 [b]]}
                                  {:kind :join, :params ['v], :code [], :exit [:return 'v]}] '[v]) 'v))]
    (is (= Long/TYPE (meeting 1 2)))
    (is (nil? (meeting 1 2.0)))
    (is (= 'java.lang.String (meeting "x" "y")))
    (is (= 'java.lang.String (meeting nil "y")))
    (is (nil? (meeting "x" :k)))))

(deftest locals-are-found-in-forms
  (is (= '#{a b c} (types/locals-in #{} '(f a [b {:k c}] 'd (fn* ([x] x))) '{a 1 b 1 c 1 d 1}))))
