;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold-arguments-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.fold :as fold]
   [skein.fold.source :as source])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(defn- data-of [f] (try (f) nil (catch ExceptionInfo e (dissoc (ex-data e) :wanted))))
(defn- errors-of [& fs] (distinct (map #(:skein/error (data-of %)) fs)))

(deftest a-wrong-call-names-the-right-one
  (let [message (fn [f] (try (f) "" (catch ExceptionInfo e (ex-message e))))]
    (is (str/includes? (message #(fold/fold fold/top [1 2])) "such as sum or (top 2)"))
    (is (str/includes? (message #(fold/fold (map inc) + [1 2])) "(fold (through (map inc) sum) coll)"))
    (is (str/includes? (message #(fold/fold fold/sum [1 2] {:workers 2})) "(fold options f coll)"))))

(deftest parts-of-folds-are-checked-at-construction
  (testing "numbers"
    (is (= {:skein/error :skein/bad-argument, :argument "n of top", :value "-1"} (data-of #(fold/top -1))))
    (is (= [:skein/bad-argument]
           (errors-of #(fold/top nil) #(fold/top 1.5) #(fold/top 5000000000) #(fold/top "3" identity)
                      #(fold/histogram [10 0]) #(fold/histogram [0 0]) #(fold/histogram [0 ##NaN]) #(fold/histogram [:a])
                      #(fold/histogram 5) #(fold/quantiles 0.5) #(fold/quantiles [0 1.5]) #(fold/quantiles [-0.1])
                      #(fold/quantiles [##NaN]) #(fold/quantiles [:median])
                      #(source/indexed -1 identity) #(source/indexed nil identity) #(source/indexed 2.0 identity)
                      #(source/indexed 5000000000 identity)))))
  (testing "functions"
    (is (= [:skein/bad-argument]
           (errors-of #(fold/top 1 nil) #(fold/finish nil fold/sum) #(fold/group-by nil fold/sum) #(fold/group-by 5 fold/sum)
                      #(source/indexed 3 nil) #(source/reading nil)))))
  (testing "transducers"
    (is (= [:skein/bad-argument] (errors-of #(fold/through 5 fold/sum) #(fold/through [] (fold/through (map inc) fold/sum))))))
  (testing "folds"
    (is (= [:skein/bad-argument]
           (errors-of #(fold/fuse nil) #(fold/fuse 7) #(fold/fuse fold/sum) #(fold/fuse fold/mean) #(fold/fuse #{fold/sum})
                      #(fold/fuse [fold/sum nil]) #(fold/fuse {:a 7}) #(fold/finish str 5) #(fold/through (map inc) :sum) #(fold/group-by odd? 5)))))
  (testing "collections"
    (is (= [:skein/bad-argument] (errors-of #(fold/into 5) #(fold/into "text") #(fold/into (object-array 1)))))))

(deftest unusual-but-valid-arguments-are-accepted
  (is (= [[] {}] (fold/fold (fold/fuse [(fold/fuse []) (fold/fuse {})]) [1 2])))
  (is (= {:step 2, :combine 3} (fold/fold (fold/fuse {:step fold/count, :combine fold/sum}) [1 2])))
  (is (= [[2] {} []] (fold/fold (fold/fuse [(fold/histogram nil) (fold/quantiles nil) (fold/top 0)]) [1 2])))
  (is (= [0 2 0] (fold/fold (fold/histogram (double-array [##-Inf ##Inf])) [1 2])))
  (is (= '(2 1) (fold/fold (fold/into nil) [1 2])))
  (is (= [2 3] (fold/fold (fold/through nil (fold/through (map inc) (fold/through nil (fold/into [])))) [1 2])))
  (is (= [{:n 2} {:n 1}] (fold/fold (fold/top 2 :n) [{:n 0} {:n 1} {:n 2}]))))
