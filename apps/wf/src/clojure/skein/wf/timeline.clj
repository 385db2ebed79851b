;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.timeline
  "Tallies over time without gaps: a step in which nothing happened is a row of zeros, because a plot without it would mislead.

  - `filled`   rows in the order of time -> rows, one for each step between the first and the last
  - `gaps?`    whether some are missing after that
  - `hours`    rows by hour of the day -> rows, one for each hour
  - `coarse`   rows by minute -> few enough rows for a plot"
  (:require
   [clojure.string :as str])
  (:import
   (java.time LocalDate LocalDateTime ZoneOffset)
   (java.time.format DateTimeFormatter)))

(set! *warn-on-reflection* true)

(def ^:const max-rows
  "The most rows for which empty ones are added. For the seconds of a year, only those with lines are shown."
  10000)

(defn- seconds-of
  "Returns the start of the step that a key such as \"2025-03-01\" or \"2025-03-01 12:00\" names."
  ^long [^String text]
  (.toEpochSecond (if (= 10 (count text))
                    (.atStartOfDay (LocalDate/parse text))
                    (LocalDateTime/parse (str/replace text " " "T")))
                  ZoneOffset/UTC))

(defn- key-format
  "Returns the format in which the engine writes the start of a step of `step` seconds."
  ^DateTimeFormatter [^long step]
  (DateTimeFormatter/ofPattern (cond (zero? (rem step 86400)) "uuuu-MM-dd"
                                     (zero? (rem step 60)) "uuuu-MM-dd HH:mm"
                                     :else "uuuu-MM-dd HH:mm:ss")))

(defn- by-key [rows]
  (into {} (map (juxt :key identity)) rows))

(defn hours
  "Returns `rows` by hour of the day, with `empty-numbers` for missing hours. Returns no rows if there are none."
  [rows empty-numbers]
  (let [known (by-key rows)]
    (if (seq rows)
      (mapv (fn row [hour] (let [k [(format "%02d" hour)]] (known k {:key k, :numbers empty-numbers}))) (range 24))
      rows)))

(defn- steps
  "Returns how many steps of `step` seconds there are from the first to the last of `rows`."
  ^long [rows ^long step]
  (if-let [first-key (first (:key (first rows)))]
    (inc (quot (- (seconds-of (first (:key (peek rows)))) (seconds-of first-key)) step))
    0))

(defn gaps?
  "Returns whether `filled` leaves gaps in `rows`, because there would be more than `max-rows`."
  [rows step]
  (let [steps (steps rows step)]
    (and (> steps (long max-rows)) (< (count rows) steps))))

(def ^:private minutes
  "The steps of a plot."
  [1 5 10 30 60 180 360 720 1440 (* 7 1440) (* 28 1440)])

(defn coarse
  "Returns `rows` by minute, in the order of time, as [step rows]: added up in steps of `step` seconds, without gaps. There are at most
  `most` steps, or some more if they span many years. Only the first two numbers, hits and bytes, are kept.

      (second (coarse [{:key [\"2025-03-01 00:07\"], :numbers [1 10]} {:key [\"2025-03-01 00:11\"], :numbers [2 20]}] 2))
      ;=> [{:key [\"2025-03-01 00:05\"], :numbers [1 10]} {:key [\"2025-03-01 00:10\"], :numbers [2 20]}]"
  [rows most]
  (let [at (fn at [row] (seconds-of (first (:key row))))
        start (at (first rows))
        end (at (peek rows))
        place (fn place [second step] (- (long second) (long (mod (long second) (long step)))))
        step (* 60 (long (or (some #(when (<= (quot (- (long (place end (* 60 (long %)))) (long (place start (* 60 (long %))))) (* 60 (long %))) (dec (long most))) %) minutes)
                             (peek minutes))))
        text (key-format step)
        sums (reduce (fn add [sums {[hits bytes] :numbers :as row}] (update sums (place (at row) step) (fnil (partial mapv +) [0 0]) [hits bytes])) {} rows)]
    [step (mapv (fn row [second] {:key [(.format (LocalDateTime/ofEpochSecond second 0 ZoneOffset/UTC) text)], :numbers (sums second [0 0])})
            (range (place start step) (inc (long (place end step))) step))]))

(defn filled
  "Returns `rows`, {:key [text], :numbers [n ...]} in the order of time, with `empty-numbers` for each step of `step` seconds that is
  missing between the first and the last; as they are, when that would be more than `max-rows`.

      (map :key (filled [{:key [\"2025-03-01\"]} {:key [\"2025-03-03\"]}] 86400 [0]))
      ;=> ([\"2025-03-01\"] [\"2025-03-02\"] [\"2025-03-03\"])"
  [rows step empty-numbers]
  (let [first-second (some-> (first rows) :key first seconds-of)
        steps (steps rows step)]
    (if (< (count rows) (long steps) (inc (long max-rows)))
      (let [text (key-format step)
            known (by-key rows)]
        (mapv (fn row [i]
                (let [second (+ (long first-second) (* (long i) (long step)))
                      k [(.format (LocalDateTime/ofEpochSecond second 0 ZoneOffset/UTC) text)]]
                  (known k {:key k, :numbers empty-numbers})))
              (range steps)))
      rows)))
