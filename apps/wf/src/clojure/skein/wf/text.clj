;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.text
  "A result of `skein.wf.analysis` for people, in a terminal.

  - `text`      result -> string
  - `head-lines`, `tally-lines`   parts of it
  - `summary`   result -> the line about lines, bytes and speed
  - `mostly-malformed`  result -> a sentence, or nil
  - `notes`     result -> lines about formats and lines that are in none"
  (:require
   [clojure.string :as str]
   [skein.wf.units :as units]))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(def ^:private bar-chars 16)

(def ^:private codes
  {:bold "\u001B[1m", :dim "\u001B[2m", :bar "\u001B[36m", :reset "\u001B[0m"})

(defn- styled [color? style text]
  (if color? (str (codes style) text (codes :reset)) text))

(defn- left [^String text ^long width]
  (str (.repeat " " (int (max 0 (- width (.length text))))) text))

(defn- cut [^String text ^long max-chars]
  (if (> (.length text) max-chars) (str (subs text 0 max-chars) "...") text))

(defn- key-chars
  "Returns how many characters of a key fit in a line of `width` columns. If that is nil, there is no limit."
  [width widths]
  (if width
    (max 8 (- (long width) 3 2 (long bar-chars) 2 (long (reduce + (map #(+ 2 (long %)) widths)))))
    Integer/MAX_VALUE))

(defn bar
  "Returns a bar of at most `width` characters for `n` of `most`, in eighths of a character.

      (bar 5 10 4)
      ;=> \"██\""
  [n most width]
  (let [eighths (if (pos? (double most)) (long (Math/round (/ (* 8.0 (long width) (double n)) (double most)))) 0)
        rest (rem eighths 8)]
    (str (.repeat "█" (int (quot eighths 8)))
         (when (pos? rest) (nth "▏▎▍▌▋▊▉" (dec rest))))))

(defn- padded-bar [n most]
  (let [^String text (bar n most bar-chars)]
    (str text (.repeat " " (int (- (long bar-chars) (.length text)))))))

(defn- column-widths [{:keys [columns rows] :as tally}]
  (map (fn width [i column ^String title]
         (reduce (fn widest [^long n row] (max n (count (units/shown column (nth (:numbers row) i)))))
                 (count title)
                 rows))
       (range) columns (units/titles tally)))

(defn without-key
  "Returns a sentence that says how many lines have no key of a tally, or nil if none has."
  [{:keys [by lines-without-key]}]
  (when lines-without-key
    (str (units/grouped lines-without-key) (if (= 1 lines-without-key) " counted line has no " " counted lines have no ")
         (str/join " or " (map #(str/replace % #"^every-\d+$" "time") by)))))

(defn without-duration
  "Returns a sentence that says how many lines of a tally have no duration, or nil if all have one, or if it does not add them up."
  [{:keys [lines-without-duration]}]
  (when lines-without-duration
    (str (units/grouped lines-without-duration) (if (= 1 lines-without-duration) " counted line has" " counted lines have") " no duration")))

(defn- foot [{:keys [error distinct-error] :as tally}]
  (cond-> []
    (without-key tally) (conj (without-key tally))
    (without-duration tally) (conj (without-duration tally))
    error (conj (str "approximate: each row may have up to " (units/missing tally) " more, and its other numbers may be too small, too; a key"
                     " that is not shown has at most that much, or less than the last row"))
    distinct-error (conj (str "distinct is an estimate, with a standard error of " (units/percentage distinct-error)))))

(defn- heading [{:keys [title rank] :as tally} color?]
  (str (styled color? :bold title) "  "
       (styled color? :dim (str (units/extent tally) (when-not (= rank "hits") (str ", by " rank))))))

(defn tally-lines
  "Returns a tally's lines: an empty one, its title, the names of its columns, its rows. `color?` and `width` as for `text`."
  [{:keys [columns rows rank] :as tally} color? width]
  (let [widths (column-widths tally)
        ranked (max 0 (.indexOf ^java.util.List columns rank))
        value (fn value [row] (double (or (nth (:numbers row) ranked) 0)))
        most (reduce max 0.0 (map value rows))
        cells (fn cells [texts] (str/join "  " (map left texts widths)))
        line (fn line [{:keys [key numbers] :as row}]
               (str "  " (cells (map units/shown columns numbers)) "  "
                    (styled color? :bar (padded-bar (value row) most)) "  " (cut (units/label key) (key-chars width widths))))]
    (concat ["" (heading tally color?) (styled color? :dim (str "  " (cells (units/titles tally))))]
            (if (seq rows) (map line rows) ["  none"])
            (map #(str "  " %) (foot tally)))))

(defn- lines-text
  "Returns a number of lines for people."
  [n]
  (str (units/grouped n) (if (= 1 n) " line" " lines")))

(defn- head-line [{:keys [lines counted filtered filtered-as malformed bytes] :or {filtered-as "filtered"}}]
  (str (lines-text lines) ": " (units/grouped counted) " counted, " (units/grouped filtered) " " filtered-as ", "
       (units/grouped malformed) " malformed; " (units/size bytes) " sent"))

(defn head-lines
  "Returns the lines about a result as a whole: how many lines there were, and from when to when."
  [{:keys [seconds] :as result}]
  (let [[from to] seconds]
    (cond-> [(head-line result)]
      seconds (conj (str "from " (units/clock from) " to " (units/clock to))))))

(defn text
  "Returns a result for people: what was counted, then each tally, aligned, with bars. `color?` is for terminals, and so is
  `width`, the columns that a line may take; without it, no key is cut."
  ([result color?] (text result color? nil))
  ([{:keys [tallies] :as result} color? width]
   (str (str/join "\n" (concat (head-lines result) (mapcat #(tally-lines % color? width) tallies))) "\n")))

(defn summary
  "Returns the line that goes with a result: lines, counted, filtered (or what the result calls them), malformed, bytes,
  seconds, and the speed."
  [{:keys [lines counted filtered filtered-as malformed bytes-read elapsed-ns] :or {filtered-as "filtered"}}]
  (str (lines-text lines) ": " (units/grouped counted) " counted, " (units/grouped filtered) " " filtered-as ", "
       (units/grouped malformed) " malformed; " (units/grouped bytes-read) " bytes read in "
       (units/decimal elapsed-ns 1000000000 3) " s, " (units/speed bytes-read elapsed-ns)))

(defn format-notes
  "Returns a line for each format that was found: its name, the inputs, and how many of the lines that were tried are in it."
  [formats]
  (for [{:keys [name inputs lines matches]} formats]
    (str "format " name ": " (str/join ", " (take 3 inputs))
         (when (> (count inputs) 3) (str " and " (- (count inputs) 3) " more"))
         (when (pos? (long lines)) (str " (" matches " of " (lines-text lines) " tried)")))))

(defn gap-notes
  "Returns a line for each tally over time that has so many steps that those without lines are left out."
  [{:keys [tallies]}]
  (for [{:keys [title gaps?]} tallies
        :when gaps?]
    (str title ": steps without lines are left out, because there are too many steps")))

(defn tally-notes
  "Returns, with the titles of the tallies, the sentences that `text` puts below their rows."
  [{:keys [tallies]}]
  (for [{:keys [title] :as tally} tallies, sentence (foot tally)]
    (str title ": " sentence)))

(defn mostly-malformed
  "Returns a sentence if more than half of the lines are malformed, otherwise nil. Then the log is probably the wrong one, or was read in
  the wrong format."
  [{:keys [lines malformed]}]
  (when (> (* 2 (long malformed)) (long lines))
    (str "more than half of the lines are malformed: " (units/grouped malformed) " of " (units/grouped lines)
         "; is it a log of a web server, and was it read in its own format? (--log-format names it, --malformed FILE writes those lines)")))

(defn none-note
  "Returns a line on why no line was counted, or nil if some were. If a condition is on the time, the line says when the lines of the log
  are. For JSON in which no time was found, it says how to name its field."
  [{:keys [counted filtered where formats] [from to] :filtered-seconds}]
  (when (and (zero? (long counted)) (seq where) (pos? (long filtered)))
    (cond
      (not-any? (comp #{:from :to} first) where) (str "no line was counted; the conditions left out " (lines-text filtered))
      from (str "no line was counted; the lines of the log are from " (units/clock from) " to " (units/clock to) ", on the log's own clock")
      (some #(re-find #"(^|:)json" (:name %)) formats)
      "no line was counted; if the time is in a field of another name, give its path, as in --log-format json:time=PATH")))

(defn malformed-note
  "Returns a line about malformed lines by kind, or nil if there are none. `path` is the file to which they were written, or nil."
  [{:keys [^long malformed malformed-kinds]} path]
  (when (pos? malformed)
    (str (units/grouped malformed)
         (if (= 1 malformed) " malformed line, by the field at which it departs" " malformed lines, by the field at which they depart")
         " from the format: "
         (str/join ", " (map (fn kind [[k n]] (str k " " (units/grouped n))) (sort-by (comp - val) malformed-kinds)))
         (if path (str " (" path " has them)") " (--malformed FILE writes them)"))))
