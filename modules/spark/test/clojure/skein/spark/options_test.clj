;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.options-test
  "Bad options that public functions refuse, and the place of the options; see doc/decisions/options.md."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.fold :as fold]
   [skein.spark :as spark]
   [skein.spark.bed :as bed])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(def ^:private calls
  "Var -> function of an options map and a cluster that calls it with nothing else to refuse."
  {#'spark/connect (fn [opts _] (spark/connect opts "local[1]"))
   #'spark/lines (fn [opts cluster] (spark/lines opts cluster "LICENSE"))
   #'spark/slices (fn [opts cluster] (spark/slices opts cluster "LICENSE"))
   #'spark/range (fn [opts cluster] (spark/range opts cluster 0 10))
   #'spark/parallelize (fn [opts cluster] (spark/parallelize opts cluster [1 2]))
   #'fold/fold (fn [opts cluster] (fold/fold opts fold/count (spark/range cluster 0 10)))
   #'fold/explain (fn [opts cluster] (fold/explain opts fold/count (spark/range cluster 0 10)))})

(defn- refusal [call opts cluster]
  (try (call opts cluster) nil (catch ExceptionInfo e e)))

(deftest every-function-with-options-is-in-the-table
  (is (= (disj (set (keys calls)) #'fold/fold #'fold/explain)
         (set (for [[_ v] (ns-publics 'skein.spark) :when (some #{'options} (flatten (:arglists (meta v))))] v)))))

(deftest unknown-options-are-refused-and-the-known-ones-listed
  (let [cluster (bed/bed :local)]
    (doseq [[v call] calls, opts [{:no-such-option 1} 7]
            :let [e (refusal call opts cluster)]]
      (testing (str v " " opts)
        (is (= :skein/bad-argument (:skein/error (ex-data e))))
        (is (re-find #"\[:\w" (str (ex-message e))))))))

(deftest options-that-are-nil-are-not-given
  (let [cluster (bed/bed :local)]
    (is (= 10 (fold/fold {:timeout-ms nil, :order nil} fold/count (spark/range {:partitions nil} cluster 0 10))))
    (is (= [1 2] (fold/fold (fold/into []) (spark/parallelize {:partitions nil} cluster [1 2]))))
    (is (pos? (long (fold/fold fold/count (spark/lines {:charset nil, :split-bytes nil} cluster "LICENSE")))))))

(deftest values-that-do-not-fit-are-refused
  (let [cluster (bed/bed :local)
        error (fn [f] (:skein/error (ex-data (try (f) (catch ExceptionInfo e e)))))]
    (is (= :skein/bad-argument (error #(spark/range {:partitions 0} cluster 0 10))))
    (is (= :skein/bad-argument (error #(spark/range cluster 0 "10"))))
    (is (= :skein/bad-argument (error #(spark/range cluster 0.5 10))))
    (is (= :skein/bad-argument (error #(spark/parallelize {:partitions :many} cluster [1]))))
    (is (= :skein/bad-argument (error #(spark/lines {:split-bytes 0} cluster "LICENSE"))))
    (is (= :skein/bad-argument (error #(fold/fold {:timeout-ms "1"} fold/count (spark/range cluster 0 10)))))
    (is (= :skein/bad-argument (error #(spark/connect {:conf []} "local[1]"))))))

(deftest a-time-limit-of-0-or-below-ends-at-once
  (let [cluster (bed/bed :local)]
    (doseq [ms [0 -1 -1.5 Long/MIN_VALUE]
            :let [e (refusal (fn [opts cluster] (fold/fold opts fold/count (spark/range cluster 0 10))) {:timeout-ms ms} cluster)]]
      (is (= :skein/timeout (:skein/error (ex-data e))))
      (is (str/includes? (ex-message e) "ms")))))
