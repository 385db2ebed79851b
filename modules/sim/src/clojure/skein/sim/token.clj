;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.token
  "A schedule as a short text, to run it again.

      k1.7f:1.4~2       fingerprint 7f; at choice 1 the second candidate, four choices later the third
      k1.7f.s:1         the same with options: s steps take time, f… point of a fault, r… seed of random numbers
      k1.7f:@pct3.9x.20 a schedule drawn by a strategy, from its seed

  * `write` and `parse` a schedule: {:strategy :flags :fingerprint}, see skein.sim.runs
  * `fingerprint` of a run"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

(def ^:private ^String digits "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

(defn- base-62 [n]
  (loop [n (long n), text ""]
    (let [text (str (.charAt digits (rem n 62)) text)]
      (if (< n 62) text (recur (quot n 62) text)))))

(defn- fail! [token why]
  (error/fail! :skein/bad-token
               (str (error/preview token) " is not a schedule that can be run: " why ". Tokens begin with k1. and are printed "
                    "with each failure.")
               {:token (error/preview token)}))

(defn- number [token text]
  (when-not (re-matches #"[0-9a-zA-Z]{1,10}" text)
    (fail! token (str (pr-str text) " is not a number")))
  (reduce (fn add [n c] (+ (* 62 (long n)) (.indexOf digits (int c)))) 0 text))

(defn fingerprint
  "Returns a few characters that tell runs apart, from the hash of a run."
  [hash]
  (let [n (rem (bit-shift-right (long hash) 20) 3844)
        n (if (neg? n) (- n) n)]
    (str (.charAt digits (quot n 62)) (.charAt digits (rem n 62)))))

(defn- write-deviations [deviations]
  (str/join "." (map (fn [[before _] [choice value]]
                       (str (base-62 (- (long choice) (long before))) (when (< 1 (long value)) (str "~" (base-62 value)))))
                     (cons [0 0] deviations) deviations)))

(defn- parse-deviations [token text]
  (if (= "" text)
    []
    (rest (reductions (fn add [[before _] entry]
                        (let [[delta value] (str/split entry #"~" 2)]
                          [(+ (long before) (long (number token delta))) (if value (number token value) 1)]))
                      [0 0] (str/split text #"\.")))))

(def ^:private strategies {:uniform "u" :pct "p" :pos "o" :reversed "r"})

(defn- write-strategy [{:keys [kind deviations seed d k]}]
  (if (= :listed kind)
    (write-deviations deviations)
    (str "@" (strategies kind) "." (base-62 (or seed 0)) "." (base-62 (or d 0)) "." (base-62 (or k 0)))))

(defn- parse-strategy [token text]
  (if (str/starts-with? text "@")
    (let [[name & numbers] (str/split (subs text 1) #"\.")
          kind (some (fn [[kind n]] (when (= n name) kind)) strategies)]
      (when-not (and kind (= 3 (count numbers))) (fail! token "its strategy is unknown"))
      (zipmap [:kind :seed :d :k] (cons kind (map #(number token %) numbers))))
    {:kind :listed :deviations (vec (parse-deviations token text))}))

(defn write
  "Returns the token of a schedule whose run had the hash `hash`."
  [{:keys [strategy slow? seed fault-at]} hash]
  (let [flags (str (when slow? "s") (when fault-at (str "f" (base-62 fault-at) "_")) (when (and seed (pos? (long seed))) (str "r" (base-62 seed))))]
    (str "k1." (fingerprint hash) (when (seq flags) (str "." flags)) ":" (write-strategy strategy))))

(defn parse
  "Returns the schedule that a token stands for, with its :fingerprint. Throws :skein/bad-token."
  [token]
  (let [[_ version body] (re-matches #"k(\d+)\.(.*)" (str token))]
    (cond
      (nil? version) (fail! token "it is not a token")
      (not= "1" version) (fail! token (str "it is of version " version " of the format, and this Skein reads version 1"))
      :else
      (let [[_ print _ slow fault seed schedule]
            (re-matches #"(..)(\.(s)?(?:f([0-9a-zA-Z]+)_)?(?:r([0-9a-zA-Z]+))?)?:(.*)" body)]
        (when-not print (fail! token "it is cut off or changed"))
        {:fingerprint print
         :slow? (boolean slow)
         :fault-at (when fault (number token fault))
         :seed (if seed (number token seed) 0)
         :strategy (parse-strategy token schedule)}))))
