;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.folds
  "Folds and functions for the tests, in a file so that they can be sent."
  (:require
   [skein.fold :as fold])
  (:import
   (java.nio.charset StandardCharsets)
   (java.time Month)
   (java.util.concurrent CountDownLatch)
   (java.util.concurrent.locks LockSupport)
   (skein.fold.spi Slice)))

(set! *warn-on-reflection* true)

(defn month "Returns a key that is hashed by identity." [n] (Month/of (inc (mod n 12))))
(defn bucket [n] (mod n 7))
(defn text-of [n] (str \[ n \]))
(defn mixed "Combines two values. Associative but not commutative." ([] "") ([a b] (str a b)))

(defn times
  "Returns the product of two matrices of two rows, which are vectors of four."
  ([] [1 0 0 1])
  ([[a b c d] [e f g h]] (mapv #(mod % 1000003) [(+ (* a e) (* b g)) (+ (* a f) (* b h)) (+ (* c e) (* d g)) (+ (* c f) (* d h))])))

(defn matrix [n] [1 (mod n 13) (mod n 5) 2])

(defrecord Row [a b])
(defn row [n] (->Row n (odd? n)))

(def stats
  (fold/fuse {:n fold/count, :sum fold/sum, :months (fold/through (map month) fold/frequencies), :big (fold/top 3)}))

(defn less-than
  "Returns a fold that counts the numbers below `limit`, unless `off`."
  [limit off]
  (fold/through (filter #(and (not off) (< % limit))) fold/count))

(defn below [limit] (fn [n] (< n limit)))

(defn fails-at
  "Returns a fold that throws `make` of the element `n`."
  [n make]
  (assoc fold/count :step (fn [acc x] (if (= x n) (throw (make x)) (inc acc)))))

(defn with-data [x] (ex-info (str "row " x) {:row x, :set #{1 2}, :flag false, :record (row 3)} (IllegalStateException. "below")))
(defn with-suppressed [x] (doto ^Throwable (ex-info "two" {:row x}) (.addSuppressed (ArithmeticException. "aside"))))
(defn with-fields [_] (java.util.MissingResourceException. "gone" "Cls" "key"))
(defn with-thread [x] (ex-info "has a thread" {:row x, :at (Thread/currentThread)}))

(def no-identity {:identity (fn [] (throw (ex-info "no identity" {:where :identity}))), :step +, :combine +})
(def no-completion {:identity (fn [] 0), :step (fn ([_] (throw (ex-info "no completion" {:where :completion}))) ([a b] (+ a b))), :combine +})
(def no-combine {:identity (fn [] 0), :step +, :combine (fn [_ _] (throw (ex-info "no combine" {:where :combine})))})

(def keeps-transient "A fold whose value can't be sent: nothing makes its transient persistent."
  {:identity (fn [] (transient [])), :step conj!, :combine (fn [a _] a)})
(def keeps-atom {:identity (fn [] (atom 0)), :step (fn [a x] (swap! a + x) a), :combine (fn [a _] a)})

(defn slowly [n] (Thread/sleep 2) n)
(def slow (fold/through (map slowly) (fold/into [])))

(defonce ^{:doc "Counts steps in this process."} steps (atom 0))
(defn counted [n] (swap! steps inc) n)

(defn hang "Waits for an interrupt." [] (.await (CountDownLatch. 1)))
(defn hanging [n] (counted n) (hang))

(defn stops-at
  "Returns a fold into a vector that has enough at the element `k`, and hangs at each behind it."
  [k]
  {:identity vector, :combine into
   :step (fn ([acc] acc)
           ([acc x]
            (counted x)
            (cond (< x k) (conj acc x) (= x k) (reduced (conj acc x)) :else (hang))))})

(defn delayed "Lets each task end at a time of its own." [n] (when (zero? (mod n 25)) (LockSupport/parkNanos (rand-int 20000000))) n)

(defn between [[from to]] (range from to))
(defn numbers-in [^Slice slice] (map parse-long (re-seq #"\d+" (.text slice StandardCharsets/UTF_8))))

(defn kilobyte [n] (format "%1000d" n))

(def ^:dynamic *scale* 1)
(defn scaled [n] (* n *scale*))

(defn on-loading [] (Thread/sleep 1) :loaded)
