;; SPDX-License-Identifier: Apache-2.0
(ns skein.api
  "The public names with their arguments, as doc/api.edn keeps them: {platform {namespace [entry]}}, where an entry is
  `[name arglist ...]`, for a macro `[name :macro arglist ...]`, and for a value or protocol `[name]`.

  `./skein api` prints the file, and `./skein api --write` first brings it up to date. The bridge, whose names are those of
  core.async, is not in it, nor are the macros of ClojureScript, which are those of the JVM."
  (:require
   [clojure.edn :as edn]
   [clojure.string :as str]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private path "doc/api.edn")

;;;; From the code

(defn- of-var [v]
  (let [{:keys [name macro arglists]} (meta v)]
    (into (cond-> [name] macro (conj :macro)) arglists)))

(defn- public? [{:keys [name private no-doc]}]
  (not (or private no-doc (re-find #"^(map)?->[A-Z]|\.proxy\$" (str name))))) ; Clojure makes these for a type

(defn- loaded
  "Returns the entries of a namespace that can be loaded here."
  [n]
  (require n)
  (for [v (vals (ns-publics n)) :when (public? (meta v))]
    (of-var v)))

(defn- of-form [[op n & more]]
  (let [tail (drop-while #(or (string? %) (map? %)) more)]
    (case op
      (defn defmacro) (-> (cond-> [n] (= 'defmacro op) (conj :macro))
                          (into (if (vector? (first tail)) [(first tail)] (map first (filter seq? tail)))))
      (def defonce defprotocol) [n]
      nil)))

(defn- read-in-source
  "Returns the entries of a file that can't be loaded here."
  [file]
  (for [form (project/forms file)
        :let [entry (when (seq? form) (of-form form))]
        :when (and entry (public? (assoc (meta (second form)) :name (second form))))]
    entry))

(defn- table [files entries-of]
  (into (sorted-map)
        (for [file files, :when (and (str/starts-with? (:path file) "modules/") (project/for-users? file))
              :let [entries (entries-of file)]
              :when (seq entries)]
          [(project/ns-name-of file) (vec (sort-by first entries))])))

(defn in-code
  "Returns the API that the code has."
  []
  (let [loadable (set (project/main-namespaces))
        entries (fn [file] (let [n (project/ns-name-of file)] (if (loadable n) (loaded n) (read-in-source file))))]
    {:jvm (table (project/main-clojure) entries)
     :cljs (table (filter #(str/ends-with? (:path %) ".cljs") (project/for-clojurescript)) read-in-source)}))

;;;; In the file

(defn kept
  "Returns the API that doc/api.edn has."
  []
  (edn/read-string (slurp path)))

(defn- write! [api]
  (spit path (str ";; SPDX-License-Identifier: Apache-2.0\n;; The public API. ./skein api prints it, ./skein api --write makes this file.\n{"
                  (str/join "\n\n "
                            (for [[platform table] api]
                              (str platform "\n {" (str/join "\n\n  " (for [[n entries] table]
                                                                        (str n "\n  [" (str/join "\n   " (map pr-str entries)) "]")))
                                   "}")))
                  "}\n")))

(defn- print-table
  "Prints a namespace and the number of its names, and then a line for the names that have the same arguments."
  [table]
  (doseq [[n entries] (sort-by key table)]
    (println (str "\n" n) (count entries))
    (doseq [[arguments alike] (sort-by (comp ffirst val) (group-by rest entries))]
      (println (str "  " (str/join " " (concat (map first alike) (remove #{:macro} arguments) (filter #{:macro} arguments))))))))

(def ^:private of-others
  "The namespaces whose names are those of other libraries, or of a model that is still changing."
  '#{skein.virtuoso skein.tools-trace skein.trace.verbose skein.reducers skein.async.flow skein.async.flow.spi})

(defn- print-total [table]
  (let [total (fn [names] (reduce + (map (comp count table) names)))
        others (filter of-others (keys table))]
    (println (str "\n" (total (remove of-others (keys table))) " names, and " (total others) " of " (str/join ", " others)))))

(defn -main
  "Prints the API. The argument --write first brings the file up to date."
  [& args]
  (when (= ["--write"] args) (write! (in-code)))
  (let [{:keys [jvm cljs]} (kept)]
    (print-table jvm)
    (print-total jvm)
    (println "\nIn ClojureScript")
    (print-table cljs))
  (shutdown-agents))
