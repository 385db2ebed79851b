;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.breaker
  "The states of a circuit breaker, as plain functions; see skein.async.limit/circuit-breaker. A
  state is a map:

  :phase     :closed, :open or :half-open
  :epoch     how many phases there were before: outcomes of permits from an earlier one don't count
  :outcomes  the last ones, true for a failure
  :given     half-open: how many probes have a permit
  :until     open and half-open: when the phase ends by itself, in nanoseconds
  :granted?  whether the last take has got a permit

  `options` is {:size :share :open-ns :probes}."
  {:no-doc true}
  (:import
   (clojure.lang PersistentQueue)))

(set! *warn-on-reflection* true)

(def closed
  "The first state."
  {:phase :closed :epoch 0 :outcomes PersistentQueue/EMPTY :given 0 :until nil})

(defn- enter [{:keys [epoch]} phase until]
  (assoc closed :phase phase :epoch (inc epoch) :until until))

(defn at
  "Returns the state at the time `now`. A probe whose outcome is not known in time has failed."
  [{:keys [open-ns] :as options} {:keys [phase until] :as state} now]
  (cond
    (or (nil? until) (< now until)) state
    (= :open phase) (enter state :half-open (+ now open-ns))
    :else (recur options (enter state :open (+ until open-ns)) now)))

(defn ask
  "Returns the state after a take."
  [{:keys [probes] :as options} state now]
  (let [{:keys [phase given] :as state} (at options state now)]
    (case phase
      :closed (assoc state :granted? true)
      :open (assoc state :granted? false)
      :half-open (assoc state :granted? (< given probes) :given (min probes (inc given))))))

(defn- failures [outcomes] (count (filter true? outcomes)))

(defn- judged
  "Returns the state with an outcome more."
  [{:keys [size share open-ns probes]} {:keys [phase outcomes] :as state} now failed?]
  (let [outcomes (cond-> (conj outcomes failed?) (and (= :closed phase) (= size (count outcomes))) pop)
        opens? (case phase
                 :closed (and (= size (count outcomes)) (>= (failures outcomes) (* share size)))
                 :half-open failed?)]
    (cond
      opens? (enter state :open (+ now open-ns))
      (and (= :half-open phase) (= probes (count outcomes))) (enter state :closed nil)
      :else (assoc state :outcomes outcomes))))

(defn tell
  "Returns the state after a permit of the epoch `epoch` has come back with `outcome`: :ok, :failed
  or :ignored."
  [options state now epoch outcome]
  (let [{:keys [phase] :as state} (at options state now)]
    (cond
      (not= epoch (:epoch state)) state
      (not= :ignored outcome) (judged options state now (= :failed outcome))
      (= :half-open phase) (update state :given dec)
      :else state)))

(defn status
  "Returns {:phase :outcomes :failed} of a state."
  [{:keys [phase outcomes]}]
  {:phase phase :outcomes (count outcomes) :failed (failures outcomes)})
