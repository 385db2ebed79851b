;; SPDX-License-Identifier: Apache-2.0
(ns skein.project
  "The checkout as data, for the tests of the house rules.

  A file is a map {:path string, relative to the root :text string}. The rules
  are functions from such files to lists of faults, which are sentences that
  begin with path:line; so a test can feed them bad files too."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (clojure.lang LineNumberingPushbackReader LispReader$Resolver)
   (java.io File StringReader)))

(set! *warn-on-reflection* true)

(defn files
  "Returns the files below the folders or at the paths `roots` whose name ends in
  one of `endings`, sorted by path. Missing ones are left out."
  [roots endings]
  (for [root roots
        ^File file (sort (file-seq (io/file root)))
        :when (and (.isFile file) (some #(str/ends-with? (.getName file) %) endings))]
    {:path (str/replace (.getPath file) File/separatorChar \/), :text (slurp file)}))

(def modules
  "The folders of the modules, such as \"modules/fold\": the list that pom.xml holds."
  (mapv second (re-seq #"<module>(.+?)</module>" (first (str/split (slurp "pom.xml") #"</modules>")))))

(def lanes
  "The folders of the modules with large dependencies. Each is in a profile of pom.xml, and not on this class path."
  (mapv second (re-seq #"<module>(.+?)</module>" (re-find #"(?s)<profiles>.*</profiles>" (slurp "pom.xml")))))

(defn- clojure-of [modules]
  (files (for [module modules :when (re-find #"^(?:modules/(?!core-async$|cljs$)|apps/)" module)] (str module "/src/clojure"))
         [".clj"]))

(defn main-clojure
  "Returns the Clojure sources of the libraries and applications. The bridge, which has core.async's names, is left out,
  and so is the code that needs ClojureScript, see `for-clojurescript`."
  []
  (clojure-of (concat modules lanes)))

(defn loadable-clojure
  "Returns those of `main-clojure` whose libraries are on this class path."
  []
  (clojure-of modules))

(defn lane-clojure
  "Returns those of `main-clojure` whose libraries are not on this class path."
  []
  (clojure-of lanes))

(defn for-clojurescript
  "Returns the sources for ClojureScript, its macros included. Their users bring ClojureScript."
  []
  (files ["modules/cljs/src/clojure"] [".clj" ".cljs"]))

(defn main-java
  "Returns the files of all modules' Java sources."
  []
  (files (map #(str % "/src/java") (concat modules lanes)) [".java"]))

(defn clojure-files
  "Returns the files of all Clojure code: modules, applications, tools, tests, examples."
  []
  (files ["modules" "apps" "tools" "examples"] [".clj"]))

(defn java-files
  "Returns the files of all Java code."
  []
  (files ["modules" "apps" "tools"] [".java"]))

(defn lines
  "Returns the lines of `file` as [number text] pairs, from 1."
  [file]
  (map vector (rest (range)) (str/split-lines (:text file))))

(def ^:private lenient-resolver
  "Reads ::alias/name and `name without loading the file's namespace."
  (reify LispReader$Resolver
    (currentNS [_] 'unread)
    (resolveClass [_ s] s)
    (resolveAlias [_ s] s)
    (resolveVar [_ s] s)))

(defn forms
  "Returns the top-level forms of `file`, with :line metadata, unevaluated."
  [file]
  (let [in (LineNumberingPushbackReader. (StringReader. (:text file)))
        eof (Object.)]
    (binding [*read-eval* false
              *reader-resolver* lenient-resolver
              *default-data-reader-fn* tagged-literal]
      (into [] (take-while #(not (identical? eof %)))
            (repeatedly #(read {:eof eof :read-cond :allow} in))))))

(defn parts
  "Returns `form` and all forms in it, metadata included, depth first."
  [form]
  (tree-seq #(or (coll? %) (some? (meta %)))
            #(concat (when (coll? %) (seq %)) (some-> (meta %) (dissoc :line :column) seq))
            form))

(defn ns-name-of
  "Returns the symbol that the ns form of `file` declares, or that its in-ns form
  continues, or nil."
  [file]
  (some (fn [form]
          (case (when (seq? form) (first form))
            ns (second form)
            in-ns (second (second form))
            nil))
        (forms file)))

(defn main-namespaces
  "Returns the names of the library's namespaces that can be loaded here, sorted."
  []
  (sort (distinct (keep ns-name-of (loadable-clojure)))))
