;; SPDX-License-Identifier: Apache-2.0
(ns skein.widefinder.units
  "Numbers of a result in words: counts, bytes, durations, times.

  - `shown`   a number of a tally's column, for people
  - `size`, `duration`, `clock`   numbers for people
  - `percentage`   a part of 1, for people
  - `missing`   a tally's error, for people
  - `label`   the parts of a key, for people"
  (:require [clojure.string :as str]
            [skein.widefinder.report :as report])
  (:import (java.time LocalDateTime ZoneOffset)
           (java.time.format DateTimeFormatter)
           (java.util Locale)))

(set! *warn-on-reflection* true)

(defn size
  "Returns `n` bytes in the largest unit of 1024 that leaves a number of 1 or more.

      [(size 0) (size 2048) (size 5368709120)]
      ;=> [\"0 B\" \"2.0 KB\" \"5.0 GB\"]"
  [n]
  (loop [[unit & more] [1 1024 1048576 1073741824 1099511627776 1125899906842624]
         [text & texts] ["B" "KB" "MB" "GB" "TB" "PB"]]
    (if (and more (>= (long n) (long (first more))))
      (recur more texts)
      (str (if (= 1 unit) (str n) (report/decimal n unit 1)) " " text))))

(defn duration
  "Returns `micros` microseconds in a fitting unit.

      [(duration 150) (duration 2500) (duration 61000000)]
      ;=> [\"150 us\" \"2.5 ms\" \"61.0 s\"]"
  [micros]
  (cond
    (< (long micros) 1000) (str micros " us")
    (< (long micros) 1000000) (str (report/decimal micros 1000 1) " ms")
    :else (str (report/decimal micros 1000000 1) " s")))

(def ^:private ^DateTimeFormatter clock-format (DateTimeFormatter/ofPattern "uuuu-MM-dd HH:mm:ss"))

(defn clock
  "Returns seconds since 1970 as the log's clock showed them.

      (clock 1431857100)
      ;=> \"2015-05-17 10:05:00\""
  [second]
  (.format (LocalDateTime/ofEpochSecond (long second) 0 ZoneOffset/UTC) clock-format))

(defn shown
  "Returns number `n` of `column` for people; nil is a dash."
  [column n]
  (cond
    (nil? n) "-"
    (not (integer? n)) (String/format Locale/ROOT "%.2f" (object-array [(double n)]))
    (or (= column "bytes") (str/ends-with? column "-bytes")) (size n)
    (or (#{"time" "mean" "slowest"} column) (str/ends-with? column "-time")) (duration n)
    :else (report/grouped n)))

(defn missing
  "Returns a tally's :error for people: of what it is ranked by, or of hits, if that is no sum.

      [(missing {:rank \"bytes\", :error 2048}) (missing {:rank \"p95-time\", :error 2048})]
      ;=> [\"2.0 KB\" \"2,048 hits\"]"
  [{:keys [rank error]}]
  (if (#{"bytes" "time" "slowest"} rank) (shown rank error) (str (report/grouped error) " hits")))

(defn percentage
  "Returns a part of 1 as a percentage.

      (percentage 0.0163)
      ;=> \"1.6 %\""
  [part]
  (String/format Locale/ROOT "%.1f %%" (object-array [(* 100.0 (double part))])))

(defn label
  "Returns the parts of a key as one text for people, without control characters.

      (label [\"example.org\" \"\"])
      ;=> \"example.org  (empty)\""
  [parts]
  (str/join "  " (map (fn part [text] (if (= "" text) "(empty)" (report/printable text))) parts)))
