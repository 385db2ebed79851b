;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.local-test
  "Folds by tasks on threads of this process: many small ones, and what only one process can see."
  (:require
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.fold :as fold]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.folds :as folds])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(def ^:private gen-xform
  (gen/elements [nil (map inc) (filter odd?) (map folds/bucket) (comp (remove even?) (map folds/bucket)) (mapcat range)
                 (take 5) (comp (map inc) (drop 3)) (distinct) (partition-all 3) (comp (partition-by folds/bucket) (map count))]))

(def ^:private gen-fold
  (gen/elements [fold/count fold/distinct fold/frequencies (fold/into []) (fold/into #{}) (fold/group-by identity fold/count)
                 (fold/fuse {:n fold/count, :first (fold/through (take 1) (fold/into []))}) (fold/top 3 hash)]))

(def ^:private cases
  "Elements, how many partitions, a transducer and a fold."
  (gen/tuple (gen/vector (gen/choose 0 30) 0 60) (gen/elements [1 2 7 64]) gen-xform gen-fold))

(defn- equal-to-local [cluster runs]
  (check/quick-check runs
                     (prop/for-all [[xs n xform f] cases]
                       (let [f (if xform (fold/through xform f) f)]
                         (= (fold/fold f xs) (spark/fold f (spark/parallel {:partitions n} cluster xs)))))
                     :seed 7))

(deftest generated-folds-equal-local-ones
  (let [result (equal-to-local (bed/bed :local) 60)]
    (is (:pass? result) (pr-str (:shrunk result)))))

(deftest a-failing-step-runs-once
  (let [cluster (bed/bed :local)
        before @folds/steps
        f (fold/through (map folds/counted) (folds/fails-at 9 folds/with-data))]
    (is (= "row 9" (ex-message (try (spark/fold f (spark/range* {:partitions 1} cluster 0 10)) (catch ExceptionInfo e e)))))
    (is (= 10 (- (long @folds/steps) (long before))))))
