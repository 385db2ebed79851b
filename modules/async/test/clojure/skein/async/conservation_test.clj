;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.conservation-test
  "A million operations by threads, blocks and callbacks, on channels that are closed and
  replaced all the time. Threads are interrupted. A value comes out once if its put returned
  true, and never if it did not."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! >! alts! go-loop]]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (java.util Random)
   (java.util.concurrent ConcurrentLinkedQueue CountDownLatch)
   (java.util.concurrent.atomic AtomicIntegerArray AtomicReferenceArray)))

(set! *warn-on-reflection* true)

(def ^:private operations 1000000)
(def ^:private threads 8)
(def ^:private blocks 4)
(def ^:private open-channels 4)

(defn- new-channel [^Random random]
  (case (.nextInt random 4)
    0 (a/chan)
    1 (a/chan 1)
    2 (a/chan 7)
    3 (a/chan 3 (map identity))))

;;; A world has the channels that are open and those that were open. Values are numbers. For each value
;;; the world has how often a put of it was accepted and how often the value came out.

(defn- new-world [seed]
  (let [random (Random. seed) open (AtomicReferenceArray. (int open-channels))]
    (dotimes [i open-channels] (.set open i (new-channel random)))
    {:open open
     :closed (ConcurrentLinkedQueue.)
     :accepted (AtomicIntegerArray. (int operations))
     :received (AtomicIntegerArray. (int operations))}))

(defn- some-channel [{:keys [^AtomicReferenceArray open]} ^Random random]
  (.get open (.nextInt random open-channels)))

(defn- accepted! [{:keys [^AtomicIntegerArray accepted]} value outcome]
  (when (true? outcome) (.incrementAndGet accepted (int value))))

(defn- received! [{:keys [^AtomicIntegerArray received]} value]
  (when (some? value) (.incrementAndGet received (int value))))

(defn- chosen!
  "Notes the result of an alts that offered `value`."
  [world value [outcome port] puts]
  (if (some #{port} puts) (accepted! world value outcome) (received! world outcome)))

(defn- without-waiting
  "Does one operation that doesn't wait. If it is a put, it puts `value`."
  [world ^Random random value]
  (let [c (some-channel world random)]
    (case (.nextInt random 4)
      0 (accepted! world value (a/offer! c value))
      1 (received! world (a/poll! c))
      2 (try (a/put! c value #(accepted! world value %))
             (catch AssertionError _ :too-many))
      3 (try (a/take! c #(received! world %))
             (catch AssertionError _ :too-many)))))

(defn- on-a-thread
  "Does one operation that may wait, on this thread."
  [world ^Random random value]
  (let [c (some-channel world random) d (some-channel world random)]
    (try
      (case (.nextInt random 3)
        0 (accepted! world value (a/>!! c value))
        1 (received! world (a/<!! c))
        2 (when-not (identical? c d) (chosen! world value (a/alts!! [[c value] d]) #{c})))
      (catch InterruptedException _ :withdrawn))))

(defn- thread-of
  "Returns a thread that does operations with the values `from` to `to`. Every second thread is a virtual one."
  [world seed from to ^CountDownLatch done]
  (let [random (Random. seed)
        run (fn []
              (doseq [value (range from to)]
                (if (zero? (.nextInt random 3))
                  (without-waiting world random value)
                  (on-a-thread world random value)))
              (.countDown done))]
    (if (even? (long seed))
      (.unstarted (Thread/ofVirtual) run)
      (.unstarted (Thread/ofPlatform) run))))

(defn- block-of [world seed from to ^CountDownLatch done]
  (let [random (Random. seed)]
    (go-loop [value (long from)]
      (if (= value (long to))
        (.countDown done)
        (let [c (some-channel world random) d (some-channel world random)]
          (case (.nextInt random 4)
            0 (accepted! world value (>! c value))
            1 (received! world (<! c))
            2 (when-not (identical? c d) (chosen! world value (alts! [[c value] d]) #{c}))
            3 (without-waiting world random value))
          (recur (inc value)))))))

(defn- take-all! [world c]
  (when-some [v (a/poll! c)]
    (received! world v)
    (recur world c)))

(defn- stir
  "Interrupts a thread, closes and replaces a channel, or takes from an open or closed channel.
  A put that waits in a closed channel continues to wait until it is taken."
  [{:keys [^AtomicReferenceArray open ^ConcurrentLinkedQueue closed] :as world} ^Random random threads]
  (case (.nextInt random 8)
    0 (let [old (.getAndSet open (.nextInt random open-channels) (new-channel random))]
        (a/close! old)
        (.add closed old))
    (1 2 3) (.interrupt ^Thread (nth threads (.nextInt random (count threads))))
    (4 5) (received! world (a/poll! (some-channel world random)))
    (6 7) (some->> (.poll closed) (take-all! world))))

(defn- drain
  "Closes all channels and takes the values that are still in them. Called when nobody else takes any more."
  [{:keys [^AtomicReferenceArray open ^ConcurrentLinkedQueue closed] :as world}]
  (dotimes [i open-channels] (a/close! (.get open i)) (.add closed (.get open i)))
  (run! #(take-all! world %) closed))

(deftest accepted-values-come-out-once
  (let [world (new-world 7)
        n (+ (long threads) (long blocks))
        share #(quot (* (long %) (long operations)) n)
        done (CountDownLatch. n)
        ts (mapv #(thread-of world % (share %) (share (inc (long %))) done) (range threads))
        random (Random. 42)]
    (run! #(.start ^Thread %) ts)
    (doseq [i (range threads n)] (block-of world i (share i) (share (inc (long i))) done))
    (within-deadline (while (pos? (.getCount done)) (stir world random ts)))
    (drain world)
    (let [{:keys [^AtomicIntegerArray accepted ^AtomicIntegerArray received]} world
          wrong (remove #(= (.get accepted (int %)) (.get received (int %))) (range operations))]
      (is (empty? (take 20 wrong)))
      (is (< (/ (long operations) 4) (reduce + (map #(.get accepted (int %)) (range operations))))
          "many were accepted"))))
