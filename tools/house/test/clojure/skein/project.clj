;; SPDX-License-Identifier: Apache-2.0
(ns skein.project
  "The checkout as data, for the tests of the house rules. A file is a map {:path string, relative to
  the root :text string}."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (clojure.lang LineNumberingPushbackReader LispReader$Resolver)
   (java.io File StringReader)))

(set! *warn-on-reflection* true)

(defn files
  "Returns the files below the folders or at the paths `roots` whose name ends in one of `endings`,
  sorted by path. Missing ones are left out."
  [roots endings]
  (for [root roots
        ^File file (sort (file-seq (io/file root)))
        :when (and (.isFile file) (some #(str/ends-with? (.getName file) %) endings))]
    {:path (str/replace (.getPath file) File/separatorChar \/), :text (slurp file)}))

(def modules
  "The folders of the modules, such as \"modules/fold\": those with a deps.edn and tests."
  (for [group ["modules" "apps" "tools"]
        ^File folder (sort (.listFiles (io/file group)))
        :when (and (.isFile (io/file folder "deps.edn")) (.isDirectory (io/file folder "test")))]
    (.getPath folder)))

(defn main-clojure
  "Returns the Clojure sources of the libraries and applications. The bridge, which has core.async's names, is
  left out, and so is the code that needs ClojureScript, see `for-clojurescript`."
  []
  (files (for [module modules :when (re-find #"^(?:modules/(?!core-async$|cljs$)|apps/)" module)]
           (str module "/src/clojure"))
         [".clj"]))

(defn for-clojurescript
  "Returns the sources for ClojureScript, its macros included. Their users bring ClojureScript."
  []
  (files ["modules/cljs/src/clojure"] [".clj" ".cljs"]))

(defn main-java [] (files (map #(str % "/src/java") modules) [".java"]))

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
  "Returns the top-level forms of `file`, unevaluated."
  [file]
  (let [in (LineNumberingPushbackReader. (StringReader. (:text file)))
        eof (Object.)]
    (binding [*read-eval* false
              *reader-resolver* lenient-resolver
              *default-data-reader-fn* tagged-literal]
      (into [] (take-while #(not (identical? eof %)))
            (repeatedly #(read {:eof eof :read-cond :allow} in))))))

(defn parts
  "Returns `form` and all forms in it, depth first."
  [form]
  (tree-seq coll? seq form))

(defn ns-name-of
  "Returns the symbol that the ns form of `file` declares, or nil."
  [file]
  (some (fn [form] (when (and (seq? form) (= 'ns (first form))) (second form))) (forms file)))

(defn for-users?
  "Returns whether pages of the API show the namespace of a file: it has no :no-doc."
  [file]
  (let [[_ n & more] (first (forms file))]
    (not-any? :no-doc (cons (meta n) (filter map? more)))))

(defn main-namespaces
  "Returns the names of the namespaces that can be loaded here, sorted: without Spark's."
  []
  (sort (keep ns-name-of (remove #(str/starts-with? (:path %) "modules/spark/") (main-clojure)))))
