;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.check-test
  (:require
   [clojure.test :refer [are deftest is]]
   [skein.impl.check :as check]
   [skein.impl.error :as error])
  (:import
   (java.time Duration)
   (java.util ArrayList)
   (java.util.concurrent Semaphore)))

(set! *warn-on-reflection* true)

(defmacro ^:private refusal [form]
  `(try ~form (catch clojure.lang.ExceptionInfo e# [(:skein/error (ex-data e#)) (error/untold (ex-message e#))])))

(deftest valid-arguments-are-returned
  (is (= inc (check/function "f" inc)))
  (is (= :k (check/function "f" :k)))
  (doseq [coll [nil [] () {} "text" (range) (ArrayList.)]]
    (is (identical? coll (check/collection "coll" coll))))
  (is (= 1 (check/whole :n 1 1)))
  (is (= {:n 1} (check/options "f" {:n 1} {:n [pos-int? "a whole number from 1"]})))
  (is (= {} (check/options "f" nil {})))
  (is (= {:n 1} (check/options "f" {:n 1 :m nil} {:n [pos-int? ""] :m [pos-int? ""]})) "nil is as good as not given")
  (is (= {:n 1} (check/leading "f" :n 1 {:n [pos-int? ""]}) (check/leading "f" :n {:n 1} {:n [pos-int? ""]}))))

(deftest refusal-names-argument-expectation-and-value
  (are [expected form] (= expected (refusal form))
    [:skein/bad-argument "f of map must be a function, but is 1."] (check/function "f of map" 1)
    [:skein/bad-argument "coll must be a collection, but is 5."] (check/collection "coll" 5)
    [:skein/bad-argument ":n must be a whole number from 1, but is 1.5."] (check/whole :n 1.5 1)
    [:skein/bad-argument ":n must be a whole number from 1 to 9, but is 10."] (check/whole :n 10 1 9)
    [:skein/bad-argument ":ms must be a number of milliseconds or a java.time.Duration, but is \"1\"."] (check/milliseconds :ms "1")
    [:skein/bad-argument "s must be a semaphore, but is 1."]
    (check/instance "s" 1 Semaphore "a semaphore")))

(deftest times-are-numbers-or-durations
  (is (= [0 0 0 7 7] (map (fn [ms] (check/milliseconds :ms ms)) [-5 -0.5 0 7 7.9])))
  (is (= [0 0 1 2000] (map (fn [d] (check/milliseconds :ms d))
                           [(Duration/ofDays -1) (Duration/ofNanos 999999) (Duration/ofNanos 1999999) (Duration/ofSeconds 2)])))
  (is (pos? (check/milliseconds :ms ##Inf)))
  (is (pos? (check/milliseconds :ms (Duration/ofSeconds Long/MAX_VALUE)))))

(deftest options-are-known-and-fit
  (let [known {:n [pos-int? "a whole number from 1"] :ordered? [boolean? "true or false"]}]
    (are [expected given] (= expected (refusal (check/options "f" given known)))
      [:skein/bad-argument "The options of f must be a map with some of the keys [:n :ordered?], but is 5."] 5
      [:skein/bad-argument "f has no option :order. Its options are [:n :ordered?]."] {:order 1}
      [:skein/bad-argument ":ordered? must be true or false, but is 1."] {:ordered? 1}
      [:skein/bad-argument ":n must be a whole number from 1, but is 0."] {:n 0})
    (are [expected given] (= expected (refusal (check/leading "f" :n given known)))
      [:skein/bad-argument "f has no option :order. Its options are [:n :ordered?]."] {:order 1}
      [:skein/bad-argument "The first argument of f must be a whole number from 1, or a map of options, but is nil."] nil
      [:skein/bad-argument
       "The first argument of f must be a whole number from 1, or a map of options, but is #<function of clojure.core/inc>."] inc)))

(deftest vectors-of-macros-have-their-shape
  (is (= '[x] (check/bindings "m" '[x] "[name]" (fn one? [v] (= 1 (count v))))))
  (are [given] (= [:skein/bad-argument (str "The vector of m must be [name], but is " (pr-str given) ".")]
                  (refusal (check/bindings "m" given "[name]" (fn one? [v] (= 1 (count v))))))
    5 '(x) [] '[x y]))
