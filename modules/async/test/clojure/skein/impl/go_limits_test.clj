;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go-limits-test
  "Large and deep blocks: they compile, or are refused with an error that says why."
  (:require
   [clojure.test :refer [are deftest is]]
   [skein.async :as a :refer [<! <!! >! go]])
  (:import
   (clojure.lang Compiler$CompilerException)))

(set! *warn-on-reflection* true)

(defn- value-of [form]
  (binding [*ns* (the-ns 'skein.impl.go-limits-test)]
    (<!! (eval form))))

(defn- refusal
  "Returns the keyword of the error with which `form` is refused, or another exception or value if it is not."
  [form]
  (try
    (value-of form)
    (catch Compiler$CompilerException e
      (or (:skein/error (ex-data (ex-cause e))) (ex-cause e)))))

(def ^:private n-live 1500)

(deftest many-values-live-across-parks
  (is (= (range n-live)
         (value-of `(let [~'c (a/to-chan! (range ~n-live))] (go [~@(repeat n-live '(<! c))])))))
  (is (= n-live
         (count (value-of `(let [~'c (a/chan 1)] (go [~@(repeat n-live '(do (>! c 1) (<! c)))])))))))

(deftest too-many-live-values-are-refused
  (is (= :skein/block-too-large
         (refusal `(let [~'c (a/chan 1)] (go [~@(repeat 3600 '(<! c))]))))))

;; The JVM refuses a method of more than 65535 bytes, in words that say nothing about the block.
(deftest blocks-near-the-limit-are-compiled-or-refused
  (are [n body] (contains? #{:compiled :skein/block-too-large}
                           (refusal `(let [~'c nil] (fn [] (go ~body)) :compiled)))
    1900 (vec (repeat 1900 '(<! c)))
    1600 (zipmap (range 1600) (repeat '(<! c)))
    1500 (let [names (repeatedly 1500 (partial gensym "n"))]
           `(let [~@(interleave names (repeat '(<! c)))]
              ~@(map (fn call [x] (list `list x 1)) names)))))

(defn- nested [n wrap]
  (list `go (nth (iterate wrap '(<! (go 1))) n)))

(deftest deep-blocks-are-compiled-or-refused
  (are [wrap] (and (= 1 (value-of (nested 150 wrap)))
                   (every? #{1 :skein/block-too-large} (map (fn depth [n] (refusal (nested n wrap))) [400 600]))
                   (= :skein/block-too-large (refusal (nested 2000 wrap))))
    (fn in-let [x] (list 'let ['a x] 'a))
    (fn in-if [x] (list 'if true x 2))
    (fn in-call [x] (list 'identity x))
    (fn in-do [x] (list 'do x))))

(deftest deep-macros-are-compiled-or-refused
  (doseq [[n wrap] [[120 (fn [x] (list `if-let ['a 1] x 2))] [200 (fn [x] (list `case 1 1 x 2))]]]
    (is (contains? #{1 :skein/block-too-large} (refusal (nested n wrap))))))

(defn- logged
  "Returns [value arguments]: the value of `literal`, which `wrap` surrounds, and the arguments with which it calls the function `n`, in
  order."
  [wrap literal]
  (let [log (atom [])]
    (binding [*ns* (the-ns 'skein.impl.go-limits-test)]
      [((eval (list 'fn '[log] (wrap (list 'let '[n (fn [i] (swap! log conj i) i)] literal)))) log)
       @log])))

(deftest literals-are-evaluated-in-clojures-order
  (doseq [literal [(set (map (fn [i] (list 'n i)) (range 12)))
                   (into {} (map (fn [i] [(list 'n i) (list 'n (+ 100 (long i)))])) (range 12))
                   '{(n 1) 1, (n 2) (n 3)}
                   '#{[[1 (n 1)] (n 2)] (n 3) 4}]]
    (is (= (logged identity literal)
           (logged (fn in-block [form] (list `<!! (list `go form))) literal)
           (logged (fn after-park [form] (list `<!! (list `go '(<! (go 1)) form))) literal)))))
