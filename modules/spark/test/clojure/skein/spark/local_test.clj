;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.local-test
  "Folds by tasks on threads of this process: many small ones, and what only one process can see."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [clojure.walk :as walk]
   [skein.fold :as fold]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.cluster :as cluster]
   [skein.spark.folds :as folds]
   [skein.spark.source :as source])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)
   (java.util List)
   (org.apache.spark.api.java JavaSparkContext)))

(set! *warn-on-reflection* true)

;;;; Equal to a local fold

(def all-folds
  "Name -> fold of numbers, whose parts don't need order."
  {:count fold/count, :sum fold/sum, :min fold/min, :max fold/max, :mean fold/mean, :variance fold/variance
   :frequencies (fold/through (map folds/bucket) fold/frequencies), :distinct (fold/through (map folds/bucket) fold/distinct)
   :into (fold/into []), :top (fold/top 3), :histogram (fold/histogram [10 50]), :quantiles (fold/quantiles [0.5 0.9])
   :group-by (fold/group-by folds/bucket fold/sum)})

(def ^:private number-lines
  (delay (doto (File/createTempFile "numbers" ".txt") .deleteOnExit (spit (str/join "\n" (range 100))))))

(defn- sources
  "Returns name -> source of the numbers below 100 in `n` partitions."
  [cluster n]
  (let [split {:split-bytes (max 1 (quot (.length ^File @number-lines) (long n)))}]
    {:range (spark/range {:partitions n} cluster 0 100)
     :parallelize (spark/parallelize {:partitions n} cluster (range 100))
     :of-each (spark/of-each cluster (source/cuts 0 100 n) `folds/between)
     :rows (spark/rows cluster (.parallelize (JavaSparkContext. (cluster/context cluster)) ^List (vec (range 100)) (int n)))
     :lines (eduction (map parse-long) (spark/lines split cluster (str @number-lines)))
     :slices (eduction (mapcat folds/numbers-in) (spark/slices split cluster (str @number-lines)))}))

(defn- rounded "Doubles depend on where the parts meet, in their last digits." [x]
  (walk/postwalk #(if (float? %) (Math/round (* 1e6 (double %))) %) x))

(defn folds-equal-local-ones
  "Asserts for each of `fs`, name -> fold, that it has the same value for each source, in few and many partitions."
  [fs]
  (doseq [n [1 2 7 64], [from far] (sources (bed/bed :local) n), [k f] fs]
    (testing (str k " of " from " in " n)
      (is (= (rounded (fold/fold f (range 100))) (rounded (fold/fold f far)))))))

(deftest folds-of-each-source-equal-local-ones
  (folds-equal-local-ones {:all (fold/fuse all-folds)}))

(def ^:private gen-xform
  (gen/elements [nil (map inc) (filter odd?) (map folds/bucket) (comp (remove even?) (map folds/bucket)) (mapcat range)
                 (take 5) (comp (map inc) (drop 3)) (distinct) (partition-all 3) (comp (partition-by folds/bucket) (map count))]))

(def ^:private gen-fold
  (gen/elements [fold/count fold/distinct fold/frequencies (fold/into []) (fold/into #{}) (fold/group-by identity fold/count)
                 (fold/fuse {:n fold/count, :first (fold/through (take 1) (fold/into []))}) (fold/top 3 hash)]))

(def ^:private cases
  "Elements, how many partitions, a transducer and a fold."
  (gen/tuple (gen/vector (gen/choose 0 30) 0 60) (gen/elements [1 2 7 64]) gen-xform gen-fold))

(defn equal-to-local
  "Returns the result of `runs` generated cases."
  [cluster runs]
  (check/quick-check runs
                     (prop/for-all [[xs n xform f] cases]
                       (let [f (if xform (fold/through xform f) f)]
                         (= (fold/fold f xs) (fold/fold f (spark/parallelize {:partitions n} cluster xs)))))
                     :seed 7))

(deftest generated-folds-equal-local-ones
  (let [result (equal-to-local (bed/bed :local) 60)]
    (is (:pass? result) (pr-str (:shrunk result)))))

(deftest nothing-is-shipped-to-this-process
  (is (= [] (cluster/jars-of (bed/bed :local)))))

(deftest a-failing-step-runs-once
  (let [cluster (bed/bed :local)
        before @folds/steps
        f (fold/through (map folds/counted) (folds/fails-at 9 folds/with-data))]
    (is (= "row 9" (ex-message (try (fold/fold f (spark/range {:partitions 1} cluster 0 10)) (catch ExceptionInfo e e)))))
    (is (= 10 (- (long @folds/steps) (long before))))))

(defn in-order-with-delays
  "Asserts that `runs` folds of functions that are only associative are equal, whatever the order in which their tasks end."
  [runs]
  (let [joined (fold/through (map folds/text-of) {:step folds/mixed, :combine folds/mixed})
        product (fold/through (map folds/matrix) {:step folds/times, :combine folds/times})
        f (fold/fuse [(fold/into []) joined product])
        expected (fold/fold f (range 1000))
        far (spark/range {:partitions 40} (bed/bed :local) 0 1000)]
    (dotimes [_ runs]
      (is (= expected (fold/fold (fold/through (map folds/delayed) f) far))))))

(deftest tasks-that-end-in-any-order-are-combined-in-theirs
  (in-order-with-delays 3))

;;;; Stopping

(deftest few-partitions-begin-behind-one-that-has-enough
  (let [cluster (bed/bed :local)]
    (doseq [k [0 5 40]
            :let [before @folds/steps]]
      (is (= (vec (range (inc k))) (fold/fold {:timeout-ms 60000} (spark/named `folds/stops-at k) (spark/range {:partitions 100} cluster 0 100))))
      (is (bed/idle?))
      ;; One element each. The tasks behind the k-th hang, on each of the two cores.
      (is (>= (+ k 1 2) (- (long @folds/steps) (long before)))))))

(def ^:private ways-to-cancel
  "Name -> function that calls `fold` with options on another thread, and cancels it once `begun`. Returns how it ended."
  {:timeout (fn [fold _] (try (fold {:timeout-ms 300}) (catch ExceptionInfo e (:skein/error (ex-data e)))))
   :interrupt (fn [fold begun]
                (let [outcome (promise)
                      caller (doto (Thread. (fn [] (deliver outcome (try (fold {}) (catch InterruptedException _ :interrupted))))) .start)]
                  (deref begun 60000 :late)
                  (.interrupt caller)
                  (deref outcome 60000 :late)))
   :future-cancel (fn [fold begun]
                    (let [caller (future (fold {}))]
                      (deref begun 60000 :late)
                      (future-cancel caller)))})

(deftest no-task-runs-after-its-fold-was-cancelled
  (let [cluster (bed/bed :local)]
    (doseq [[what f far] [[:waits (fold/through (map folds/hanging) fold/count) (spark/range {:partitions 8} cluster 0 8)]
                          [:computes (fold/through (map folds/counted) fold/sum) (spark/range {:partitions 8} cluster 0 1000000000000)]]
            [way cancel] ways-to-cancel]
      (testing (str what " " way)
        (let [begun (promise)]
          (add-watch folds/steps ::begun (fn [& _] (deliver begun true)))
          (is (#{:skein/timeout :interrupted true} (cancel #(fold/fold % f far) begun)))
          (remove-watch folds/steps ::begun)
          (is (bed/idle?)))))
    (is (= 45 (fold/fold fold/sum (spark/range cluster 0 10))))))
