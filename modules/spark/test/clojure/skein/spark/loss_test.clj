;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.loss-test
  "Folds on a cluster whose processes are missing, die, or can't run the code."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.fold :as fold]
   [skein.kind :refer [kind-of]]
   [skein.skip :refer [skip!]]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.folds :as folds])
  (:import
   (clojure.lang ExceptionInfo)
   (java.lang ProcessHandle)
   (java.net ServerSocket)))

(set! *warn-on-reflection* true)

(defn- error-of [f] (try (f) nil (catch ExceptionInfo e (assoc (ex-data e) :message (ex-message e)))))

(deftest an-executor-that-dies-is-replaced
  (let [cluster (bed/bed :pair)
        kill (delay (.destroyForcibly ^ProcessHandle (first (bed/executors))))
        far (spark/range {:partitions 12} cluster 0 3000)]
    ;; The first partial has arrived, so that executors are there and others are being made.
    (is (= (vec (range 3000)) (fold/fold {:lost-after-ms bed/patience-ms, :on-progress (fn [_] @kill)} folds/slow far)))
    (is (realized? kill))))

(deftest a-master-that-does-not-answer-is-named
  (bed/close!)
  (let [port (with-open [socket (ServerSocket. 0)] (.getLocalPort socket))
        master (str "spark://127.0.0.1:" port)
        {:keys [message] :as data} (error-of #(spark/connect master))]
    (is (= [:skein/cluster-lost master] [(kind-of data) (:master data)]))
    (is (str/includes? message "Check the address"))))

(deftest bad-masters-are-refused
  (bed/close!)
  (is (= :skein/bad-argument (kind-of (error-of #(spark/connect "nonsense")))))
  (is (= :skein/bad-argument (kind-of (error-of #(spark/connect 7)))))
  (is (= :skein/bad-argument (kind-of (error-of #(spark/connect {:unknown 1} "local[1]")))))
  (is (= :skein/bad-argument (kind-of (error-of #(spark/connect {:jars ["/no/such.jar"]} "local[1]"))))))

(deftest startup-failures-of-spark-are-reported
  (let [refused (fn [conf] (error-of #(spark/connect {:conf (merge (bed/conf) conf)} "local[1]")))]
    (bed/close!)
    (let [{:keys [message] :as data} (refused {"spark.executor.memory" "lots"})]
      (is (= :skein/bad-argument (kind-of data)))
      (is (str/includes? message "lots"))
      (is (str/includes? message ":conf")))
    (bed/bed :local)
    (let [{:keys [message] :as data} (refused {})]
      (is (= :skein/bad-argument (kind-of data)))
      (is (str/includes? message "Close")))))

(deftest a-cluster-without-executors-is-lost
  (bed/close!)
  ;; No worker has as much memory as this asks for.
  (with-open [^java.io.Closeable cluster (spark/connect {:jars :there, :conf (assoc (bed/conf) "spark.executor.memory" "100g")} (bed/address))]
    (is (= :skein/cluster-lost
           (kind-of (error-of #(fold/fold {:lost-after-ms 1500} fold/sum (spark/range cluster 0 10))))))))

(deftest executors-without-the-code-are-reported
  (bed/close!)
  (with-open [^java.io.Closeable cluster (spark/connect {:jars :there, :conf (bed/conf)} (bed/address))]
    (is (= [:skein/far-code :missing]
           (kind-of (error-of #(fold/fold {:lost-after-ms bed/patience-ms} fold/sum (spark/range cluster 0 10))))))))

(def ^:private java-17
  "The folder of a Java 17, if this machine has one."
  (first (filter #(.exists (io/file % "bin/java")) (map str (filter #(str/includes? (str %) "17") (.listFiles (io/file "/usr/lib/jvm")))))))

(deftest executors-on-an-old-java-are-refused
  (bed/close!)
  (if-not java-17
    (skip! "there is no Java 17 in /usr/lib/jvm")
    (with-open [^java.io.Closeable cluster (spark/connect {:conf (assoc (bed/conf) "spark.executorEnv.JAVA_HOME" java-17)} (bed/address))]
      (let [{:keys [message] :as data} (error-of #(fold/fold {:lost-after-ms bed/patience-ms} fold/sum (spark/range cluster 0 10)))]
        (is (= [[:skein/far-code :java] 21 17] ((juxt kind-of :wanted :found) data)))
        (is (str/includes? message "JAVA_HOME")))))
  (testing "by Spark's message"
    (let [said (str "java.lang.UnsupportedClassVersionError: skein/spark/rt/PartTask has been compiled by a more recent version of the Java Runtime "
                    "(class file version 65.0), this version of the Java Runtime only recognizes class file versions up to 61.0")
          e (#'skein.spark.job/reported nil (Exception. said))]
      (is (= [[:skein/far-code :java] 17] ((juxt kind-of :found) (ex-data e))))
      (is (str/includes? (ex-message e) "run on Java 17, but Skein needs 21")))))

(deftest an-executor-without-memory-is-reported
  (let [e (#'skein.spark.job/reported nil (Exception. "Job aborted: Lost task 0.3 in stage 4.0: java.lang.OutOfMemoryError: Java heap space"))]
    (is (= :skein/too-large (kind-of (ex-data e))))
    (is (str/includes? (ex-message e) "spark.executor.memory"))))

(deftest a-closed-cluster-is-refused
  (let [cluster (bed/bed :local)]
    (bed/close!)
    (is (= :skein/cluster-lost (kind-of (error-of #(spark/range cluster 0 10)))))))
