;; SPDX-License-Identifier: Apache-2.0
(ns lab.figures
  "Turns measurements into tables with ratios.

  * `table`  a table as data
  * `text`   a table for a terminal
  * `legend` explains its signs
  * `value`  one figure"
  (:require
   [clojure.string :as str])
  (:import
   (java.math MathContext RoundingMode)))

(set! *warn-on-reflection* true)

(defn value
  "Returns the figure at `row` and `column` as a double, or nil if there is none, or a wrong one."
  [measurements row column]
  (some #(when (and (= row (:row %)) (= column (:column %)) (not (:error %))) (some-> (:value %) double))
        measurements))

(defn digits
  "Returns a number with three significant digits.

      (map digits [1234.5 12.34 0.1234])
      ;=> (\"1230\" \"12.3\" \"0.123\")"
  [x]
  (let [rounded (.round (bigdec x) (MathContext. 3))
        scale (- 3 (- (.precision rounded) (.scale rounded)))]
    (if (zero? (.signum rounded))
      "0"
      (.toPlainString (.setScale rounded (max 0 scale) RoundingMode/HALF_UP)))))

(defn duration
  "Returns a figure of nanoseconds or milliseconds, in the unit that reads best.

      (map #(duration % \"ns\") [56.7 12345678])
      ;=> (\"56.7 ns\" \"12.3 ms\")"
  [x unit]
  (let [ns (if (= "ms" unit) (* 1e6 (double x)) (double x))]
    (cond (< ns 1e4) (str (digits ns) " ns")
          (< ns 1e6) (str (digits (/ ns 1e3)) " µs")
          :else (str (digits (/ ns 1e6)) " ms"))))

(defn ratio
  "Returns a / b as text, such as ×2.50, or nil."
  [a b]
  (when (and a b (pos? (double b))) (str "×" (digits (/ (double a) (double b))))))

(defn- base-value [{:keys [base]} measurements {:keys [row column]}]
  (let [base-row (:row base row)
        base-column (:column base column)]
    (when-not (and (= base-row row) (= base-column column))
      (value measurements base-row base-column))))

(defn- speed-up [{{:keys [row column]} :serial} measurements m]
  (when-let [serial (and row (:cores m) (value measurements row column))]
    (when-not (and (= row (:row m)) (= column (:column m)))
      (str "s" (digits (/ (double serial) (double (:value m))))))))

(defn- once?
  "Returns whether all figures are of a single run."
  [measurements]
  (every? #{1} (keep :runs measurements)))

(defn- cell [experiment measurements mark-once? m]
  (let [{:keys [unit text error threads runs]} m]
    (cond
      (nil? m) {:text ""}
      error {:text error, :error? true}
      text {:text text}
      :else {:text (duration (:value m) unit)
             :beside (vec (remove nil? [(ratio (:value m) (base-value experiment measurements m))
                                        (when (and threads (:threads? experiment)) (str "+" threads "t"))
                                        (speed-up experiment measurements m)
                                        (when (and mark-once? (= 1 runs)) "once")]))})))

(defn table
  "Returns a table of an experiment: {:columns [title], :rows [{:row title, :published text, :cells [cell]}]}, where a cell is
  {:text, :beside [text] of a figure, :error? or nil}; `legend` says what stands beside."
  [experiment measurements]
  (let [columns (distinct (map :column measurements))
        mark-once? (not (once? measurements))
        at (into {} (map (juxt (juxt :row :column) identity)) measurements)]
    {:columns (vec columns)
     :rows (vec (for [row (distinct (map :row measurements))]
                  {:row row
                   :published (get (:published experiment) row "")
                   :cells (mapv #(cell experiment measurements mark-once? (at [row %])) columns)}))}))

(defn- cell-text [{:keys [text beside]}]
  (str/join " " (cons text beside)))

(defn legend
  "Returns a sentence that explains the signs beside the figures."
  [{:keys [base threads? serial]} measurements]
  (str "× is how many times as long as " (or (:column base) (:row base))
       (when threads? "; +t is how many platform threads the process had at most, more than at its start")
       (when serial (str "; s is the speed-up over serial, on " (some :cores measurements) " cores"))
       (cond (once? measurements) "; each figure is of one run"
             (some #{1} (keep :runs measurements)) "; once marks the figure of a single run, which takes long")
       "."))

(defn text
  "Returns a table of an experiment as lines."
  [experiment measurements]
  (let [{:keys [columns rows]} (table experiment measurements)
        lines (cons (concat ["" "published"] columns)
                    (for [{:keys [row published cells]} rows] (concat [row published] (map cell-text cells))))
        widths (apply map (fn [& texts] (apply max (map count texts))) lines)
        pad (fn [width s] (str s (apply str (repeat (- (long width) (count s)) " "))))]
    (map #(str/trimr (str/join "  " (map pad widths %))) lines)))
