;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.key-table-test
  "KeyTable and Ranking against a map: any bytes as keys, growth, and the merge of two tables."
  (:require
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop])
  (:import
   (java.io ByteArrayInputStream ByteArrayOutputStream DataInputStream DataOutputStream)
   (skein.fold.files Bytes)
   (skein.wf Budget KeyTable Ranking Ranking$Entry TooManyKeys)))

(set! *warn-on-reflection* true)

(def ^:private small-capacity 4)

(defn- count-keys!
  "Counts keys, strings of characters up to U+00FF, in a table, `n` at a time as a batch of lines does."
  [^KeyTable table texts n]
  (doseq [batch (partition-all n texts)]
    (let [bytes (.getBytes (str (apply str batch) (apply str (repeat Bytes/PAD " "))) "ISO-8859-1")
          ends (reductions + 0 (map count batch))
          entries (int-array (count batch))]
      (.findAll table bytes (int-array (butlast ends)) (int-array (rest ends)) (int (count batch)) entries)
      (let [cells (.cells table)]
        (doseq [entry entries] (aset cells entry (inc (aget cells entry))))))))

(defn- table-of ^KeyTable [texts n]
  (doto (KeyTable. 1 small-capacity (Budget. 100000000)) (count-keys! texts n)))

(defn- counts [^KeyTable table]
  (into {} (map (fn [^Ranking$Entry e] [(.key e) (.value e)])) (.top (Ranking. table 0 0 -1) Integer/MAX_VALUE)))

(def ^:private key-gen
  (gen/fmap #(apply str (map char %)) (gen/vector (gen/frequency [[5 (gen/choose 97 99)] [1 (gen/choose 0 255)]]) 0 20)))

(deftest a-table-agrees-with-a-map
  (let [result (check/quick-check
                 200
                 (prop/for-all [texts (gen/vector key-gen 0 300), n (gen/choose 1 128)]
                   (= (frequencies texts) (counts (table-of texts n)))))]
    (is (:pass? result) (pr-str (:smallest (:shrunk result))))))

(deftest merged-tables-count-as-one
  (let [result (check/quick-check
                 100
                 (prop/for-all [left (gen/vector key-gen 0 200), right (gen/vector key-gen 0 200)]
                   (let [table (table-of left 128)
                         other (table-of right 128)]
                     (loop [at (.first other)]
                       (when (< at (.end other))
                         (let [entry (.find table other at)
                               cells (.cells table)]
                           (aset cells entry (+ (aget cells entry) (aget (.cells other) at))))
                         (recur (.next other at))))
                     (= (frequencies (concat left right)) (counts table)))))]
    (is (:pass? result) (pr-str (:smallest (:shrunk result))))))

(defn- sent
  "Returns the table that is read from what `table` writes."
  ^KeyTable [^KeyTable table]
  (let [bytes (ByteArrayOutputStream.)]
    (.writeTo table (DataOutputStream. bytes))
    (doto (KeyTable. 1 small-capacity (Budget. 100000000))
      (.readFrom (DataInputStream. (ByteArrayInputStream. (.toByteArray bytes)))))))

(def ^:private alike-key-gen
  "Long keys that the quick hash can't tell apart, so that a table with some of them hashes all bytes."
  (gen/fmap #(str (apply str (repeat 40 "a")) % (apply str (repeat 60 "b"))) (gen/elements (map #(format "%08d" %) (range 100)))))

(deftest a-table-that-was-sent-continues-to-count
  (let [result (check/quick-check
                 100
                 (prop/for-all [before (gen/vector (gen/frequency [[9 key-gen] [1 alike-key-gen]]) 0 200), after (gen/vector key-gen 0 50)]
                   (let [there (table-of before 128)
                         here (sent there)]
                     (count-keys! here after 128)
                     (and (= (.first there) (.first here))
                          (= (frequencies (concat before after)) (counts here))))))]
    (is (:pass? result) (pr-str (:smallest (:shrunk result))))))

(deftest the-empty-key-has-an-entry
  ;; Checks K1: its hash is 0, and so would be its slot if its entry were at position 0.
  (let [table (table-of ["" "" "a" ""] 2)]
    (is (= 1 (.first table)))
    (is (= {"" 3 "a" 1} (counts table)))))

(defn- slots ^longs [table]
  (.get (doto (.getDeclaredField KeyTable "slots") (.setAccessible true)) table))

(deftest half-of-the-slots-stay-free
  ;; Checks K2.
  (let [table (table-of [] 1)]
    (dotimes [i 2000]
      (count-keys! table [(str "key " i)] 1)
      (let [all (slots table)
            taken (areduce all j n 0 (if (zero? (aget all j)) n (inc n)))]
        (is (= (inc i) taken))
        (is (<= (* 2 taken) (alength all)))))))

(deftest keys-with-zeros-at-their-end-are-keys-of-their-own
  ;; Checks K3: the last cell of each is filled up with zeros.
  (let [texts (for [n [0 1 7 8 9 15 16], zeros (range 10)] (str (apply str (repeat n "x")) (apply str (repeat zeros (char 0)))))
        table (table-of (concat texts texts) 16)]
    (is (= (frequencies (concat texts texts)) (counts table)))))

(deftest long-keys-that-differ-anywhere-are-distinct
  ;; Checks K4: those that differ in their second words only make the table hash all of them.
  (doseq [length [33 40 41 48 64 100], at (range 0 (- length 4) 3)
          :let [texts (for [i (range 300)] (str (apply str (repeat at "x")) (format "%04d" (mod (* 7 i) 200)) (apply str (repeat (- length at 4) "y"))))
                left (table-of (take 150 texts) 128)
                right (table-of (drop 150 texts) 16)]]
    (loop [at (.first right)]
      (when (< at (.end right))
        (let [entry (.find left right at)
              cells (.cells left)]
          (aset cells entry (+ (aget cells entry) (aget (.cells right) at))))
        (recur (.next right at))))
    (is (= (frequencies texts) (counts left)) [length at])))

(deftest a-table-keeps-to-its-budget
  (is (thrown? TooManyKeys
               (count-keys! (KeyTable. 1 small-capacity (Budget. 20000)) (map #(str "key " %) (range 10000)) 128))))
