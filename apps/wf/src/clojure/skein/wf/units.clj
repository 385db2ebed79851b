;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.units
  "Numbers of a result in words: counts, bytes, durations, times.

  - `grouped`, `decimal`   numbers for people
  - `printable`   bytes for a terminal
  - `shown`   a number of a tally's column, for people
  - `titles`   a tally's columns, for people
  - `size`, `speed`, `duration`, `clock`   numbers for people
  - `parse-size`   \"2.5G\" -> bytes
  - `extent`   how many rows a tally has and shows, for people
  - `percentage`   a part of 1, for people
  - `missing`   a tally's error, for people
  - `label`   the parts of a key, for people"
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error])
  (:import
   (java.time LocalDateTime ZoneOffset)
   (java.time.format DateTimeFormatter)
   (java.util Locale)))

(set! *warn-on-reflection* true)

(defn grouped
  "Returns `n` with a comma between each three digits.

      (grouped 1234567)
      ;=> \"1,234,567\""
  [^long n]
  (let [digits (StringBuilder. (Long/toString n))
        first-digit (if (neg? n) 1 0)]
    (loop [at (- (.length digits) 3)]
      (if (> at first-digit)
        (do (.insert digits at ",")
            (recur (- at 3)))
        (.toString digits)))))

(defn decimal
  "Returns `numerator` / `denominator`, not negative, rounded half up to `places` decimals.

      (decimal 2 3 2)
      ;=> \"0.67\""
  [numerator denominator places]
  (let [scaled (.setScale (BigDecimal/valueOf (long numerator)) (int places))
        quotient (.divide scaled (BigDecimal/valueOf (long denominator)) java.math.RoundingMode/HALF_UP)]
    (.toPlainString quotient)))

(defn- tenths
  "Returns `numerator` / `denominator` with one decimal, and with a comma between each three digits before it."
  [numerator denominator]
  (let [^String text (decimal numerator denominator 1)
        point (.indexOf text ".")]
    (str (grouped (parse-long (subs text 0 point))) (subs text point))))

(defn- escape-byte [^StringBuilder to ^long code]
  (.append to (if (< code 16) "\\x0" "\\x"))
  (.append to (Long/toHexString code)))

(def ^:private utf-8
  "The bytes of a character of several bytes in UTF-8, each byte as a character; otherwise any one character."
  #"[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}|[\s\S]")

(defn- shown-char [^String bytes]
  (let [text (if (= 1 (.length bytes)) bytes (String. (.getBytes bytes "ISO-8859-1") "UTF-8"))
        code (.codePointAt text 0)]
    (if (or (< code 32) (<= 127 code 159) (= code 0xFFFD) (and (= 1 (.length bytes)) (> code 127)))
      (let [to (StringBuilder.)]
        (doseq [b bytes] (escape-byte to (int b)))
        (str to))
      text)))

(defn printable
  "Returns a key for a terminal: control characters, and bytes that are not UTF-8, as \\xHH."
  [^String bytes]
  (if (re-matches #"[ -~]*" bytes)
    bytes
    (str/join (map shown-char (re-seq utf-8 bytes)))))

(defn size
  "Returns `n` bytes in the largest unit of 1024 that leaves a number of 1 or more.

      [(size 0) (size 2048) (size 5368709120)]
      ;=> [\"0 B\" \"2.0 KB\" \"5.0 GB\"]"
  [n]
  (loop [[unit & more] [1 1024 1048576 1073741824 1099511627776 1125899906842624]
         [text & texts] ["B" "KB" "MB" "GB" "TB" "PB"]]
    (if (and more (>= (long n) (long (first more))))
      (recur more texts)
      (str (if (= 1 unit) (str n) (decimal n unit 1)) " " text))))

(def ^:private max-size-bytes (bit-shift-left 1 50))

(defn- bad-size! [text]
  (error/fail! :skein/bad-argument
               (str (error/preview text) " is not a size; write a number of bytes, or one with K, M, G or T, such as 500, 10M or 2.5G,"
                    " up to 1024T")
               {:size text}))

(defn parse-size
  "Returns the number of bytes that `text` means: digits, perhaps with a decimal point, perhaps with K, M, G or T (powers of 1024,
  either case). KB and KiB mean the same as K. The number is from 1 to 1024T.

      (parse-size \"2.5K\")
      ;=> 2560

  Throws :skein/bad-argument."
  [text]
  (let [[_ number unit] (or (re-matches #"(\d{1,16}(?:\.\d{1,9})?) ?(?:([kKmMgGtT])(?:i?[bB])?|[bB])?" text) (bad-size! text))
        power (case unit nil 0, ("k" "K") 1, ("m" "M") 2, ("g" "G") 3, 4)
        size (.toBigInteger (.multiply (bigdec number) (.pow (bigdec 1024) (int power))))]
    (if (<= 1 size max-size-bytes)
      (long size)
      (bad-size! text))))

(defn speed
  "Returns the speed at which `n` bytes were read in `elapsed-ns` nanoseconds.

      [(speed 90000 500000000) (speed 2147483648 1000000000)]
      ;=> [\"175.8 KB/s\" \"2.0 GB/s\"]"
  [n elapsed-ns]
  (str (size (long (/ (* 1e9 (double n)) (max 1.0 (double elapsed-ns))))) "/s"))

(defn duration
  "Returns `micros` microseconds in a fitting unit.

      [(duration 150) (duration 2500) (duration 61000000)]
      ;=> [\"150 us\" \"2.5 ms\" \"61.0 s\"]"
  [micros]
  (cond
    (< (long micros) 1000) (str micros " us")
    (< (long micros) 1000000) (str (decimal micros 1000 1) " ms")
    :else (str (decimal micros 1000000 1) " s")))

(def ^:private ^DateTimeFormatter clock-format (DateTimeFormatter/ofPattern "uuuu-MM-dd HH:mm:ss"))

(defn clock
  "Returns seconds since 1970 as the log's clock showed them.

      (clock 1431857100)
      ;=> \"2015-05-17 10:05:00\""
  [second]
  (.format (LocalDateTime/ofEpochSecond (long second) 0 ZoneOffset/UTC) clock-format))

(defn shown
  "Returns number `n` of `column` as readable text; nil is a dash. \"MB\" is a column of bytes, too."
  [column n]
  (cond
    (nil? n) "-"
    (not (integer? n)) (String/format Locale/ROOT "%.2f" (object-array [(double n)]))
    (= column "MB") (tenths n 1048576)
    (or (= column "bytes") (str/ends-with? column "-bytes")) (size n)
    (or (#{"time" "mean" "slowest"} column) (str/ends-with? column "-time")) (duration n)
    :else (grouped n)))

(defn missing
  "Returns a tally's :error as text, in the unit of its rank, or in hits if the rank is not a sum.

      [(missing {:rank \"bytes\", :error 2048}) (missing {:rank \"p95-time\", :error 2048})]
      ;=> [\"2.0 KB\" \"2,048 hits\"]"
  [{:keys [rank error]}]
  (if (#{"bytes" "time" "slowest"} rank) (shown rank error) (str (grouped error) (if (= 1 error) " hit" " hits"))))

(defn titles
  "Returns the titles of a tally's columns: their names, but \"distinct client\" for the number of different clients."
  [{:keys [columns distinct-of]}]
  (mapv (fn title [column] (if (and distinct-of (= "distinct" column)) (str "distinct " distinct-of) column)) columns))

(defn extent
  "Returns how many rows a tally has, and how many of them are shown. A tally over time may show more rows than have lines.

      [(extent {:rows [1 2], :distinct 9}) (extent {:rows [1 2 3], :distinct 2})]
      ;=> [\"2 of 9\" \"3, of which 2 have lines\"]"
  [{:keys [rows distinct error]}]
  (let [shown (count rows)
        distinct (if error (max shown (long distinct)) (long distinct))] ; an estimate may be less than what is shown
    (if (> shown distinct)
      (str (grouped shown) ", of which " (grouped distinct) (if (= 1 distinct) " has lines" " have lines"))
      (str (when (< shown distinct) (str (grouped shown) " of ")) (when error "about ") (grouped distinct)))))

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
  (str/join "  " (map (fn part [text] (if (= "" text) "(empty)" (printable text))) parts)))
