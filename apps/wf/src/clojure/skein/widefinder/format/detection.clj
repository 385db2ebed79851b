;; SPDX-License-Identifier: Apache-2.0
(ns skein.widefinder.format.detection
  "Finds out in which format a log is, from its first lines.

  - `detect`   bytes -> format, with how many of the first lines it fits"
  (:require [skein.impl.error :as error]
            [skein.widefinder.format :as format]
            [skein.widefinder.units :as units])
  (:import (skein.wf Trial Trial$Outcome)))

(set! *warn-on-reflection* true)

(def ^:const sample-lines
  "How many lines are looked at."
  200)

(def ^:private least-part
  "Of the lines looked at, how many a format must fit to be taken."
  0.2)

(def ^:private near-best
  "Of what the best format fits, how much one that comes earlier must fit to be taken: a log in a strict format may have lines
  that only a looser one fits."
  0.9)

(defn- whole-lines
  "Returns `head` without the line at its end that may be cut off, unless there is no other."
  ^bytes [^bytes head]
  (let [end (loop [at (alength head)]
              (cond (zero? at) (alength head)
                    (= 10 (aget head (dec at))) at
                    :else (recur (dec at))))]
    (java.util.Arrays/copyOf head (int end))))

(def ^:private seconds-at-end
  "A duration is taken for seconds only if it has a point: a whole number may as well be microseconds, and must be named."
  #" \d+\.\d+\r?(?:\n|$)")

(defn- candidates [^bytes head]
  (if (re-find seconds-at-end (String. head "ISO-8859-1"))
    format/built-in
    (remove (fn timed? [{:keys [fields]}] (= "duration" (:field (peek fields)))) format/built-in)))

(defn- trial [head format]
  (let [^Trial$Outcome outcome (Trial/run (format/compiled format []) head sample-lines)]
    {:format format, :lines (.lines outcome), :matches (.matches outcome)}))

(defn- unknown-format! [name ^bytes head]
  (let [line (first (remove empty? (.split (String. head 0 (int (min 4096 (alength head))) "ISO-8859-1") "\r?\n")))]
    (error/fail! :skein/unknown-format
                 (str name ": its first lines are in none of the formats that are known by name; give the server's own with"
                      " --log-format, as in --log-format '%h %l %u %t \"%r\" %>s %b'. The first line: " (units/printable (error/preview line)))
                 {:input name, :line (error/preview line)})))

(defn detect
  "Returns `{:format format, :lines n, :matches n}`: of the formats that have names the first one that fits about as many of
  the first `sample-lines` lines of an input, of which `head` is the beginning, as any; of an input without a line, combined.

  Throws :skein/unknown-format when none fits a fifth of them."
  [name head]
  (let [head (whole-lines head)
        outcomes (mapv #(trial head %) (candidates head))
        most (double (reduce max (map :matches outcomes)))]
    (when (< most (* (double least-part) (long (:lines (first outcomes))))) (unknown-format! name head))
    (if (zero? most)
      {:format (format/parse "combined"), :lines 0, :matches 0}
      (some (fn near [{:keys [matches] :as outcome}] (when (>= (double matches) (* (double near-best) most)) outcome))
            outcomes))))
