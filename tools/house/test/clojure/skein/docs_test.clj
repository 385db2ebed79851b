;; SPDX-License-Identifier: Apache-2.0
(ns skein.docs-test
  "Runs the examples in docstrings of public vars and in the ```clojure blocks of Markdown files.
  A line `;=> value` says what the form above it returns; the value is read, not evaluated. Lines
  that begin with a single ; continue the value.

  The code of a text is its lines with all others blank, so that the numbers of lines stay."
  (:require
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]
   [skein.project :as project])
  (:import
   (clojure.lang LineNumberingPushbackReader)
   (java.io StringReader StringWriter)))

(set! *warn-on-reflection* true)

(def ^:private deadline-ms "An example may load core.async from its source, on a busy machine." 300000)

(defn- markdown-code [lines]
  (->> lines
       (reductions (fn step [[inside? _] line]
                     (if inside?
                       (if (re-find #"^\s*```\s*$" line) [false ""] [true line])
                       [(re-find #"^\s*```clojure(?:\s|$)" line) ""]))
                   [false nil])
       rest
       (map second)))

(defn- docstring-code
  "Returns the code of a docstring: paragraphs indented by six or more, four beyond the docstring's own two."
  [lines]
  (mapcat (fn [[line :as paragraph]]
            (if (str/starts-with? line "      ") paragraph (map (constantly "") paragraph)))
          (partition-by str/blank? lines)))

(defn- with-markers
  "Returns the code in `lines` with each `;=>` turned into a keyword, so that the value after it
  is read as a form."
  [lines]
  (->> lines
       (reductions (fn step [[in-value? _] line]
                     (cond
                       (re-find #"^\s*;=>" line) [true (str/replace-first line ";=>" "::gives ")]
                       (and in-value? (re-find #"^\s*;(?!;)" line)) [true (str/replace-first line ";" " ")]
                       :else [false line]))
                   [false nil])
       rest
       (map second)
       (str/join "\n")))

(defn- checked
  "Evaluates the forms of `in`. Returns [line fault] for each whose value is not the one in the
  text, and for the one that throws."
  [^LineNumberingPushbackReader in]
  (let [gives (keyword (name (ns-name *ns*)) "gives"), faults (volatile! [])]
    (try
      (loop [last-form nil, last-value nil]
        (let [form (read {:eof in :read-cond :allow} in), line (.getLineNumber in)]
          (cond
            (identical? in form) nil
            (= gives form) (let [expected (read in)]
                             (when (not= expected last-value)
                               (vswap! faults conj [line (str (pr-str last-form) " gave " (pr-str last-value)
                                                              ", but the text says " (pr-str expected))]))
                             (recur nil nil))
            :else (recur form (eval form)))))
      (catch Throwable t
        (vswap! faults conj [(.getLineNumber in) (str "threw " (ex-message (or (ex-cause t) t)))])))
    @faults))

(defn- see-namespace!
  "Lets namespace `n` see the public vars of `seen`, and what `seen` sees by alias."
  [n seen]
  (binding [*ns* n]
    (doseq [public (keys (ns-publics seen))] (ns-unmap n public))
    (refer (ns-name seen))
    (doseq [[short-name full] (merge (ns-aliases seen) {(symbol (last (str/split (str seen) #"\."))) seen})]
      (alias short-name (ns-name full)))))

(defn- faults
  "Returns the faults of the examples in `text`, which begins at `line` of `path`. They see the
  namespace `seen`, if there is one."
  [text code-of path line seen]
  (let [code (code-of (str/split-lines text))
        unread (- (count (re-seq #";=>" text)) (count (filter #(re-find #"^\s*;=>" %) code)))
        unread-fault [line (str unread " of its ;=> are not at the beginning of a line of code")]
        in (doto (LineNumberingPushbackReader. (StringReader. (with-markers code))) (.setLineNumber line))
        n (create-ns (gensym "skein.docs-test.example"))]
    (try
      (binding [*ns* n] (refer-clojure))
      (when seen (see-namespace! n seen))
      (let [running (future
                      ;; As at a REPL, outside of any test.
                      (binding [*ns* n, *out* (StringWriter.), *err* (StringWriter.), test/*testing-vars* nil]
                        (checked in)))
            outcome (deref running (long deadline-ms) [[line "the examples do not end"]])]
        (future-cancel running)
        (for [[line fault] (cond->> outcome (pos? unread) (cons unread-fault))]
          (str path ":" line ": " fault)))
      (finally (remove-ns (ns-name n))))))

(defn- docstring-faults [seen {:keys [doc file line]}]
  (when (some-> doc (str/includes? ";=>"))
    (faults doc docstring-code file line seen)))

(defn- markdown-faults [{:keys [path text]}]
  (faults text markdown-code path 1 nil))

(deftest examples-in-docstrings-hold
  (let [names (project/main-namespaces)]
    (apply require names)
    (is (= [] (for [n names
                    documented (cons (assoc (meta (the-ns n)) :file (str n) :line 2)
                                     (map meta (vals (ns-publics n))))
                    fault (docstring-faults (the-ns n) documented)]
                fault)))))

(deftest examples-in-readme-and-doc-hold
  (is (= [] (mapcat markdown-faults (project/files ["README.md" "doc" "modules" "apps"] [".md"])))))

(defn- faults-of-text [& lines]
  (markdown-faults {:path "a.md" :text (str/join "\n" lines)}))

(deftest wrong-examples-are-found
  (is (= ["a.md:4: (f 1) gave 2, but the text says 3"]
         (faults-of-text "```clojure" "(defn f [x] (inc x))" "(f 1)" ";=> 3" "```")))
  (is (= ["a.md:2: threw Divide by zero"] (faults-of-text "```clojure" "(/ 1 0)" ";=> 1" "```"))))

(deftest the-files-that-the-page-on-the-architecture-names-exist
  (let [named (set (re-seq #"(?<=`)[A-Za-z_]+\.(?:java|clj)(?=`)" (slurp "doc/architecture.md")))
        there (set (map #(last (str/split (:path %) #"/")) (concat (project/main-clojure) (project/main-java))))]
    (is (seq named))
    (is (= #{} (set/difference named there)))))
