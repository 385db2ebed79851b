;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.streams-laws-test
  "What holds for every operator of skein.async.streams, in virtual time."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.streams :as st]
   [skein.scope :as scope]
   [skein.sim :as sim])
  (:import
   (java.util.concurrent CancellationException)
   (skein.rt.schedule Timeout)))

(set! *warn-on-reflection* true)

(def ^:private boom (ex-info "boom" {}))

(defn- one [v] (doto (a/chan 1) (a/put! v) (a/close!)))

(def ^:private operators
  "Name -> :start, which makes the operator of a function f and the source; :gives, its values for 1 2 3 4 if they are a tenth of
  a second apart and f is `identity`, by default the same; :takes, how many values it may take when the output has closed, by
  default 1; :calls?, whether it calls f with each value."
  {:debounce      {:start (fn [_ in] (st/debounce {:quiet-ms 10 :max-ms 20} in))}
   :throttle      {:start (fn [_ in] (st/throttle 10 in))}
   :throttle-keep {:start (fn [_ in] (st/throttle {:every-ms 10 :keep :first} in))}
   :sample        {:start (fn [_ in] (st/sample 10 in))}
   :conflate      {:start (fn [_ in] (st/conflate + in))}
   :pace          {:start (fn [_ in] (st/pace 1000 in))}
   :idle-timeout  {:start (fn [_ in] (st/idle-timeout 100000 in))}
   :batch         {:start (fn [_ in] (st/batch {:size 3 :within-ms 150} in)) :gives [[1 2] [3 4]] :takes 3}
   :batch-weight  {:start (fn [f in] (st/batch {:weight f :max-weight 1} in)) :gives [[1] [2] [3] [4]] :calls? true}
   :windows       {:start (fn [_ in] (st/windows 160 in)) :gives [[1] [2 3] [4]] :takes 3}
   :combine       {:start (fn [f in] (st/combine f [in])) :calls? true}
   :combine-first {:start (fn [f in] (st/combine {:by :first} (fn [a _] (f a)) [in (one :b)])) :calls? true}
   :concat        {:start (fn [_ in] (st/concat [(one 1) in])) :gives [1 1 2 3 4]}
   :flat-map      {:start (fn [f in] (st/flat-map 2 (fn [v] (some-> (f v) one)) in)) :calls? true}
   :switch        {:start (fn [f in] (st/switch (fn [v] (some-> (f v) one)) in)) :calls? true}
   :pmap          {:start (fn [f in] (st/pmap 2 f in)) :takes 2 :calls? true}
   :pmap-as-ended {:start (fn [f in] (st/pmap {:n 2 :ordered? false} f in)) :takes 2 :calls? true}
   :pmap-by-key   {:start (fn [f in] (st/pmap {:n 2 :key odd?} f in)) :takes 2 :calls? true}
   :restart       {:start (fn [_ in] (st/restart {:attempts 1} (fn [] (a/pipe in (a/chan))))) :takes 2}
   :recover       {:start (fn [_ in] (st/recover (fn [e] (throw e)) in))}})

(defn- feed
  "Puts each of `values` on `in` after a pause of a tenth of a second, until one has not been taken for a second. Then closes `in`,
  with `cause`, unless that has happened. Returns a port of how many were taken."
  [in values cause]
  (a/go-loop [vs values, n 0]
    (a/<! (a/timeout 100))
    (let [late (a/timeout 1000)]
      (cond
        (empty? vs) (do (if cause (a/close-with! in cause) (a/close! in)) n)
        (= [true in] (a/alts! [[in (first vs)] late])) (recur (rest vs) (inc n))
        :else n))))

(defn- rest-of
  "Returns [values cause] of a channel."
  [out]
  (loop [values []]
    (let [[v thrown] (try [(a/<?? out)] (catch Throwable t [nil t]))]
      (if (nil? v) [values thrown] (recur (conj values v))))))

(defmacro ^:private for-each
  "Evaluates the body in a simulation, by some schedules, for each operator that `wanted` is true of. Nothing may wait at the end."
  [[op wanted] & body]
  `(doseq [[name# row#] operators :when (~wanted row#)]
     (testing name#
       (let [~op (merge {:gives [1 2 3 4] :takes 1} row#)]
         (sim/check {:schedules 20 :leaks :all} ~@body)))))

(deftest values-and-the-cause-pass
  (for-each [{:keys [start gives]} any?]
    (doseq [cause [nil boom]]
      (let [in (a/chan), out (start identity in)]
        (feed in [1 2 3 4] cause)
        (is (= [gives cause] (rest-of out)))))))

(deftest nothing-more-is-taken-when-the-output-has-closed
  (for-each [{:keys [start gives takes]} any?]
    (doseq [k (range (inc (count gives)))]
      (let [in (a/chan), out (start identity in), fed (feed in (range 1 100) nil)]
        (dotimes [_ k] (a/<!! out))
        (a/close! out)
        (let [waited (if (a/poll! out) 1 0)] ; a put that waits when its channel closes is still taken
          (is (<= (a/<!! fed) (+ takes (count (flatten (take (+ k waited) gives))))))
          (is (not (a/closed? in)))
          (is (nil? (a/offer! in :more))))))))

(deftest an-exception-of-the-function-passes-after-the-values-before
  (for-each [{:keys [start gives]} :calls?]
    (doseq [k [1 2 3 4]]
      (let [in (a/chan), out (start (fn [v] (if (= k v) (throw boom) v)) in), fed (feed in (range 1 100) nil)]
        (is (= [(take (dec k) gives) boom] (rest-of out)))
        (is (= k (a/<!! fed)))))))

(deftest a-function-that-returns-nil-gives-no-value
  (for-each [{:keys [start]} (fn [op] (and (:calls? op) (not (:gives op))))]
    (let [in (a/chan), out (start (fn [v] (when (odd? v) v)) in)]
      (feed in [1 2 3 4] nil)
      (is (= [[1 3] nil] (rest-of out))))))

(defn- ends-well? [out]
  (let [cause (a/cause out)]
    (and (a/closed? out) (or (nil? cause) (instance? CancellationException cause)))))

(deftest cancelled-at-each-point-the-output-closes
  (doseq [[op-name {:keys [start]}] operators]
    (testing op-name
      (sim/everywhere {:leaks :all}
        (let [in (a/chan), outs (a/promise-chan), fed (feed in [1 2 3] nil)]
          (a/go (when-some [out (a/<! outs)]
                  (while (some? (a/<! out)))))
          (scope/scope [s]
            (sim/target s)
            (try (a/>!! outs (scope/in-scope s (start identity in)))
                 (finally (a/close! outs))))
          (is (ends-well? (a/<!! outs)))
          (a/<!! fed))))))

(deftest no-timer-is-left
  (let [hour 3600000]
    (doseq [start [(fn [in] (st/debounce hour in)) (fn [in] (st/throttle hour in)) (fn [in] (st/sample hour in))
                   (fn [in] (st/batch {:size 9 :within-ms hour} in)) (fn [in] (st/windows hour in)) (fn [in] (st/idle-timeout hour in))]]
      (let [before (Timeout/outstanding), in (a/chan), out (a/into [] (start in))]
        (a/>!! in 1)
        (a/>!! in 2)
        (a/close! in)
        (a/<!! out)
        (is (= before (Timeout/outstanding)))))))
