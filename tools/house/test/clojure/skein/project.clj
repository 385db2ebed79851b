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
  "The folders of the modules, such as \"modules/fold\": the list that pom.xml holds."
  (mapv second (re-seq #"<module>(.+?)</module>" (first (str/split (slurp "pom.xml") #"</modules>")))))

(def ^:private lanes
  "The folders of the modules with large dependencies. Each is in a profile of pom.xml, and not on
  this class path."
  (mapv second (re-seq #"<module>(.+?)</module>" (re-find #"(?s)<profiles>.*</profiles>" (slurp "pom.xml")))))

(defn- clojure-of
  "Returns the Clojure sources of those of `modules` that are libraries or applications. The bridge,
  which has core.async's names, is left out, and so is the code that needs ClojureScript, see
  `for-clojurescript`."
  [modules]
  (files (for [module modules
               :when (re-find #"^(?:modules/(?!core-async$|cljs$)|apps/)" module)]
           (str module "/src/clojure"))
         [".clj"]))

(defn main-clojure [] (clojure-of (concat modules lanes)))

(defn for-clojurescript
  "Returns the sources for ClojureScript, its macros included. Their users bring ClojureScript."
  []
  (files ["modules/cljs/src/clojure"] [".clj" ".cljs"]))

(defn main-java [] (files (map #(str % "/src/java") (concat modules lanes)) [".java"]))

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
  "Returns the names of the library's namespaces that can be loaded here, sorted."
  []
  (sort (keep ns-name-of (clojure-of modules))))
