;; SPDX-License-Identifier: Apache-2.0
(ns skein.widefinder.report
  "Turns a report of `skein.widefinder` into text: for people, as JSON, as EDN.

  - `text`, `json`, `edn`   report -> string
  - `summary`               report -> the one line about lines, bytes and speed
  - `grouped`, `decimal`    numbers for people
  - `printable`, `quoted`   a key for a terminal, and as JSON and EDN write it

  Pure: data in, strings out. JSON and EDN are ASCII, with all other characters escaped.")

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(def ^:private max-key-bytes 60)

(def ^:private tallies
  "The tallies of a report, in order: article hits by URL, bytes by URL, 404s by URL, article hits by client address and
  by referrer."
  [:url-hits :url-bytes :s404s :clients :refs])

(def ^:private tally->name
  {:url-hits "url_hits", :url-bytes "url_bytes", :s404s "s404s", :clients "clients", :refs "refs"})

(def ^:private tally->title
  {:url-hits "URIs by hit", :url-bytes "URIs by bytes", :s404s "404s", :clients "client addresses", :refs "referrers"})

;;;; Numbers

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

(defn- megabytes [^long n]
  (let [[whole fraction] (let [text ^String (decimal n (* 1024 1024) 1)
                               point (.indexOf text ".")]
                           [(.substring text 0 point) (.substring text point)])]
    (str (grouped (Long/parseLong whole)) fraction)))

;;;; Text

(defn- escape-byte [^StringBuilder to ^long code]
  (.append to (if (< code 16) "\\x0" "\\x"))
  (.append to (Long/toHexString code)))

(defn- utf-8
  "Returns what the bytes (as characters) say in UTF-8, or nil when they aren't."
  [^String bytes]
  (let [decoded (String. (.getBytes bytes "ISO-8859-1") "UTF-8")]
    (when (neg? (.indexOf decoded "\uFFFD")) decoded)))

(defn printable
  "Returns a key for a terminal: control characters, and bytes that are not UTF-8, as \\xHH."
  [^String bytes]
  (let [decoded (utf-8 bytes)
        to (StringBuilder.)]
    (doseq [c (or decoded bytes)]
      (let [code (long (int c))]
        (if (or (< code 32) (<= 127 code 159) (and (> code 127) (nil? decoded)))
          (escape-byte to code)
          (.append to (char code)))))
    (.toString to)))

(defn- shown-key [^String bytes]
  (if (> (.length bytes) (long max-key-bytes))
    (str (printable (.substring bytes 0 (long max-key-bytes))) "...")
    (printable bytes)))

(defn- spaces [^long n]
  (.repeat " " (int (max 0 n))))

(defn- section
  "Returns the lines of one tally: a title, then value and key in columns."
  [report tally]
  (let [{:keys [top]} (report tally)
        show (if (= tally :url-bytes) megabytes grouped)
        values (mapv (fn value [entry] (show (nth entry 1))) top)
        width (long (reduce (fn widest [^long n ^String text] (max n (.length text))) 10 values))
        line (fn line [^String value [bytes]] (str (spaces (- width (.length value))) value "  " (shown-key bytes)))]
    (concat ["" (str "Top " (grouped (count top)) " " (tally->title tally) (when (= tally :url-bytes) ", in MB"))]
            (if (seq top) (map line values top) [(str (spaces (- width 4)) "none")]))))

(defn- joined [separator texts]
  (apply str (interpose separator texts)))

(defn text
  "Returns a report for people: how many distinct keys each tally has, then the top of each tally.

  Keys are cut to 60 bytes and \"...\"; control characters, and bytes that are not UTF-8, are shown as \\xHH.
  Bytes are in MB of 1024 * 1024."
  [report]
  (let [distinct-count (fn distinct-count [tally] (str (grouped (:distinct (report tally))) " " (tally->title tally)))]
    (str (joined "\n" (cons (str "Distinct: " (joined ", " (map distinct-count tallies)))
                            (mapcat (fn lines [tally] (section report tally)) tallies)))
         "\n")))

(defn summary
  "Returns the line that goes with a report: lines, counted, ignored, malformed, bytes, seconds, GB/s (of 10^9)."
  [{:keys [lines counted ignored malformed bytes-read elapsed-ns]}]
  (str (grouped lines) " lines: " (grouped counted) " counted, " (grouped ignored) " ignored, "
       (grouped malformed) " malformed; " (grouped bytes-read) " bytes in "
       (decimal elapsed-ns 1000000000 3) " s, " (decimal bytes-read (max 1 (long elapsed-ns)) 2) " GB/s"))

;;;; JSON and EDN

(defn- append-char [^StringBuilder to c]
  (let [code (long (int c))]
    (cond
      (= code 34) (.append to "\\\"")
      (= code 92) (.append to "\\\\")
      (<= 32 code 126) (.append to (char code))
      :else (let [hex (Long/toHexString code)]
              (.append to "\\u")
              (.append to (.repeat "0" (- 4 (.length hex))))
              (.append to hex)))))

(defn quoted
  "Returns a string as JSON and EDN both write it."
  [text]
  (let [to (StringBuilder. "\"")]
    (doseq [c text] (append-char to c))
    (str (.append to "\""))))

(defn- write-top [separator top]
  (str "[" (joined separator (map (fn pair [[k n]] (str "[" (quoted k) separator n "]")) top)) "]"))

(defn- json-tally [{:keys [distinct total checksum top]}]
  (str "{\"distinct\": " distinct ", \"total\": " total ", \"checksum\": " (quoted checksum)
       ",\n   \"top\": " (write-top ", " top) "}"))

(defn json
  "Returns a report as JSON: \"lines\", \"malformed\", \"ignored\", \"counted\", \"bytes_read\", and for each of
  \"url_hits\", \"url_bytes\", \"s404s\", \"clients\" and \"refs\" an object of \"distinct\", \"total\", \"checksum\"
  and \"top\", a list of [key, value]. A key's bytes are the characters U+0000 to U+00FF."
  [{:keys [lines malformed ignored counted bytes-read] :as report}]
  (str "{\"lines\": " lines ",\n \"malformed\": " malformed ",\n \"ignored\": " ignored ",\n \"counted\": " counted
       ",\n \"bytes_read\": " bytes-read ",\n "
       (joined ",\n " (map (fn tally [k] (str (quoted (tally->name k)) ": " (json-tally (report k)))) tallies))
       "}\n"))

(defn- edn-tally [{:keys [distinct total checksum top]}]
  (str "{:distinct " distinct ", :total " total ", :checksum " (quoted checksum) "\n  :top " (write-top " " top) "}"))

(defn edn
  "Returns a report as EDN, with the keys that `skein.widefinder/report` gives it."
  [{:keys [lines malformed ignored counted bytes-read] :as report}]
  (str "{:lines " lines "\n :malformed " malformed "\n :ignored " ignored "\n :counted " counted
       "\n :bytes-read " bytes-read "\n "
       (joined "\n " (map (fn tally [k] (str k " " (edn-tally (report k)))) tallies))
       "}\n"))
