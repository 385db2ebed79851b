;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.detection
  "Finds out in which format a log is, from its first lines.

  - `detect`   bytes -> format, with how many of the first lines it fits"
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.format :as format]
   [skein.wf.units :as units])
  (:import
   (skein.wf Trial Trial$Outcome)))

(set! *warn-on-reflection* true)

(def sample-lines
  "How many lines are looked at in the beginning, the middle and the end."
  [200 50 50])

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

(defn- lines-of [^bytes head]
  (remove empty? (.split (String. head "ISO-8859-1") "\r?\n")))

(defn- wrapper-of
  "Returns the key of `format/wrappers` whose lines most of the first lines are, or nil."
  [head]
  (let [lines (take 50 (lines-of head))]
    (some (fn most? [[wrapper {:keys [line]}]]
            (when (< (count lines) (* 2 (count (filter #(re-matches line %) lines)))) wrapper))
          format/wrappers)))

(defn- candidates [^bytes head]
  (let [wrapper (wrapper-of head)]
    (cond->> (if (re-find seconds-at-end (String. head "ISO-8859-1"))
               format/built-in
               (remove (fn timed? [{:keys [fields]}] (= "duration" (:field (peek fields)))) format/built-in))
      wrapper (map #(format/wrapped wrapper %)))))

(defn- trial [samples format]
  (let [compiled (format/compiled format [])
        outcomes (mapv (fn run [sample lines] (Trial/run compiled sample lines)) samples sample-lines)]
    {:format format
     :lines (reduce + (map #(.lines ^Trial$Outcome %) outcomes))
     :matches (reduce + (map #(.matches ^Trial$Outcome %) outcomes))}))

(defn- json-keys
  "Returns the first keys of a line of JSON, without the objects that they are in."
  [line]
  (vec (take 30 (distinct (map second (re-seq #"\"((?:[^\"\\]|\\.){1,60})\"\s*:" line))))))

(defn- unknown-format! [name ^bytes head]
  (let [^String line (first (lines-of head))
        keys (when (re-find #"^\s*\{" line) (json-keys line))]
    (error/fail! :skein/unknown-format
                 (if keys
                   (str name ": its lines are JSON without a key that is known to be a URL or a status. Say which is which with --log-format,"
                        " as in --log-format json:client=ip,url=req.path,status=code. The keys of the first line: "
                        (units/printable (str/join ", " keys)))
                   (str name ": its first lines are in none of the formats that are known by name; give the server's own with"
                        " --log-format, as in --log-format '%h %l %u %t \"%r\" %>s %b'. The first line: "
                        (units/printable (error/preview line))))
                 (cond-> {:input name, :line (error/preview line)} keys (assoc :keys keys)))))

(defn detect
  "Returns `{:format format, :lines n, :matches n}`: of the formats that have names the first one that fits about as many of
  the lines looked at as any; of an input without a line, combined.

  samples  bytes of an input: its beginning and, of a large one, whole lines from its middle and its end

  Throws :skein/unknown-format when none fits a fifth of them."
  [name samples]
  (let [head (whole-lines (first samples))
        samples (cons head (rest samples))
        outcomes (mapv #(trial samples %) (candidates head))
        most (double (reduce max (map :matches outcomes)))]
    (when (< most (* (double least-part) (long (:lines (first outcomes))))) (unknown-format! name head))
    (if (zero? most)
      {:format (format/parse "combined"), :lines 0, :matches 0}
      (some (fn near [{:keys [matches] :as outcome}] (when (>= (double matches) (* (double near-best) most)) outcome))
            outcomes))))
