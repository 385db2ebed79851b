;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope-conservation-test
  "Operations of threads and blocks, each cut short at a random time: every value whose put was accepted
  comes out once, and no other value does."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]]
   [skein.scope :as s]
   [skein.virtual :as v])
  (:import
   (java.util Random)
   (java.util.concurrent.atomic AtomicIntegerArray)))

(set! *warn-on-reflection* true)

(def ^:private operations "Of each worker." 1000)
(def ^:private workers 8)

(defn- new-world []
  {:channels [(a/chan) (a/chan 1) (a/chan 3 (map identity))]
   :accepted (AtomicIntegerArray. (int (* workers operations)))
   :received (AtomicIntegerArray. (int (* workers operations)))})

(defn- some-channel [{:keys [channels]} ^Random random]
  (nth channels (.nextInt random (count channels))))

(defn- accepted! [{:keys [^AtomicIntegerArray accepted]} value outcome]
  (when (true? outcome) (.incrementAndGet accepted (int value))))

(defn- received! [{:keys [^AtomicIntegerArray received]} value]
  (when (some? value) (.incrementAndGet received (int value))))

(defn- chosen! [world value put-port [outcome port]]
  (if (identical? put-port port) (accepted! world value outcome) (received! world outcome)))

(defmacro ^:private work
  "Does the operations of the worker of this number, by `<!`, `>!` and `alts!` or by the operations that block a thread."
  [world worker <! >! alts!]
  `(let [world# ~world random# (Random. ~worker) first# (* ~worker operations)]
     (loop [value# first#]
       (when (< value# (+ first# operations))
         (let [c# (some-channel world# random#) d# (some-channel world# random#)]
           (try
             (v/with-timeout (.nextInt random# 2)
               (case (.nextInt random# 3)
                 0 (accepted! world# value# (~>! c# value#))
                 1 (received! world# (~<! c#))
                 2 (when-not (identical? c# d#) (chosen! world# value# c# (~alts! [[c# value#] d#])))))
             (catch java.util.concurrent.TimeoutException _#)))
         (recur (inc value#))))))

(defn- differences
  "Returns [value [accepted received]] of each value whose two counts differ or are above 1."
  [{:keys [^AtomicIntegerArray accepted ^AtomicIntegerArray received]}]
  (vec (for [value (range (.length accepted))
             :let [counts [(.get accepted value) (.get received value)]]
             :when (not (#{[0 0] [1 1]} counts))]
         [value counts])))

(deftest no-value-is-lost-to-a-timeout
  ;; Checks S1.
  (let [{:keys [channels] :as world} (new-world)]
    (within-deadline
      (s/scope [s]
        (dotimes [worker workers]
          (if (even? worker)
            (s/go s (work world worker a/<! a/>! a/alts!))
            (s/fork s (work world worker a/<!! a/>!! a/alts!!))))))
    (doseq [c channels]
      (loop [] (when-some [value (a/poll! c)] (received! world value) (recur))))
    (is (= [] (differences world)))
    (is (< 400 (reduce + (map #(.get ^AtomicIntegerArray (:accepted world) %) (range (* workers operations)))))
        "and not because nothing happened")))
