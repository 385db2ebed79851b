;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.reduction-test
  "The reduced search has the results of the exhaustive one, in fewer schedules."
  (:require
   [clojure.test :as test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as properties]
   [skein.async :as a :refer [<! <!! >! chan go timeout]]
   [skein.scope :as scope]
   [skein.sim :as sim]
   [skein.sim.corpus-test :as corpus-test]
   [skein.virtual :as virtual])
  (:import
   (java.util HashSet)
   (java.util.concurrent LinkedBlockingQueue)))

(set! *warn-on-reflection* true)

(defn- results
  "Calls `body` by all schedules that `strategy` has. Returns {:results set :schedules n}, or nil if there are `most` or more.
  A check that is blind does not say that it has had all."
  [strategy most body]
  (let [seen (HashSet.)
        options {:strategy strategy :schedules most :seed 1 :leaks :none}
        {:keys [schedules]} (binding [test/*testing-vars* nil]
                              (sim/check options (.add seen (body))))]
    (when (< (long schedules) (long most)) {:results (set seen) :schedules schedules})))

(defn- differ
  "Returns nil where both searches have the same results, or there are too many schedules to say; else both."
  [body]
  (when-some [every (results :exhaustive 1500 body)]
    (let [reduced (results :reduced 1500 body)]
      (when-not (and (= (:results every) (:results reduced)) (<= (long (:schedules reduced)) (long (:schedules every))))
        {:every every :reduced reduced}))))

;;;; Random programs

(defn- act
  "A block that does `ops` and writes what it sees to place `i` of `seen`."
  [ops i {:keys [channels atoms promises ^objects seen]}]
  (go
    (loop [ops ops, saw []]
      (aset seen i saw)
      (when-some [[op n] (first ops)]
        (let [c (nth channels (mod n 2)), x (nth atoms (mod n 2)), p (nth promises 0)]
          (recur (rest ops)
                 (conj saw (case op
                             :put (>! c [i n])
                             :take (<! c)
                             :alts (let [[v port] (a/alts! [[c [i n]] (nth channels (mod (inc (long n)) 2))])] [v (identical? c port)])
                             :offer (a/offer! c [i n])
                             :poll (a/poll! c)
                             :close (a/close! c)
                             :read @x
                             :write (reset! x [i n])
                             :swap (count (swap! x conj n))
                             :deliver (some? (deliver p i))
                             :asks (realized? p)
                             :rand (rand-int 100)
                             :pick (sim/pick [1 2])
                             :spawn (<! (go (swap! x conj i) n))
                             :later (<! (timeout (inc (long (mod n 2)))))))))))))

(def ^:private program
  "Generates what some blocks do, and the sizes of the buffers of their channels."
  (let [op (gen/tuple (gen/elements [:put :take :alts :offer :poll :close :read :write :swap :deliver :asks :rand :pick :spawn :later])
                      (gen/choose 0 3))]
    (gen/tuple (gen/vector (gen/vector op 1 3) 2 3) (gen/vector (gen/choose 0 1) 2))))

(defn- body-of
  "A body that runs the blocks until nothing goes on, and returns all that can be seen then."
  [[blocks buffers]]
  (fn body []
    (let [seen (object-array (count blocks))
          world {:channels (mapv (fn [n] (if (zero? (long n)) (chan) (chan n))) buffers) :atoms [(atom []) (atom [])] :promises [(promise)] :seen seen}
          _ (run! (fn [i] (act (blocks i) i world)) (range (count blocks)))]
      (<!! (timeout 100))
      [(vec seen) (mapv (fn [x] (.deref ^clojure.lang.Atom x)) (:atoms world))])))

(defn search
  "Compares the searches of `n` random programs. Returns nil, or what is wrong with the smallest found."
  [n]
  (let [{:keys [pass? shrunk] :as result} (check/quick-check n (properties/for-all [p program] (nil? (differ (body-of p)))))]
    (when-not pass?
      (let [[p] (:smallest shrunk)]
        {:seed (:seed result) :program p :differ (if p (differ (body-of p)) result)}))))

(deftest reduced-search-has-all-results
  (is (nil? (search 15))))

;;;; How much is left out

(defn- blocks
  "A body with `n` blocks that put `m` values each on a channel, and returns all values in their order."
  [n m channel-of]
  (fn body []
    (let [channels (vec (repeatedly n #(chan 100)))
          put (fn [i] (go (dotimes [_ m] (>! (channels (channel-of i)) i))))]
      (run! put (range n))
      (<!! (timeout 1))
      (mapv (fn [c] (vec (repeatedly (* (long n) (long m)) #(a/poll! c)))) channels))))

(deftest steps-that-touch-nothing-in-common-have-one-order
  (is (= 1 (:schedules (results :reduced 100 (blocks 3 3 identity))))))

(deftest steps-on-one-channel-have-all-orders
  (doseq [[n m orders] [[2 1 2] [2 2 6] [3 1 6] [2 3 20] [3 2 90]]]
    (let [{:keys [results schedules]} (results :reduced 1000 (blocks n m (constantly 0)))]
      (is (= orders (count results)))
      (is (<= orders schedules (* 2 (long orders))) [n m]))))

;;;; Steps that the simulation does not see touch everything

(deftest threads-and-scopes-have-all-results
  (doseq [[what body] {"a queue of java.util.concurrent"
                       (fn [] (let [q (LinkedBlockingQueue.)
                                    ts (mapv (fn [i] (virtual/future (.put q i))) (range 2))]
                                (run! deref ts)
                                (vec q)))
                       "a cancelled block"
                       (fn [] (let [c (chan 3)]
                                (scope/scope [s] (scope/go s (>! c 1) (>! c 2)) (a/offer! c 0) (scope/cancel! s))
                                (vec (repeatedly 3 #(a/poll! c)))))
                       "callbacks"
                       (fn [] (let [c (chan 1), order (atom [])]
                                (a/take! c (fn [v] (swap! order conj v)))
                                (go (swap! order conj :go))
                                (go (>! c :taken))
                                (<!! (timeout 1))
                                @order))}]
    (testing what
      (is (nil? (differ body)))
      (is (some? (results :exhaustive 1500 body))))))

(deftest endless-values-are-not-inspected
  (is (= {:results #{[true false 0]} :schedules 1}
         (results :reduced 10 (fn [] (let [c (chan 1)]
                                       [(second (a/alts!! [[c (range)]])) (realized? (map inc (range))) (first (<!! c))]
                                       [true (realized? (map inc (range))) 0]))))))

(deftest a-body-that-differs-is-reported
  (let [runs (atom 0), options {:strategy :reduced}]
    (binding [test/*testing-vars* nil]
      (is (thrown-with-msg? clojure.lang.ExceptionInfo #"The same schedule gave two runs"
            (sim/check options (when (even? (long (swap! runs inc))) (<!! (go 1)))))))))

(deftest claims-are-checked-after-each-step
  (let [options {:strategy :reduced :schedules 1000 :seed 1}]
    (binding [test/*testing-vars* nil]
      (is (nil? (:never-seen (sim/check options
                               (let [a (atom 0), b (atom 0)]
                                 (sim/sometimes (fn [] (and (zero? (long (.deref ^clojure.lang.Atom a))) (pos? (long (.deref ^clojure.lang.Atom b))))) "b first")
                                 (go (reset! a 1))
                                 (go (reset! b 1))))))))))

(deftest bugs-of-the-corpus-are-found
  (binding [test/*testing-vars* nil]
    (doseq [{:keys [name options buggy]} corpus-test/programs
            :when (not (or (= :slow (:time options)) ; with it no schedule is left out
                           (= "subscribed after publishing" name)))] ; pub has many steps of its own
      (testing name
        (is (thrown? clojure.lang.ExceptionInfo
                     (sim/check* (assoc options :strategy :reduced :schedules 100 :seed 1) buggy {})))))))
