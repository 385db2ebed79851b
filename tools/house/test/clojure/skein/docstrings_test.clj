;; SPDX-License-Identifier: Apache-2.0
(ns skein.docstrings-test
  "Everything public is documented, in Markdown that the pages of the API show as intended."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- namespace-faults
  "Returns faults for what lacks a docstring in the loaded namespace `n`: the namespace, or a public var, including
  macros, protocols and methods of protocols."
  [n]
  (concat
    (when (str/blank? (:doc (meta (the-ns n))))
      [(str n ": the namespace has no docstring")])
    (for [[_ v] (sort-by key (ns-publics n))
          :let [{:keys [doc file line]} (meta v)]
          :when (and (str/blank? doc)
                     (not (str/includes? (name (symbol v)) ".proxy$")))] ; `proxy` leaves a var for its class
      (str file ":" line ": " (symbol v) " has no docstring"))))

(def ^:private type-declaration
  #"\s*(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp)\s+)*(?:class|interface|enum|record|@interface)\s+([A-Z]\w*).*")

(defn- without-annotations
  "Returns the text without the annotations at its end, which may have several lines."
  [text]
  (let [shorter (str/replace text #"\s*@\w+(?:\((?:[^()\"]|\"[^\"]*\")*\))?\s*$" "")]
    (if (= shorter text) text (recur shorter))))

(defn- documented?
  "Returns whether a Javadoc comment ends just above a line, given the lines above it, last first."
  [lines-above]
  (let [text (->> (take 300 lines-above) reverse (str/join "\n") without-annotations str/trimr)]
    (boolean (and (str/ends-with? text "*/")
                  (str/starts-with? (subs text (str/last-index-of text "/*")) "/**")))))

(defn- java-faults
  "Returns the types of a Java file that lack Javadoc; for package-info.java, the package."
  [file]
  (let [texts (mapv second (project/lines file))]
    (for [[i text] (map-indexed vector texts)
          :let [[_ type] (or (re-matches type-declaration text)
                             (when (str/ends-with? (:path file) "package-info.java")
                               (re-matches #"package ([a-z.]+);" text)))]
          :when (and type (not (documented? (rseq (subvec texts 0 i)))))]
      (str (:path file) ":" (inc (long i)) ": " type " has no Javadoc"))))

(deftest everything-public-has-a-docstring
  (let [names (project/main-namespaces)]
    (apply require names)
    (is (= [] (mapcat namespace-faults names)))))

(deftest a-missing-docstring-is-found
  (let [n (create-ns 'skein.docstrings-test.bare)]
    (intern n (with-meta 'shown {:line 7 :file "bare.clj"}) 1)
    (intern n (with-meta 'hidden {:private true}) 1)
    (intern n (with-meta 'told {:doc "Says it."}) 1)
    (is (= ["skein.docstrings-test.bare: the namespace has no docstring"
            "bare.clj:7: skein.docstrings-test.bare/shown has no docstring"]
           (namespace-faults (ns-name n))))
    (remove-ns (ns-name n))))

;;;; Docstrings as Markdown

(def ^:private item #"^ *[*-] +\S")

(defn- in-list?
  "Returns whether a block of a docstring, which has no empty line, ends in a list."
  [block]
  (boolean (some->> (str/split-lines block) (remove #(str/starts-with? % "    ")) last (re-find item))))

(defn- markdown-faults
  "Returns the parts of a docstring that a page of the API would not show as intended. There a docstring loses the indentation that
  all of its lines but the first have, and indented text after a list belongs to the list."
  [doc]
  (let [[text & more :as blocks] (str/split doc #"\n\n")
        code? (fn [block] (str/starts-with? block "      "))
        prose (map #(str/replace % #"`[^`]*`" "") (remove code? blocks))]
    (concat
      (when (some #(re-find #"\*[a-z-]+\*" %) prose)
        ["a name in asterisks, which needs backticks"])
      (when (some #(re-find #"\[.*\]" %) prose)
        ["a vector, which would be a link and needs backticks"])
      (when (and (some code? more) (not (str/includes? text "\n")) (every? code? more))
        ["an example after a single line"])
      (when (some (fn [[before block]] (and (code? block) (in-list? before))) (partition 2 1 blocks))
        ["an example after a list"])
      (when (some (fn [[line & lines]] (and (not (re-find item line)) (some #(re-find item %) lines)))
                  (map str/split-lines (remove code? blocks)))
        ["a list without an empty line before it"]))))

(deftest docstrings-are-markdown
  (apply require (project/main-namespaces))
  (is (= [] (for [n (project/main-namespaces)
                  :when (not (or (:no-doc (meta (the-ns n))) (re-find #"\.impl|^skein\.(wf|cli)\b|^lab\." (str n)))) ; programs have no API
                  x (cons (the-ns n) (vals (ns-publics n)))
                  :let [{:keys [doc no-doc]} (meta x)]
                  :when (and doc (not no-doc))
                  fault (markdown-faults doc)]
              [x fault]))))

(deftest docstrings-that-are-no-markdown-are-found
  (let [example "\n\n      (f)\n      ;=> 1"]
    (is (= ["an example after a single line"] (markdown-faults (str "Returns 1." example))))
    (is (= ["an example after a list"] (markdown-faults (str "Returns 1.\n\n  - x  a number,\n       or nil" example "\n\n  Throws."))))
    (is (= ["a list without an empty line before it"] (markdown-faults "Returns 1.\n\n  options, a map:\n  - :x  a number")))
    (is (= ["a name in asterisks, which needs backticks"] (markdown-faults "Prints to *out*.")))
    (is (= ["a vector, which would be a link and needs backticks"] (markdown-faults "Returns [value port]."))))
  (is (= [] (markdown-faults "Prints to `*out*`,\n  or f*.\n\n      (f *out* 1)\n\n  - x\n\n  Throws."))))

(deftest every-java-type-has-javadoc
  (is (= [] (mapcat java-faults (project/java-files)))))

(deftest missing-javadoc-is-found
  (is (= ["A.java:2: A has no Javadoc" "A.java:8: C has no Javadoc"]
         (java-faults {:path "A.java"
                       :text (str/join "\n" ["/* no Javadoc */" "public final class A {"
                                             "  /** Does." "   * More. */" "  @Deprecated"
                                             "  record B(int i) {}" "  // of class"
                                             "  private interface C {}" "}"])})))
  (is (= ["package-info.java:1: skein.rt has no Javadoc"]
         (java-faults {:path "package-info.java" :text "package skein.rt;"}))))
