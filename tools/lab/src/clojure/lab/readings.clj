;; SPDX-License-Identifier: Apache-2.0
(ns lab.readings
  "Makes a sentence from the figures of an experiment. It says which library is faster, even if that is not Skein."
  (:require
   [clojure.string :as str]
   [lab.figures :as figures :refer [value]]))

(set! *warn-on-reflection* true)

(defn faster
  "Returns how `ours` compares with `theirs`, times, in words; nil if one is missing.

      (map #(faster 10 % \"x\") [50 10.5 5])
      ;=> (\"5.00 times as fast as x\" \"as fast as x\" \"2.00 times slower than x\")"
  [ours theirs title]
  (when (and ours theirs)
    (let [k (/ (double theirs) (double ours))]
      (cond
        (< 1.1 k) (str (figures/digits k) " times as fast as " title)
        (< 0.9 k) (str "as fast as " title)
        :else (str (figures/digits (/ 1 k)) " times slower than " title)))))

(defn- listed [texts]
  (let [texts (remove nil? texts)]
    (if (next texts) (str (str/join ", " (butlast texts)) " and " (last texts)) (first texts))))

(defn- sentence [& clauses]
  (let [clauses (remove nil? clauses)]
    (when (seq clauses)
      (str (str/join "; " clauses) "."))))

(def ^:private rivals ["core.async 1.7.701" "core.async 1.9.865"])

(defn- against
  "Returns a clause that compares `ours` with each of `others` at `row`."
  [ms row ours others label]
  (when-let [compared (listed (map #(faster (value ms row ours) (value ms row %) %) others))]
    (str label " is " compared)))

(defn- largest [ms form]
  (last (sort-by :x (filter #(and (:x %) (= form (:form %))) ms))))

(defn- e1 [ms]
  (let [most (:x (largest ms "go"))
        growth (fn [column]
                 (let [[one most] (map #(value ms % column) ["1 go" "18 go"])]
                   (when (and one most) (str column " " (figures/digits (/ most one)) " times as long"))))
        threads (fn [column]
                  (some #(when (and (= most (:x %)) (= "go" (:form %)) (= column (:column %)))
                           (str column " " (:threads %))) ms))]
    (sentence (when-let [growths (listed (keep growth (cons "Skein" rivals)))]
                (str "18 sleeping go blocks take, compared with one: " growths))
              (when most (str "platform threads added with " most " blocks: " (listed (keep threads (cons "Skein" rivals)))))
              (against ms (str most " go") "Skein" rivals "there Skein"))))

(defn- e2 [ms]
  (sentence (against ms "go, blocking" "Skein" rivals "With a blocking client in go blocks, Skein")
            (when-let [k (faster (value ms "go, blocking" "Skein") (value ms "thread, blocking" "Skein") "its threads")]
              (str "its blocks are " k))))

(defn- e3 [ms]
  (let [serial (value ms "serial" "Clojure")
        speed-up (fn [row column title]
                   (when-let [k (figures/ratio serial (value ms row column))] (str title " " k)))]
    (sentence (when-let [k (and serial (listed (keep identity [(speed-up "fold" "Skein" "skein.fold") (speed-up "go" "Skein" "Skein's go blocks")
                                                               (speed-up "fold" "Clojure" "r/fold")])))]
                (str "On " (some :cores ms) " cores the speed-up over serial is: " k))
              (against ms "go" "Skein" rivals "with eight go blocks Skein")
              (against ms "pipeline" "Skein" rivals "with a pipeline it"))))

(defn- e4 [ms]
  (let [numbers (fn [row] (mapv parse-long (re-seq #"\d+" row)))
        rows (sort-by (comp vec rseq numbers) (distinct (keep :row ms)))
        published "64 block, 16 compute"]
    (apply sentence
           (for [row (distinct (concat (filter #{published} rows) (take-last 1 rows)))
                 :let [[blocking computing] (numbers row)]]
             (against ms row "Skein go" (conj (mapv #(str % " go") rivals) "Skein threads")
                      (str "with " blocking " tasks that block and " computing " that compute Skein go"))))))

(defn- e5 [ms]
  (apply sentence
         (for [column ["range" "vector" "long array"]]
           (when-let [ours (value ms "skein.fold" column)]
             (str "of a " column ", skein.fold is "
                  (listed (map #(faster ours (value ms % column) %) ["r/fold" "parallel stream" "loop on one core"])))))))

(defn- e6 [ms]
  (let [passes (fn [row]
                 (when-let [ns-each (value ms row "Skein")]
                   (str "by " row " Skein passes " (figures/digits (/ 1e3 (double ns-each))) " million numbers a second and")))]
    (apply sentence
           (concat (for [row ["two go loops" "to-chan! and map" "a transducer"]]
                     (against ms row "Skein" rivals (passes row)))
                   [(against ms "four transducers" "Skein" rivals "for five numbers by four transducers it")]))))

(defn- e7 [ms]
  (let [row (fn [form] (str form ", one after the other"))]
    (sentence (against ms (row "go") "Skein" rivals "With go, Skein")
              (against ms (row "async") "Skein" rivals "with async it")
              (when-let [k (figures/ratio (value ms (row "async") "Skein") (value ms (row "plain function") "Skein"))]
                (str "its async takes " (subs k 1) " times the time of the plain function"))
              (when (value ms "async whose body parks 5 ms, once" "Skein") "it gives its result when the body parks, too"))))

(defn- e8 [ms]
  (let [published "3: threads on a queue"
        against-it (fn [row]
                     (when-let [k (faster (value ms row "here") (value ms published "here") "the last published design")]
                       (str row " is " k)))]
    (sentence (against-it "skein wf") (against-it "skein.fold over lines"))))

(defn- e9 [ms]
  (let [rows (distinct (map :row ms))
        window (first (filter #(re-find #"one in ten" %) rows))
        first-row (first rows)]
    (sentence (against ms first-row "skein.virtual pmap" ["map" "pmap" "skein.virtuoso map"] (str "For " first-row " the sliding window"))
              (against ms window "skein.virtual pmap" ["skein.virtuoso pmap"]
                       "when durations vary, it"))))

(defn- e10 [ms]
  (let [text (fn [row column] (some #(when (and (= row (:row %)) (= column (:column %))) (:text %)) ms))
        row "(foo 24): the form that failed"]
    (sentence (when-let [ours (text row "Skein")]
                (str "Of (foo 24), Skein names " ours
                     (when-let [theirs (text row "tools.trace 0.8.0")] (str ", tools.trace " theirs))))
              (against ms "a call" "Skein" ["tools.trace 0.8.0"] "a traced call in Skein"))))

(defn reading
  "Returns the sentence for the experiment with this id, or nil when there are too few figures."
  [id measurements]
  (let [s (({"e1" e1, "e2" e2, "e3" e3, "e4" e4, "e5" e5, "e6" e6, "e7" e7, "e8" e8, "e9" e9, "e10" e10} id) measurements)]
    (when s (str (str/upper-case (subs s 0 1)) (subs s 1)))))
