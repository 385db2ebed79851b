;; SPDX-License-Identifier: Apache-2.0
(ns skein.docs-test
  "Runs the examples: in docstrings of public vars and in the ```clojure blocks of
  README.md and doc/. A line `;=> value` says what the form above it returns; the
  value is read, not evaluated. Lines that begin with a single ; continue the value."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]
   [skein.project :as project])
  (:import
   (clojure.lang LineNumberingPushbackReader)
   (java.io StringReader StringWriter)))

(set! *warn-on-reflection* true)

(def ^:private deadline-ms 120000) ; an example may load core.async from its source, on a machine with other work

(defn- with-markers
  "Returns the code in `lines` with each `;=>` turned into a keyword, so that the
  expected value after it is read as a form; line numbers stay."
  [lines]
  (->> lines
       (reductions (fn step [[_ in-value?] line]
                     (cond
                       (re-find #"^\s*;=>" line)
                       [(str/replace-first line ";=>" "::gives ") true]
                       (and in-value? (re-find #"^\s*;(?!;)" line))
                       [(str/replace-first line ";" " ") true]
                       :else [line false]))
                   [nil false])
       rest
       (map first)
       (str/join "\n")))

(defn- unexpected-markers
  "Returns the `;=>` that don't begin a line: they would be comments to the reader."
  [first-line lines]
  (for [[i line] (map-indexed vector lines)
        :when (re-find #"\S.*;=>" line)]
    {:line (+ (long first-line) (long i)) :fault "put ;=> on a line of its own"}))

(defn- checked
  "Evaluates the forms of `in`. Returns a fault for each whose value is not the one in
  the text."
  [^LineNumberingPushbackReader in]
  (let [eof (Object.)
        gives (keyword (name (ns-name *ns*)) "gives")]
    (loop [faults [] last-form nil last-value nil]
      (let [form (read {:eof eof :read-cond :allow} in)
            line (.getLineNumber in)]
        (cond
          (identical? eof form) faults
          (= gives form)
          (let [expected (read {:eof eof} in)]
            (recur (cond-> faults
                     (not= expected last-value)
                     (conj {:line line
                            :fault (str (pr-str last-form) " gave " (pr-str last-value)
                                        ", but the text says " (pr-str expected))}))
                   nil nil))
          :else (recur faults form (eval form)))))))

(defn- run-example
  "Runs the code in `lines`, which begin at `first-line` of their file, in namespace
  `n`; returns the faults as {:line :fault}."
  [n first-line lines]
  (let [in (LineNumberingPushbackReader. (StringReader. (with-markers lines)))
        run (bound-fn []
              (.setLineNumber in (int first-line))
              ;; As at a REPL, outside of any test.
              (binding [*ns* n, *out* (StringWriter.), *err* (StringWriter.), test/*testing-vars* nil]
                (try (checked in)
                     (catch Throwable t
                       [{:line (.getLineNumber in)
                         :fault (str "threw " (ex-message (or (ex-cause t) t)))}]))))
        running (future (run))
        outcome (deref running (long deadline-ms) ::late)]
    (future-cancel running)
    (concat (unexpected-markers first-line lines)
            (if (= ::late outcome)
              [{:line first-line :fault "the example does not end"}]
              outcome))))

(defmacro ^:private with-fresh-ns
  "Evaluates `body` with `n` bound to a new namespace that sees clojure.core."
  [[n] & body]
  `(let [~n (create-ns (gensym "skein.docs-test.example"))]
     (try
       (binding [*ns* ~n] (clojure.core/refer-clojure))
       ~@body
       (finally (remove-ns (ns-name ~n))))))

;;;; Markdown

(defn- code-blocks
  "Returns the ```clojure blocks of `file` as [first-line lines], and as faults the
  `;=>` that stand outside of one, where nothing would run them."
  [file]
  (loop [[[n text] & more] (project/lines file), open nil, blocks [], faults []]
    (cond
      (nil? n) {:blocks blocks :faults faults}
      (nil? open) (if-let [[_ lang] (re-find #"^\s*```(\S*)" text)]
                    (recur more {:lang lang :line (inc (long n)) :lines []} blocks faults)
                    (recur more nil blocks
                           (cond-> faults
                             (re-find #"^\s*;=>" text)
                             (conj {:line n :fault "a ;=> outside of a ```clojure block"}))))
      (re-find #"^\s*```\s*$" text)
      (recur more nil
             (cond-> blocks (= "clojure" (:lang open)) (conj [(:line open) (:lines open)]))
             (cond-> faults
               (and (not= "clojure" (:lang open)) (some #(re-find #"^\s*;=>" %) (:lines open)))
               (conj {:line (:line open) :fault "a ;=> outside of a ```clojure block"})))
      :else (recur more (update open :lines conj text) blocks faults))))

(defn- located [path faults]
  (for [{:keys [line fault]} faults] (str path ":" line ": " fault)))

(defn- markdown-faults [file]
  (let [{:keys [blocks faults]} (code-blocks file)]
    (located (:path file)
             (with-fresh-ns [n]
               (into faults (mapcat (fn run [[line lines]] (run-example n line lines))) blocks)))))

;;;; Docstrings

(defn- example-lines
  "Returns the lines of `doc` that are code: paragraphs indented by six or more, four
  beyond the docstring's own two. Other lines are blank, so that numbers stay."
  [doc]
  (->> (str/split-lines doc)
       (reductions (fn step [[_ _ code?] line]
                     (let [blank? (str/blank? line)
                           code? (if blank? nil (if (nil? code?) (boolean (re-find #"^ {6}" line)) code?))]
                       [line (if code? line "") code?]))
                   [nil nil nil])
       rest
       (map second)))

(defn- see-namespace!
  "Lets namespace `n` see the public vars of `seen`, and what `seen` sees by alias."
  [n seen]
  (binding [*ns* n]
    (doseq [public (keys (ns-publics seen))] (ns-unmap n public))
    (refer (ns-name seen))
    (alias (symbol (last (str/split (str (ns-name seen)) #"\."))) (ns-name seen))
    (doseq [[short-name full] (ns-aliases seen)
            :when (not (contains? (ns-aliases n) short-name))]
      (alias short-name (ns-name full)))))

(defn- docstring-faults
  "Returns the faults of the examples in `doc`, which is at `line` of `path` and of namespace `seen`."
  [seen {:keys [doc path line]}]
  (when (some-> doc (str/includes? ";=>"))
    (let [code (example-lines doc)
          count-marks (fn [lines] (count (filter #(str/includes? % ";=>") lines)))]
      (located path
               (concat
                 (when (not= (count-marks code) (count-marks (str/split-lines doc)))
                   [{:line line :fault "a ;=> in a paragraph that is not indented by four"}])
                 (with-fresh-ns [n]
                   (see-namespace! n seen)
                   (doall (run-example n line code))))))))

(defn- namespace-faults [n]
  (let [seen (the-ns n)
        path (str (-> (str n) (str/replace \. \/) (str/replace \- \_)) ".clj")]
    (concat
      (docstring-faults seen {:doc (:doc (meta seen)) :path path :line 2})
      (mapcat (fn [[_ v]]
                (let [{:keys [doc file line]} (meta v)]
                  (docstring-faults seen {:doc doc :line (or line 1)
                                          :path (if file file path)})))
              (sort-by key (ns-publics seen))))))

;;;; The tests

(deftest examples-in-docstrings-hold
  (let [names (project/main-namespaces)]
    (apply require names)
    (is (= [] (mapcat namespace-faults names)))))

(deftest examples-in-readme-and-doc-hold
  (is (= [] (mapcat markdown-faults (project/files ["README.md" "doc" "modules" "apps"] [".md"])))))

(defn- faults-of-text [& lines]
  (markdown-faults {:path "a.md" :text (str/join "\n" lines)}))

(deftest a-wrong-example-is-found-with-its-place
  (is (= ["a.md:4: (f 1) gave 2, but the text says 3"]
         (faults-of-text "```clojure" "(defn f [x] (inc x))" "(f 1)" ";=> 3" "```")))
  (is (= ["a.md:2: threw Divide by zero"]
         (faults-of-text "```clojure" "(/ 1 0)" ";=> 1" "```"))))

(deftest right-examples-pass
  (is (= [] (faults-of-text "```clojure" "(def m {:a 1" "        :b [2]})" "```" "and then"
                            "```clojure" "m" ";=> {:a 1," ";    :b [2]}"
                            "(println :unseen)" ";=> nil" "```"
                            "```sh" "not clojure (" "```"))))

(deftest an-example-that-nothing-would-run-is-found
  (is (= ["a.md:2: a ;=> outside of a ```clojure block"]
         (faults-of-text "(inc 1)" ";=> 3")
         (faults-of-text "```clj" "(inc 1)" ";=> 3" "```")))
  (is (= ["a.md:2: put ;=> on a line of its own"]
         (faults-of-text "```clojure" "(inc 1) ;=> 3" "```")))
  (is (= ["a.clj:9: a ;=> in a paragraph that is not indented by four"]
         (docstring-faults (the-ns 'clojure.string)
                           {:doc "Text.\n\n  (inc 1)\n  ;=> 3" :path "a.clj" :line 9}))))

(deftest a-wrong-docstring-is-found-and-sees-its-namespace
  (let [doc (str "Returns.\n\n  x  a thing\n      of two lines\n\n"
                 "      (blank? \"\")\n      ;=> false\n\n  Text.\n\n      (string/blank? \"\")\n      ;=> true")]
    (is (= ["a.clj:26: (blank? \"\") gave true, but the text says false"]
           (docstring-faults (the-ns 'clojure.string) {:doc doc :path "a.clj" :line 20})))))

(deftest an-example-that-hangs-is-found
  (with-redefs [deadline-ms 50]
    (is (= ["a.md:2: the example does not end"]
           (faults-of-text "```clojure" "@(promise)" ";=> 1" "```")))))
