;; SPDX-License-Identifier: Apache-2.0
;; ./skein tour [--go]
(ns tour.run
  "Shows a Clojure file step by step: prints the text of a step and its code, runs the code, and prints its value. A step begins
  with a comment of three semicolons, its title. The comment below it is its text."
  (:require
   [clojure.string :as str])
  (:import
   (clojure.lang LineNumberingPushbackReader)
   (java.io Reader StringReader)))

(set! *warn-on-reflection* true)

(def ^:private file "examples/tour.clj")

(def ^:private help
  "Shows in a minute what Skein does, in seven steps. It prints and runs the code of each.

usage: skein tour [--go]

  --go     run through, without stops
  --help   this text

On a terminal it stops before it runs the code of a step, and before the next step, until you press Enter. So each page fits 24 lines.
To end the tour, press q and Enter. In a pipe it runs through.
The code is examples/tour.clj: change it, and run the tour again.
")

(defn- comment-text [line] (str/replace line #"^;+ ?" ""))

(defn- title? [[_ line]] (str/starts-with? line ";;; "))
(defn- said? [[_ line]] (str/starts-with? line ";; "))
(defn- blank? [[_ line]] (str/blank? line))

(defn- step-of [[title & lines]]
  (let [[said code] (split-with said? lines)
        code (drop-while blank? (reverse (drop-while blank? (reverse code))))]
    {:title (comment-text (second title))
     :said (map (comp comment-text second) said)
     :line (ffirst code)
     :code (map second code)}))

(defn- steps
  "Returns the steps of the program `text`, maps of :title, :said and :code, lists of lines, and :line, the number of the first
  line of code. The code before the first title is a step without a title."
  [text]
  (let [numbered (map vector (rest (range)) (str/split-lines text))
        [before after] (split-with (complement title?) numbered)]
    (cons (step-of (cons [0 ""] before))
          (loop [lines after, steps []]
            (if-some [[title & more] (seq lines)]
              (let [[own others] (split-with (complement title?) more)]
                (recur others (conj steps (step-of (cons title own)))))
              steps)))))

(defn- evaluate
  "Evaluates the code of a step in the current namespace, with the file's line numbers. Returns the value of its last form."
  [{:keys [code line]}]
  (let [in (LineNumberingPushbackReader. (StringReader. (str/join "\n" code)))]
    (.setLineNumber in line)
    (binding [*file* file, *source-path* "tour.clj"]
      (loop [value nil]
        (let [form (read {:eof in} in)]
          (if (identical? in form) value (recur (eval form))))))))

(defn- shown [value]
  (if (var? value) nil (str ";=> " (pr-str value))))

(defn- show-code [{:keys [title said code]} i n]
  (println (str i "/" n "  " title "\n"))
  (run! println said)
  (println)
  (doseq [line code] (println (str "    " line))))

(defn- show-result [step]
  (some-> (shown (evaluate step)) println)
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
  (let [[before & all] (steps (slurp file))]
    (binding [*ns* *ns*, *warn-on-reflection* false]
      (evaluate before)
      (println)
      (loop [i 1, [step & more] all]
        (show-code step i (count all))
        (when (next? "run it")
          (show-result step)
          (when (and more (next? "the next step")) (recur (inc i) more)))))
    (println "\nThe code is examples/tour.clj. Where to go from here: README.md, and ./skein repl.")))

(let [arguments (set *command-line-args*)
      terminal? (Boolean/getBoolean "skein.stdout.terminal")]
  (cond
    (contains? arguments "--help") (print help)
    (seq (disj arguments "--go"))
    (do (binding [*out* *err*] (println "skein tour: takes --go or --help, not" (str/join " " (sort (disj arguments "--go")))))
        (System/exit 2))
    :else (run (if (and terminal? (not (contains? arguments "--go"))) wait-for-enter (fn go-on [_] (println) true))))
  (flush))
