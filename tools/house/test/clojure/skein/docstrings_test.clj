;; SPDX-License-Identifier: Apache-2.0
(ns skein.docstrings-test
  "Everything public is documented, in Markdown that the pages of the API show as intended."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- public-things
  "Returns the main namespaces and their public vars."
  []
  (let [names (project/main-namespaces)]
    (apply require names)
    (mapcat (fn [n] (cons (the-ns n) (vals (ns-publics n)))) names)))

(deftest everything-public-has-a-docstring
  (is (= [] (remove #(or (:doc (meta %)) (str/includes? (str %) ".proxy$")) ; `proxy` leaves a var for its class
                    (public-things)))))

(def ^:private declaration
  "A declaration of a type, or of a package in package-info.java. Matches with the Javadoc and
  annotations before it, if there are any."
  (let [modifiers "(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp)\\s+)*"
        annotation "@\\w+(?:\\((?:[^()\"]|\"[^\"]*\")*\\))?\\s*"]
    (re-pattern (str "(?m)(/\\*\\*[^*]*+(?:\\*(?!/)[^*]*+)*+\\*/\\s*)?^[ \\t]*(?:" annotation ")*"
                     "(?:" modifiers "(?:class|interface|enum|record|@interface)\\s+([A-Z]\\w*)|package ([a-z.]+);)"))))

(defn- without-javadoc
  "Returns the types that a Java file declares without Javadoc; for package-info.java, the package."
  [{:keys [path text]}]
  (for [[_ javadoc type package] (re-seq declaration text)
        :when (and (not javadoc) (or type (str/ends-with? path "package-info.java")))]
    (str path ": " (or type package))))

(deftest every-java-type-has-javadoc
  (is (= [] (mapcat without-javadoc (project/files ["modules" "apps" "tools"] [".java"]))))
  (is (= ["A.java: A" "A.java: C"]
         (without-javadoc {:path "A.java"
                           :text (str "/* no Javadoc */\npublic final class A {\n"
                                      "  /** Does.\n   * More. */\n  @Deprecated\n  record B(int i) {}\n"
                                      "  // of class\n  private interface C {}\n}")})))
  (is (= ["package-info.java: skein.rt"]
         (without-javadoc {:path "package-info.java" :text "package skein.rt;"}))))

;;;; Docstrings as Markdown

(def ^:private item #"^ *[*-] +\S")

(defn- code? [paragraph] (str/starts-with? paragraph "      "))

(defn- ends-in-list? [paragraph]
  (boolean (some->> (str/split-lines paragraph) (remove #(str/starts-with? % "    ")) last (re-find item))))

(defn- continues-in-list? [paragraph]
  (let [[line & lines] (str/split-lines paragraph)]
    (and (not (re-find item line)) (some #(re-find item %) lines))))

(defn- markdown-faults
  "Returns the parts of a docstring that a page of the API would not show as intended. There a
  docstring loses the indentation that all of its lines but the first have, and indented text after
  a list belongs to the list."
  [doc]
  (let [[text & more :as paragraphs] (str/split doc #"\n\n")
        prose (remove code? paragraphs)
        words (map #(str/replace % #"`[^`]*`" "") prose)]
    (keep (fn [[fault found?]] (when found? fault))
          {"a name in asterisks, which needs backticks" (some #(re-find #"\*[a-z-]+\*" %) words)
           "a vector, which would be a link and needs backticks" (some #(re-find #"\[.*\]" %) words)
           "an example after a single line" (and (seq more) (every? code? more) (not (str/includes? text "\n")))
           "an example after a list" (some (fn [[before after]] (and (code? after) (ends-in-list? before)))
                                           (partition 2 1 paragraphs))
           "a list without an empty line before it" (some continues-in-list? prose)})))

(def ^:private of-programs "Namespaces that have no page." #"^skein\.(wf|cli)\b|^lab\.")

(deftest docstrings-are-markdown
  (is (= [] (for [x (public-things)
                  :let [{n :ns, :keys [doc no-doc] :or {n x}} (meta x)]
                  :when (and doc (not no-doc) (not (:no-doc (meta n))) (not (re-find of-programs (str n))))
                  fault (markdown-faults doc)]
              [x fault])))
  (let [example "\n\n      (f)\n      ;=> 1"]
    (is (= [["an example after a single line"]
            ["an example after a list"]
            ["a list without an empty line before it"]
            ["a name in asterisks, which needs backticks"]
            ["a vector, which would be a link and needs backticks"]
            []]
           (map markdown-faults [(str "Returns 1." example)
                                 (str "Returns 1.\n\n  - x  a number,\n       or nil" example "\n\n  Throws.")
                                 "Returns 1.\n\n  options, a map:\n  - :x  a number"
                                 "Prints to *out*."
                                 "Returns [value port]."
                                 "Prints to `*out*`,\n  or f*.\n\n      (f *out* 1)\n\n  - x\n\n  Throws."])))))
