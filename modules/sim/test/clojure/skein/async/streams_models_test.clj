;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.streams-models-test
  "Each operator of skein.async.streams gives what a plain function of its timed input gives, under random schedules.

  A timed input is [[time value]], and so is an output, for a taker that is always ready."
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as a]
   [skein.async.streams :as st]
   [skein.sim :as sim]
   [skein.test :refer [timed]]))

(set! *warn-on-reflection* true)

(def ^:private period "In milliseconds, for all operators." 50)

(def ^:private input
  "Values at times of which no two, and none and zero, differ by a multiple of the period: so the order of what
  happens is certain."
  (gen/fmap (fn [places] (vec (map-indexed (fn [i t] [t i]) (sort (map (fn [[r q]] (+ r (* period q))) places)))))
            (gen/vector-distinct-by first (gen/tuple (gen/choose 1 (dec period)) (gen/choose 0 6))
                                    {:min-elements 1 :max-elements 8})))

(defn- channel [input]
  (apply timed (mapcat (fn [[before] [t v]] [(- t before) v]) (cons [0] input) input)))

(defn- output [out]
  (loop [got []]
    (let [v (a/<!! out)]
      (if (some? v) (recur (conj got [(sim/now-ms) v])) got))))

(defn- values [ch] (mapv second (output ch)))

(defmacro ^:private holds
  "Checks a property in simulations: `body`, of drawn values, is true under some schedules of each."
  [n bindings & body]
  `(is (:pass? (check/quick-check ~n (prop/for-all ~bindings
                                       (sim/check {:report :throw :schedules 5} (assert (do ~@body))))))))

(defn- close-time [input] (first (peek input)))

;;;; One value at a time

(defn- released
  "The model of debounce: what is due before the next value is put; what is left, at the end."
  [input due]
  (let [step (fn [[got held since until] [t v]]
               (if (and held (< until t))
                 [(conj got [until held]) v t (due t t)]
                 (let [since (or since t)] [got v since (due t since)])))
        [got held] (reduce step [[] nil nil nil] input)]
    (conj got [(close-time input) held])))

(deftest debounce-gives-the-last-of-each-burst
  (holds 60 [input input]
    (= (concat (for [[[t v] [u]] (partition 2 1 input) :when (< (+ t period) u)] [(+ t period) v])
               [(peek input)])
       (output (st/debounce period (channel input)))))
  (holds 60 [input input]
    (= (released input (fn [t since] (min (+ t period) (+ since (* 2 period)))))
       (output (st/debounce {:quiet-ms period :max-ms (* 2 period)} (channel input))))))

(defn- throttled [input]
  (let [step (fn [[got free pending] [t v]]
               (let [[got free pending] (if (and pending (< free t)) [(conj got [free pending]) (+ free period) nil] [got free pending])]
                 (if (< t free) [got free v] [(conj got [t v]) (+ t period) nil])))
        [got _ pending] (reduce step [[] 0 nil] input)]
    (cond-> got pending (conj [(close-time input) pending]))))

(deftest throttle-gives-one-value-in-each-period
  (holds 60 [input input]
    (= (throttled input) (output (st/throttle period (channel input)))))
  (holds 60 [input input]
    (= (reduce (fn [got [t :as timed]] (if (and (seq got) (< t (+ period (first (peek got))))) got (conj got timed))) [] input)
       (output (st/throttle {:every-ms period :keep :first} (channel input))))))

(defn- by-end
  "Returns [[end [value]]]: the values by the next multiple of the period."
  [input]
  (mapv (fn [group] [(* period (inc (quot (ffirst group) period))) (mapv second group)])
        (partition-by (fn [[t]] (quot t period)) input)))

(defn- last-at [input timed]
  (conj (pop timed) [(close-time input) (second (peek timed))]))

(deftest sample-gives-the-latest-at-each-multiple
  (holds 60 [input input]
    (= (last-at input (mapv (fn [[end vs]] [end (peek vs)]) (by-end input)))
       (output (st/sample period (channel input))))))

(deftest conflate-loses-nothing-but-the-grouping
  (holds 30 [input input, slow (gen/choose 1 200)]
    (let [out (st/conflate into (a/map vector [(channel input)]))]
      (= (mapv second input)
         (loop [got []]
           (a/<!! (a/timeout slow))
           (if-some [vs (a/<!! out)] (recur (into got vs)) got))))))

;;;; Others with a clock

(deftest pace-spreads-values
  (holds 30 [n (gen/choose 1 8)]
    (= (for [i (range n)] [(* period i) i])
       (output (st/pace (/ 1000 period) (a/to-chan! (range n)))))))

(deftest an-idle-channel-gives-heartbeats
  (holds 30 [input input]
    (= (concat (mapcat (fn [[before] [t :as timed]] (concat (for [beat (range (+ before period) t period)] [beat :beat]) [timed]))
                       (cons [0] input) input))
       (output (st/idle-timeout {:idle-ms period :value :beat} (channel input))))))

(deftest ticks-are-at-multiples
  (sim/check {:schedules 10}
    (let [t (st/tick {:every-ms 100 :first-ms 10})]
      (is (= [[0 10] [1 110] [2 210]] (vec (repeatedly 3 (fn [] [(a/<!! t) (sim/now-ms)])))))
      (a/<!! (a/timeout 150)) ; until 360: the one at 310 waits
      (is (= [[3 360] [4 410]] (vec (repeatedly 2 (fn [] [(a/<!! t) (sim/now-ms)])))))
      (a/close! t))
    (let [at (mapv #(java.time.Instant/ofEpochMilli %) [0 5000 7000])]
      (is (= [[5000 (at 1)] [7000 (at 2)]] (output (st/tick {:at at})))))))

;;;; In vectors

(deftest windows-have-what-came-in-their-time
  (holds 60 [input input]
    (= (last-at input (by-end input))
       (output (st/windows period (channel input)))))
  (holds 60 [input input]
    (= (->> (for [end (range period (+ period (close-time input)) period)]
              [(min end (close-time input)) (vec (for [[t v] input :when (< (dec (- end (* 3 period))) t end)] v))])
            (filterv (comp seq second)))
       (output (st/windows {:size-ms (* 3 period) :step-ms period} (channel input))))))

(defn- batched [input size]
  (let [flush (fn [[got vs due]] [(conj got [due vs]) [] nil])
        step (fn [[_ _ due :as state] [t v]]
               (let [[got vs due] (if (and due (< due t)) (flush state) state)
                     state [got (conj vs v) (or due (+ t period))]]
                 (if (= size (count (second state))) (flush (assoc state 2 t)) state)))
        [got vs] (reduce step [[] [] nil] input)]
    (cond-> got (seq vs) (conj [(close-time input) vs]))))

(deftest batches-are-full-or-in-time
  (holds 60 [input input, size (gen/choose 1 4)]
    (= (batched input size) (output (st/batch {:size size :within-ms period} (channel input)))))
  (holds 60 [weights (gen/vector (gen/choose 1 5)), most (gen/choose 1 6)]
    (= (reduce (fn [got w] (if (and (seq got) (<= (apply + w (peek got)) most)) (conj (pop got) (conj (peek got) w)) (conj got [w])))
               [] weights)
       (values (st/batch {:weight identity :max-weight most} (a/to-chan! weights))))))

(deftest transducers-are-those-of-seqs
  (is (:pass? (check/quick-check 100
                (prop/for-all [xs (gen/vector gen/small-integer), n (gen/choose 1 4), step (gen/choose 1 5), enough (gen/choose 1 9)]
                  (and (= (rest (reductions + 0 xs)) (into [] (st/scan + 0) xs))
                       (= (map vec (partition n step xs)) (into [] (st/sliding n step) xs))
                       (= (take enough (map vec (partition n step xs))) (into [] (comp (st/sliding n step) (take enough)) xs))))))))

;;;; Several channels

(deftest combine-gives-the-latest-of-all
  (holds 30 [input input, sides (gen/vector gen/boolean 8)]
    (let [named (map (fn [side timed] [side timed]) sides input)
          part (fn [side] (vec (for [[s timed] named :when (= s side)] timed)))
          states (rest (reductions (fn [m [side [_ v]]] (assoc m side v)) {} named))]
      (or (some empty? (map part [true false]))
          (= (for [m states :when (= 2 (count m))] [(m true) (m false)])
             (values (st/combine vector (map (comp channel part) [true false]))))))))

(deftest concat-and-flat-map-lose-nothing
  (let [inputs (gen/vector input 1 4)]
    (holds 30 [inputs inputs]
      (= (mapcat (partial map second) inputs) (values (st/concat (map channel inputs)))))
    (holds 30 [inputs inputs]
      (= (mapcat (partial map second) inputs) (values (st/flat-map 1 channel (a/to-chan! inputs)))))
    (holds 30 [inputs inputs, n (gen/choose 2 4)]
      (= (frequencies (mapcat (partial map second) inputs)) (frequencies (values (st/flat-map n channel (a/to-chan! inputs))))))))

(deftest switch-gives-what-comes-before-the-next
  (holds 30 [input input]
    (= (mapcat (fn [[t i] [end]] (for [j (range 5) :let [at (+ t (* period j))] :when (< at end)] [at [i j]]))
               input (concat (rest input) [[1000000]]))
       (output (st/switch (fn [i] (channel (for [j (range 5)] [(* period j) [i j]]))) (channel input))))))

;;;; A function of each value

(deftest equal-keys-stay-in-order
  (holds 30 [keys (gen/vector (gen/choose 0 3)), n (gen/choose 1 3), pauses (gen/vector (gen/choose 1 9) 50)]
    (let [running (atom []), vs (map vector keys (range)), most (atom 0)
          call (fn [[k i :as v]]
                 (assert (not-any? #{k} @running))
                 (swap! running conj k)
                 (swap! most max (count @running))
                 (a/<!! (a/timeout (nth pauses (mod i 50))))
                 (swap! running (fn [ks] (let [[before after] (split-with #(not= k %) ks)] (vec (concat before (rest after))))))
                 v)
          got (values (st/pmap {:n n :key first} call (a/to-chan! vs)))]
      (and (= (group-by first vs) (group-by first got)) (<= @most n)))))

(deftest consume-counts-and-fails
  (sim/check {:schedules 20}
    (is (= 5 (a/<?? (st/consume! identity (a/to-chan! (range 5))))))
    (is (= 4 (a/<?? (st/consume! {:n 2 :on-error (fn [_ _])} #(/ 1 %) (a/to-chan! (range 4))))))
    (let [in (a/chan), handled (atom [])
          port (st/consume! (fn [v] (swap! handled conj v) (when (= 2 v) (throw (ex-info "two" {})))) in)]
      (doseq [v [1 2]] (a/>!! in v))
      (is (= "two" (try (a/<?? port) (catch Exception e (ex-message e)))))
      (is (= [[1 2] nil] [@handled (a/offer! in 3)])))))

;;;; Errors and takers

(deftest a-source-is-made-again
  (sim/check {:schedules 20}
    (let [made (atom [])
          make (fn [] (swap! made conj (sim/now-ms))
                 (case (count @made)
                   1 (throw (ex-info "refused" {}))
                   2 (doto (a/chan 1) (a/put! :a) (a/close-with! (ex-info "lost" {})))
                   (doto (a/chan) (a/close-with! (ex-info (str "down " (count @made)) {})))))
          out (st/restart {:attempts 3 :backoff-ms 100 :factor 2 :jitter 0} make)]
      (is (= :a (a/<!! out)))
      (is (= "down 4" (try (a/<?? out) (catch Exception e (ex-message e)))))
      (is (= [0 100 200 400] @made) "the value has reset the pause")))
  (testing "also after a close without a cause"
    (sim/check {:schedules 20}
      (is (= [1 1] (values (st/restart {:attempts 2 :on-close :restart :jitter 0}
                                       (let [n (atom 0)] (fn [] (a/to-chan! (if (< (swap! n inc) 3) [1] []))))))))))
  (testing "and its current channel closes with the output"
    (sim/check {:schedules 20}
      (let [source (a/chan), out (st/restart (constantly source))]
        (a/close! out)
        (a/>!! source 1)
        (sim/settle)
        (is (a/closed? source))))))

(deftest a-late-tap-misses-nothing
  (holds 60 [n (gen/choose 1 4), before (gen/choose 0 6), after (gen/choose 0 6), close-first? gen/boolean]
    (let [in (a/chan), m (st/replay n in), early (a/tap m (a/chan 20))
          put (fn [from to] (doseq [v (range from to)] (a/>!! in v)))]
      (put 0 before)
      (when close-first? (a/close! in) (sim/settle))
      (let [late (a/tap m (a/chan 20)), after (if close-first? 0 after)]
        (sim/settle)
        (put before (+ before after))
        (a/close! in)
        (let [all (range (+ before after))]
          (and (= [all (drop (- before n) all)] [(values early) (values late)])
               (= (last all) @m)))))))

(deftest a-tap-ends-as-the-source-does
  (sim/check {:schedules 50}
    (let [boom (ex-info "boom" {}), in (a/chan), m (st/replay 1 in), kept (a/tap m (a/chan 3) false), gone (a/tap m (a/chan 3)), tap (a/tap m (a/chan 3))]
      (sim/settle)
      (a/untap m gone)
      (sim/settle)
      (a/>!! in 1)
      (a/close-with! in boom)
      (sim/settle)
      (is (= [1 boom] [(a/<!! tap) (a/cause tap)]))
      (is (= [false false nil] [(a/closed? kept) (a/closed? gone) (a/poll! gone)]))
      (let [late (a/tap m (a/chan))]
        (is (= [1 nil boom] [(a/<!! late) (a/<!! late) (a/cause late)]))))))
