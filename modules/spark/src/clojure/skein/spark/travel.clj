;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.travel
  "Finds out without a cluster whether a fold can travel. Sends it to a separate Clojure within this process, which knows nothing
  but the class path."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.spark.codec :as codec]
   [skein.spark.request :as request])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)
   (java.lang.reflect Method)
   (java.net URL URLClassLoader)))

(set! *warn-on-reflection* true)

(defn- class-path-urls ^"[Ljava.net.URL;" []
  (into-array URL (for [entry (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))
                        :when (seq entry)]
                    (.toURL (.toURI (File. ^String entry))))))

(defn- static ^Method [^ClassLoader loader class-name method & types]
  (.getMethod (Class/forName class-name true loader) method (into-array Class types)))

(defn- far-run
  "Returns what skein.spark.far/run returns in a separate Clojure."
  ^bytes [request source]
  (let [thread (Thread/currentThread)
        before (.getContextClassLoader thread)]
    (with-open [loader (URLClassLoader. (class-path-urls) (ClassLoader/getPlatformClassLoader))]
      (.setContextClassLoader thread loader)
      (try
        (.invoke (static loader "skein.spark.rt.PartTask" "run" byte/1 Object Object) nil (object-array [request source nil]))
        (finally (.setContextClassLoader thread before))))))

(defn- described [^Throwable t]
  (assoc (if (instance? ExceptionInfo t) (ex-data t) {:class (.getName (class t))})
         :message (ex-message t)))

(defn- far-problem [request sample]
  (let [source (codec/encode ['clojure.core/identity sample] Integer/MAX_VALUE)
        [how value] (codec/decode (far-run request source))]
    (when (= :thrown how) (described value))))

(defn problem
  "Returns why the fold `f` can't travel, a map with :message and :skein/error, or nil if it can."
  [f sample]
  (try
    (let [f (request/->fold f)]
      (request/check f)
      (far-problem (request/encoded {:f (request/far-fold f), :max-bytes request/default-max-result-bytes}) sample))
    (catch Exception e (described e))))
