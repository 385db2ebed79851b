;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.alts
  "One of several operations.

  First each operation is tried, in random order unless :priority is given. If none is ready they
  all wait, each by an arm. Nothing else runs meanwhile, so that none becomes ready between the two
  passes. The first arm that is delivered completes the choice; the others are dead waiters from then
  on."
  {:no-doc true}
  (:require-macros
   [skein.impl.cljs.error :refer [fail!]])
  (:require
   [skein.impl.error :as error]
   [skein.rt.port :as port]))

;; `waiter`: the waiter of the alts; nil once an arm has been delivered.
(deftype Choice [^:mutable waiter])

(deftype Arm [choice port ^:mutable v ^:mutable x]
  Object
  (live [_] (some? (.-waiter choice)))
  (deliver [_ value]
    (let [w (.-waiter choice)]
      (set! (.-waiter choice) nil)
      (.deliver w [value port]))))

(defn- shuffled
  "Returns an array of the numbers below `n` in random order."
  [n]
  (let [order (make-array n)]
    (dotimes [i n]
      (let [j (js/Math.floor (* (inc i) (js/Math.random)))]
        (aset order i (aget order j))
        (aset order j i)))
    order))

;; Only an `op` that is not a channel of Skein can be a [port value]. That is tested first, since it is much cheaper.
(defn- put? [op] (and (some? op) (nil? (.-takeNow op)) (vector? op)))

(defn- port-of [op] (if (put? op) (-nth op 0) op))

(defn- attempt
  "Does the operation `op` for the waiter `w` if it is ready. Returns whether it was ready."
  [w op]
  (if (put? op)
    (.putNow (port/target (-nth op 0)) w (-nth op 1))
    (.takeNow (port/source op) w)))

(defn- wait [choice op]
  (let [arm (Arm. choice (port-of op) nil nil)]
    (if (put? op)
      (.putLater (port/target (-nth op 0)) arm (-nth op 1))
      (.takeLater (port/source op) arm))))

(defn- check-option [_ k _]
  (when-not (or (keyword-identical? k :priority) (keyword-identical? k :default))
    (fail! :skein/bad-argument
      (str "An option of alts! must be :priority or :default, but is " (error/preview k) ".")
      {:option k})))

(defn ^boolean alts
  "Does one of the operations `ops`, ports and [port value]s, for the waiter `w`: returns true
  with [value port] in `w.v`, or false, and `w` waits. For `opts` see skein.async/alts!."
  [w ops opts]
  (reduce-kv check-option nil opts)
  (let [ops (if (vector? ops) ops (vec ops))
        n (-count ops)
        order (cond
                (and (some? opts) (:priority opts)) nil
                (== n 2) (if (< (js/Math.random) 0.5) nil #js [1 0])
                :else (shuffled n))]
    (when (zero? n)
      (fail! :skein/bad-argument "alts must have at least one channel operation." {}))
    (loop [i 0]
      (if (< i n)
        (let [op (-nth ops (if (nil? order) i (aget order i)))]
          (if ^boolean (attempt w op)
            (do (set! (.-v w) [(.-v w) (port-of op)])
                true)
            (recur (inc i))))
        (if (and (some? opts) (contains? opts :default))
          (do (set! (.-v w) [(:default opts) :default])
              true)
          (let [choice (Choice. w)]
            (set! (.-v w) nil)
            (loop [i 0]
              (when (and (< i n) (some? (.-waiter choice)))
                (wait choice (-nth ops (if (nil? order) i (aget order i))))
                (recur (inc i))))
            false))))))
