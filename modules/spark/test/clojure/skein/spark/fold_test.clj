;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.fold-test
  "Folds on two executors against the same folds here."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.fold :as fold]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.cluster :as cluster]
   [skein.spark.folds :as folds])
  (:import
   (clojure.lang ExceptionInfo)
   (java.util MissingResourceException)
   (org.apache.spark.api.java JavaSparkContext)))

(set! *warn-on-reflection* true)

(defn- numbers
  ([n] (numbers n 8))
  ([n partitions] (spark/range {:partitions partitions} (bed/bed :pair) 0 n)))

(defn- thrown [f far]
  (try (fold/fold f far) nil (catch Throwable t t)))

;;;; Equal to a local fold

(deftest numbers-fold-on-executors
  (let [cluster (bed/bed :pair)]
    (doseq [f [fold/min fold/max (fold/quantiles [0.5]) (fold/histogram [10 50])]]
      (is (= (fold/fold f (range 100)) (fold/fold f (numbers 100)))))
    ;; Doubles depend on where the parts meet, in their last digits.
    (doseq [f [fold/mean fold/variance]]
      (is (< (abs (- (double (fold/fold f (range 100))) (double (fold/fold f (numbers 100))))) 1e-9)))
    (is (= 15 (fold/fold fold/sum (spark/parallelize cluster [1 2 3 4 5]))))
    (is (= 0 (fold/fold fold/sum (spark/parallelize cluster []))))
    (is (= 45 (fold/fold + (numbers 10))))
    (is (= (fold/fold folds/stats (range 5000)) (fold/fold folds/stats (numbers 5000))))
    (is (= 100 (fold/fold (spark/named `folds/less-than 100 false) (numbers 1000))))
    (is (= (mapv folds/row (range 20)) (fold/fold (fold/through (map folds/row) (fold/into [])) (numbers 20))))))

(deftest neighbours-are-combined-in-order
  (doseq [n [1 7 40]]
    (is (= (vec (range 1000)) (fold/fold (fold/into []) (numbers 1000 n))))
    (is (= (str/join (map folds/text-of (range 200)))
           (fold/fold (fold/through (map folds/text-of) {:step folds/mixed, :combine folds/mixed}) (numbers 200 n))))
    (is (= (reduce folds/times (folds/times) (map folds/matrix (range 300)))
           (fold/fold (fold/through (map folds/matrix) {:step folds/times, :combine folds/times}) (numbers 300 n))))))

(deftest rows-of-an-rdd-are-folded
  (let [cluster (bed/bed :pair)
        rdd (.parallelize (JavaSparkContext. (cluster/context cluster)) ["a" "b" "c" "d"] 3)]
    (is (= ["a" "b" "c" "d"] (fold/fold (fold/into []) (spark/rows cluster rdd))))))

(deftest a-plain-fold-runs-where-its-source-is
  (is (= 2500 (fold/fold (fold/through (comp (map inc) (filter odd?)) +) (numbers 100))))
  (is (= 4950 (fold/fold + (numbers 100))))
  (is (= "100" (fold/fold (fold/finish str fold/count) (numbers 100))))
  (is (= [1 2 3] (fold/fold (fold/into []) (eduction (map inc) (take 3) (numbers 100)))))
  (is (= {:value 4950} (select-keys (fold/explain fold/sum (numbers 100)) [:value]))))

(deftest each-path-is-one-task
  (let [cluster (bed/bed :pair)]
    (is (= [0 0 1 0 1 2] (fold/fold (fold/into []) (spark/of-each cluster [1 2 3] `range))))))

;;;; Order, and stopping

(def ^:private stateful
  [(take 30) (take-while (folds/below 50)) (drop 10) (drop-while (folds/below 10)) (take-nth 3) (distinct) (dedupe) (interpose 0)
   (partition-by folds/bucket) (partition-all 4) (map-indexed vector) (keep-indexed vector) (halt-when (folds/below 0))
   (comp (map folds/bucket) (distinct))])

(deftest stateful-stages-get-their-elements-in-order
  (doseq [xform stateful
          :let [f (fold/through xform (fold/into []))]]
    (is (= (into [] xform (range 100)) (fold/fold f (numbers 100 6))))
    (is (= :skein/cannot-travel
           (:skein/error (ex-data (try (fold/fold {:order :refuse} f (numbers 100)) (catch ExceptionInfo e e)))))))
  (let [{:keys [path reason value]} (fold/explain (fold/through (take 3) (fold/into [])) (numbers 100))]
    (is (= [:in-order [0 1 2]] [path value]))
    (is (str/includes? reason "take"))))

(deftest a-reduced-value-ends-the-fold
  (let [stop (assoc (fold/into []) :identity vector, :complete identity, :step conj, :combine into)
        {:keys [value partitions]} (fold/explain (assoc stop :xform (halt-when (folds/below 0))) (numbers 100 4))]
    (is (= [(vec (range 100)) 4] [value (count partitions)])))
  (testing "in its part of a fuse only"
    (is (= [30 4950] (fold/fold (fold/fuse [(fold/through (take 30) fold/count) fold/sum]) (numbers 100)))))
  (testing "and later elements are not requested"
    (let [{:keys [value partitions]} (fold/explain (fold/through (take 30) fold/count) (numbers 10000 100))]
      (is (= 30 value))
      (is (= 1 (count partitions))))))

;;;; Exceptions

(deftest an-exception-is-thrown-as-it-was
  (let [far (numbers 1000 10)
        e (thrown (spark/named `folds/fails-at 777 folds/with-data) far)]
    (is (= [ExceptionInfo "row 777" {:row 777, :set #{1 2}, :flag false, :record (folds/row 3)}]
           [(class e) (ex-message e) (ex-data e)]))
    (is (= [IllegalStateException "below"] [(class (ex-cause e)) (ex-message (ex-cause e))]))
    (let [places (map #(.getClassName ^StackTraceElement %) (.getStackTrace ^Throwable e))]
      (is (some #(str/starts-with? % "skein.spark.folds") places) "the step's place there")
      (is (some #(str/starts-with? % "skein.spark.fold_test") places) "the caller's place here"))
    (is (= ["aside"] (map ex-message (.getSuppressed ^Throwable (thrown (spark/named `folds/fails-at 777 folds/with-suppressed) far)))))
    (is (= "key" (.getKey ^MissingResourceException (thrown (spark/named `folds/fails-at 777 folds/with-fields) far))))
    (is (= ["has a thread" :skein/cannot-travel]
           ((juxt ex-message (comp :skein/error ex-data)) (thrown (spark/named `folds/fails-at 777 folds/with-thread) far))))
    (is (= [:identity :completion :combine]
           (map #(:where (ex-data (thrown % far))) [folds/no-identity folds/no-completion folds/no-combine])))))

(deftest the-first-exception-in-order-is-thrown
  (let [f {:identity vector, :step (:step (folds/fails-at 0 folds/with-data)), :combine into}]
    (is (some? (thrown f (numbers 10)))))
  (dotimes [_ 5]
    (is (= "row 3" (ex-message (thrown (fold/through (map folds/slowly) (folds/fails-at 3 folds/with-data)) (numbers 400 20)))))))

;;;; Values and bindings

(deftest keys-hashed-by-identity-meet
  (let [f (fold/through (map folds/month) fold/frequencies)]
    (is (= (fold/fold f (range 100)) (fold/fold f (numbers 100 16))))))

(deftest a-large-value-comes-back
  (is (= [100000000] (mapv alength (fold/fold (fold/through (map byte-array) (fold/into [])) (spark/parallelize (bed/bed :pair) [100000000]))))))

(deftest values-that-cannot-be-sent-are-refused
  (is (= [:skein/cannot-travel "clojure.lang.Atom"]
         ((juxt :skein/error :class) (ex-data (thrown folds/keeps-atom (numbers 10))))))
  (is (= :skein/too-large
         (:skein/error (ex-data (try (fold/fold {:max-result-bytes 1000} (fold/into []) (numbers 10000))
                                     (catch ExceptionInfo e e)))))))

(deftest requested-bindings-are-sent
  (binding [folds/*scale* 10]
    (let [f (fold/through (map folds/scaled) fold/sum)]
      (is (= 45 (fold/fold f (numbers 10))))
      (is (= 450 (fold/fold {:bindings [#'folds/*scale*]} f (numbers 10)))))))

;;;; Cancelling

(deftest a-late-fold-is-cancelled
  (is (= :skein/timeout
         (:skein/error (ex-data (try (fold/fold {:timeout-ms 500} folds/slow (numbers 100000)) (catch ExceptionInfo e e))))))
  (testing "and leaves the executors free"
    (is (= 45 (fold/fold fold/sum (numbers 10))))))

(deftest an-interrupt-ends-the-wait
  (let [far (numbers 100000)
        begun (promise)
        outcome (promise)
        caller (doto (Thread. (fn [] (deliver outcome (try (fold/fold {:on-progress (fn [_] (deliver begun true))} folds/slow far)
                                                           (catch InterruptedException e e)))))
                 (.start))]
    (.interrupt caller)
    (is (instance? InterruptedException (deref outcome 30000 :late)))
    (is (= 45 (fold/fold fold/sum (numbers 10))))))

(deftest progress-is-told
  (let [told (atom [])]
    (fold/fold {:on-progress #(swap! told conj %)} fold/sum (numbers 10 3))
    (is (= [1 2 3] (map :done @told)))
    (is (every? #(= [3 :partitions] ((juxt :total :unit) %)) @told))))
