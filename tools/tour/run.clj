;; SPDX-License-Identifier: Apache-2.0
;; ./skein tour [--go]
(ns tour.run
  "Shows parts of doc/walkthrough.md as steps: prints the text and the code of a step, runs the code, and prints its value. A step
  is a block of code marked `tour`. Its title is the heading above it, its text the paragraph above it. A block marked
  `tour-setup` is run first, and not shown."
  (:require
   [clojure.string :as str])
  (:import
   (clojure.lang LineNumberingPushbackReader)
   (java.io Reader StringReader)))

(set! *warn-on-reflection* true)

(def ^:private file "doc/walkthrough.md")

(def ^:private help
  "Shows in a minute what Skein does, in seven steps. It prints the code of each step, and runs it.

usage: skein tour [--go]

  --go     run through without stopping
  --help   this text

On a terminal it stops before it runs a step, and again before the next one, until you press Enter. So each page fits 24 lines.
To end the tour, press q and Enter. In a pipe it runs through.
The code is in doc/walkthrough.md, in the blocks marked tour: change it, and run the tour again.
")

(defn- mark
  "Returns the mark of the block that `line` opens, or nil."
  [line]
  (second (re-matches #"```clojure (tour|tour-setup)" line)))

(defn- blocks
  "Returns the marked blocks of the Markdown `text`, maps of :mark, :title, :said and :code, lists of lines, and :line, the number
  of the first line of code."
  [text]
  (loop [[[n line] & more] (map vector (rest (range)) (str/split-lines text)), title nil, said [], found []]
    (cond
      (nil? n) found
      (mark line) (let [[code [_ & after]] (split-with #(not= "```" (second %)) more)]
                    (recur after title []
                           (conj found {:mark (mark line) :title title :said said :line (inc (long n)) :code (map second code)})))
      (str/starts-with? line "#") (recur more (str/replace line #"^#+ " "") [] found)
      (and (str/blank? line) (not (mark (str (second (first more)))))) (recur more title [] found)
      (str/blank? line) (recur more title said found)
      :else (recur more title (conj said line) found))))

(defn- evaluate
  "Evaluates the code of a block in the current namespace, with the file's line numbers. Returns the value of its last form."
  [{:keys [code line]}]
  (let [in (LineNumberingPushbackReader. (StringReader. (str/join "\n" code)))]
    (.setLineNumber in line)
    (binding [*file* file, *source-path* "walkthrough.md", *err* *out*]
      (loop [value nil]
        (let [form (read {:eof in} in)]
          (if (identical? in form) value (recur (eval form))))))))

(defn- wrapped
  "Returns the words of `lines` in lines of at most 78 characters."
  [lines]
  (->> (str/split (str/join " " lines) #" ")
       (reduce (fn fill [done word]
                 (let [longer (str (peek done) " " word)]
                   (if (< 78 (count longer)) (conj done word) (conj (pop done) (str/triml longer)))))
               [""])))

(defn- show-code [{:keys [title said code]} i n]
  (println (str i "/" n "  " title "\n"))
  (run! println (wrapped said))
  (println)
  (doseq [line code :when (not (str/starts-with? line ";"))] (println (str "    " line)))) ; the text's values, not those of this run

(defn- show-result [step]
  (println (str ";=> " (pr-str (evaluate step))))
  (flush))

(defn- wait-for-enter
  "Asks whether to do `what`. Ignores what was typed before the question. Returns whether to continue."
  [what]
  (while (.ready ^Reader *in*) (.read ^Reader *in*))
  (print (str "\n[Enter: " what ", q: the end] "))
  (flush)
  (not (contains? #{nil "q" "quit"} (some-> (read-line) str/trim str/lower-case))))

(defn- run
  "Shows all steps. Before it runs a step, and before each further step, it calls `next?`, and stops unless that returns true."
  [next?]
  (let [{setup "tour-setup", all "tour"} (group-by :mark (blocks (slurp file)))]
    (binding [*ns* (create-ns 'shop), *warn-on-reflection* false]
      (refer-clojure)
      (run! evaluate setup)
      (loop [i 1, [step & more] all]
        (println)
        (show-code step i (count all))
        (when (next? "run it")
          (show-result step)
          (when (and more (next? "the next step")) (recur (inc i) more)))))
    (println "\nThis code is in doc/walkthrough.md, which goes on to a small service.\nWhere to go from here: README.md, and ./skein repl.")))

(let [arguments (set *command-line-args*)
      terminal? (Boolean/getBoolean "skein.stdout.terminal")]
  (cond
    (contains? arguments "--help") (print help)
    (seq (disj arguments "--go"))
    (do (binding [*out* *err*] (println "skein tour: takes --go or --help, not" (str/join " " (sort (disj arguments "--go")))))
        (System/exit 2))
    :else (run (if (and terminal? (not (contains? arguments "--go"))) wait-for-enter (fn go-on [what] (when (= "run it" what) (println)) true))))
  (flush))
