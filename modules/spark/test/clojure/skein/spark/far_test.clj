;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.far-test
  "Code on executors: forms of a prompt, namespaces that are not there or throw, and fresh processes that load them."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.fold :as fold]
   [skein.kind :refer [kind-of]]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.broken-there :as broken-there]
   [skein.spark.codec :as codec]
   [skein.spark.folds :as folds]
   [skein.spark.jars :as jars]
   [skein.spark.request :as request]
   [skein.spark.travel :as travel])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io Closeable File)
   (java.lang ProcessHandle)
   (java.net URLClassLoader)
   (java.util.concurrent CyclicBarrier)))

(set! *warn-on-reflection* true)

(defn- error-of [f] (try (f) nil (catch ExceptionInfo e (assoc (ex-data e) :message (ex-message e)))))

(deftest forms-are-compiled-on-executors
  (let [far (spark/range {:partitions 4} (bed/bed :pair) 0 100)
        below (fn [limit] (fold/fold (fold/through (spark/here (filter #(< % limit))) fold/count) far))]
    (is (= [3 50] [(below 3) (below 50)]))
    ;; A form that the prompt has changed is another form.
    (is (= [100 50] (for [form '[(filter some?) (filter odd?)]]
                      (fold/fold (fold/through (eval (list `spark/here form)) fold/count) far))))))

(deftest a-namespace-that-throws-there-says-why
  (let [{:keys [message] :as data} (error-of #(fold/fold (fold/through (map broken-there/same) fold/sum) (spark/range (bed/bed :pair) 0 10)))]
    (is (= [:skein/far-code :broken] (kind-of data)))
    (is (str/includes? message "broken on purpose"))))

(deftest a-namespace-that-was-not-shipped-is-named
  (bed/close!)
  (let [tests (first (filter #(str/ends-with? % "spark/test/clojure") (str/split (System/getProperty "java.class.path") #":")))
        others (remove #{(jars/pack (File. ^String tests))} (jars/auto))]
    (with-open [^Closeable cluster (spark/connect {:jars others, :conf (bed/conf)} (bed/address))]
      (let [far (spark/range cluster 0 10)
            {:keys [message] :as data} (error-of #(fold/fold {:lost-after-ms bed/patience-ms} (spark/named `folds/less-than 3 false) far))]
        (is (= [:skein/far-code :missing] (kind-of data)))
        (is (str/includes? message "skein.spark.folds"))
        (is (= 45 (fold/fold fold/sum far)))))))

(deftest a-cluster-that-loses-all-its-executors-gets-others
  (let [cluster (bed/bed :pair)
        kill (delay (run! #(.destroyForcibly ^ProcessHandle %) (bed/executors)))
        far (spark/range {:partitions 12} cluster 0 3000)]
    (is (= (vec (range 3000)) (fold/fold {:lost-after-ms bed/patience-ms, :on-progress (fn [_] @kill)} folds/slow far)))
    (is (realized? kill))))

;;;; Fresh processes: a Clojure in a class loader of its own

(defn loaded-at-once
  "Returns the values of one fold that `n` threads of a fresh Clojure begin at once, as tasks of an executor do."
  [n]
  (let [request (request/encoded {:f (request/far-fold folds/stats), :max-bytes 1000000})
        piece (codec/encode ['clojure.core/range 0 100] 1000000)
        barrier (CyclicBarrier. n)]
    (with-open [loader (URLClassLoader. (#'travel/class-path-urls) (ClassLoader/getPlatformClassLoader))]
      (let [run (.getMethod (Class/forName "skein.spark.rt.PartTask" false loader) "run" (into-array Class [byte/1 Object Object]))
            task (fn [] (.await barrier) (second (codec/decode (.invoke run nil (object-array [request piece nil])))))]
        (mapv #(deref % 120000 :late) (doall (repeatedly n #(future (task)))))))))

(deftest tasks-that-load-a-namespace-at-once-see-all-of-it
  (let [[value & others] (loaded-at-once 4)]
    (is (= (fold/fold folds/stats (range 100)) ((:complete folds/stats identity) value)))
    (is (= 3 (count (filter #(= value %) others))))))
