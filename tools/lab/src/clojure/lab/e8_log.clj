;; SPDX-License-Identifier: Apache-2.0
(ns lab.e8-log
  "The common parts of the designs in lab.e8-wide-finder: a sample log, its chunks, its lines as strings, and their tallies."
  (:require
   [clojure.java.io :as io]
   [lab.measure :as measure]
   [skein.wf.sample-log :as sample-log])
  (:import
   (java.io BufferedReader File FileInputStream InputStreamReader)
   (java.nio.charset StandardCharsets)))

(set! *warn-on-reflection* true)

(def names "The tallies of a report." [:url-hits :url-bytes :s404s :clients :refs])

(defn tallies "Returns a tally, made by `new-tally`, under each name." [new-tally]
  (into {} (map (fn [k] [k (new-tally)])) names))

(defn sample
  "Returns the path of a log of `mb` megabytes without odd lines, which is made once a run."
  [megabytes]
  (measure/once "log"
                #(let [file (File/createTempFile "skein-lab" ".log" (measure/shared-folder))]
                   (.deleteOnExit file)
                   (with-open [out (io/output-stream file)]
                     (sample-log/write! out {:size-bytes (* 1000000 (long megabytes)), :odd? false}))
                   (.getPath file))))

(defn chunks "Returns [from to) in bytes, for all of the file." [file n-bytes]
  (let [size (.length (io/file file))]
    (mapv (fn [from] [from (min size (+ (long from) (long n-bytes)))]) (range 0 size n-bytes))))

(defn each-line
  "Calls `f` with the lines, as strings, whose first byte is in the chunk."
  [^String file [from to] buffer-bytes f]
  (with-open [in (FileInputStream. file)]
    (.skipNBytes in (max 0 (dec (long from))))
    (let [reader (BufferedReader. (InputStreamReader. in StandardCharsets/ISO_8859_1) (int buffer-bytes))]
      (loop [position (if (zero? (long from)) 0 (+ (dec (long from)) 1 (count (.readLine reader))))]
        (when (< position (long to))
          (when-let [line (.readLine reader)]
            (f line)
            (recur (+ position 1 (count line)))))))))

(def ^:private article #"/ongoing/When/\d\d\dx/\d\d\d\d/\d\d/\d\d/[^ .]+")

(defn- count-page [add tallies ^"[Ljava.lang.String;" fields]
  (let [uri (aget fields 6) referrer (aget fields 10)]
    (add tallies :url-bytes uri (or (parse-long (aget fields 9)) 0))
    (when (re-matches article uri)
      (add tallies :url-hits uri 1)
      (add tallies :clients (aget fields 0) 1)
      (let [referrer (subs referrer 1 (dec (count referrer)))]
        (when-not (or (= "-" referrer) (.startsWith referrer "http://www.tbray.org/ongoing/"))
          (add tallies :refs referrer 1))))))

(defn count-line
  "Counts a line: calls `add` with the tallies, the name of one, a key and a number."
  [add tallies ^String line]
  (let [fields (.split line " ")]
    (when (and (< 10 (alength fields)) (= "\"GET" (aget fields 5)))
      (case (aget fields 8)
        "404" (add tallies :s404s (aget fields 6) 1)
        ("200" "304") (count-page add tallies fields)
        nil))))

(defn- greater-first [[k1 n1] [k2 n2]] (compare [n2 k1] [n1 k2]))

(defn- pair [[k n]] [k n])

(defn sort-ten "Returns the ten greatest of a map from key to number, by sorting all." [counts]
  (mapv pair (take 10 (sort greater-first counts))))

(defn select-ten "Like `sort-ten`, in one pass." [counts]
  (mapv pair (reduce (fn [ten entry]
                       (if (and (= 10 (count ten)) (pos? (long (greater-first entry (peek ten)))))
                         ten
                         (vec (take 10 (sort greater-first (conj ten entry))))))
                     [] counts)))
