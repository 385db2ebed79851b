;; SPDX-License-Identifier: Apache-2.0
(ns aot
  "Compiles the Clojure of modules ahead of time.

      java -cp CLASS-PATH:tools/build clojure.main -m aot FOLDER SOURCES...

  is for the jar of a library: calls are not linked directly. So compiled code runs on any version of Clojure
  that has the functions it calls, and `with-redefs` affects every call."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [jar])
  (:import
   (java.io File PushbackReader)))

(set! *warn-on-reflection* true)

(defn- ns-form
  "Returns the ns form of a source file, or nil if it begins with another form: such a file is part of a
  namespace."
  [^File file]
  (with-open [in (PushbackReader. (io/reader file))]
    (let [form (try (binding [*read-eval* false] (read {:read-cond :allow, :eof nil} in))
                    (catch RuntimeException e (throw (ex-info (str file ": " (ex-message e)) {}))))]
      (when (and (seq? form) (= 'ns (first form))) form))))

(defn- required
  "Returns the namespaces that an ns form requires, without those that it only abbreviates."
  [form]
  (for [[directive & libs] (filter seq? form)
        :when (#{:require :use} directive)
        lib libs
        :let [[n & options] (if (sequential? lib) lib [lib])]
        :when (and (symbol? n) (not (some #{:as-alias} options)))]
    n))

(defn- on-class-path? [n]
  (io/resource (str (str/replace (namespace-munge n) \. \/) ".clj")))

(defn namespaces
  "Returns the ns forms of a folder of sources, except those that require a library that only some users
  have."
  [sources]
  (->> (jar/files-below sources) (sort-by key) vals
       (filter #(str/ends-with? (.getName ^File %) ".clj"))
       (keep ns-form)
       (filter #(every? on-class-path? (required %)))))

(defn compile!
  "Compiles namespaces, and those they require that are not loaded, into a folder."
  [folder names options]
  (.mkdirs (io/file folder))
  (binding [*compile-path* (str folder)
            *compiler-options* (merge *compiler-options* options)]
    (doseq [n names :when (not (contains? (loaded-libs) n))]
      (compile n))))

(defn -main [folder & sources]
  (let [forms (mapcat namespaces sources)
        own (map second forms)]
    ;; So that those of other modules are not compiled.
    (run! require (remove (set own) (distinct (mapcat required forms))))
    (compile! folder own {}))
  (shutdown-agents))
