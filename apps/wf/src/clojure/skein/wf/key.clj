;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.key
  "The keys that lines can be counted by, and tested by, besides their fields: path, site, class, hour, weekday, day, month, minute, and every-N
  with N in seconds.

  - `made`      the names
  - `field-of`  the field that a key is made from
  - `seconds`   the length of a key's step
  - `part`      a key, for the engine"
  (:require
   [skein.wf.format :as format])
  (:import
   (skein.wf KeyPart KeyPart$Kind Rows)))

(set! *warn-on-reflection* true)

(def made
  "The names of the keys that are made from a field."
  ["path" "site" "class" "hour" "weekday" "day" "month" "minute"])

(defn seconds
  "Returns the length of the steps of a key that has steps, or nil."
  [by]
  (case by
    "day" 86400
    "minute" 60
    (some-> (re-matches #"every-([1-9]\d{0,8})" by) second parse-long)))

(defn field-of
  "Returns the field that the key `by` is made from, or `by` if it is a field."
  [by]
  (case by
    "path" "url"
    "site" "referrer"
    "class" "status"
    ("hour" "weekday" "month") "time"
    (if (seconds by) "time" by)))

(defn part
  "Returns the engine's part of a key; `extra` are the names of the extra columns. Throws :skein/bad-argument for a field that is not text."
  ^KeyPart [by extra]
  (let [part (fn part [kind column seconds] (KeyPart. kind (int column) (long seconds)))]
    (case by
      "path" (part KeyPart$Kind/PATH Rows/URL 0)
      "site" (part KeyPart$Kind/SITE Rows/REFERRER 0)
      "class" (part KeyPart$Kind/STATUS_CLASS -1 0)
      "hour" (part KeyPart$Kind/HOUR_OF_DAY -1 0)
      "weekday" (part KeyPart$Kind/WEEKDAY -1 0)
      "month" (part KeyPart$Kind/MONTH -1 0)
      (if-let [seconds (seconds by)]
        (part KeyPart$Kind/TIME -1 seconds)
        (part KeyPart$Kind/FIELD (format/text-column by extra) 0)))))
