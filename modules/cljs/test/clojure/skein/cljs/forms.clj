;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.forms
  "Random forms, for skein.cljs.forms-test. Each has a number as its value and notes what it does, so
  that the order of evaluation can be compared too. `(park x)` and `(note k x)` are x."
  (:import
   (java.util Random)))

(set! *warn-on-reflection* true)

(declare form)

(defn- pick [^Random r coll]
  (nth (vec coll) (.nextInt r (count coll))))

(defn- leaf [^Random r locals]
  (if (and (seq locals) (.nextBoolean r))
    (pick r locals)
    (.nextInt r 10)))

(defn- local [^Random r locals]
  ;; Names come again, so that some shadow others.
  (if (and (seq locals) (zero? (.nextInt r 3))) (pick r locals) (symbol (str "x" (.nextInt r 1000)))))

(defn- compound
  "Returns a form of one of the kinds that the compiler treats apart; `sub` makes a form inside it, in which
  the locals given as arguments are bound too."
  [^Random r sub locals]
  (let [x (local r locals)
        y (symbol (str "y" (.nextInt r 1000)))]
    (case (.nextInt r 22)
      0 `(+ ~(sub) ~(sub))
      1 `(~'f3 ~(sub) ~(sub) ~(sub))
      2 `((if (odd? ~(leaf r locals)) ~'f3 +) ~(sub) ~(sub)) ; optimized, a function is evaluated after its arguments
      3 `(if (odd? ~(sub)) ~(sub) ~(sub))
      4 `(if (and (odd? ~(sub)) (pos? ~(sub))) ~(sub) ~(sub))
      5 `(or (when (odd? ~(sub)) ~(sub)) ~(sub))
      6 `(let [~x ~(sub) ~y ~(sub x)] ~(sub x y))
      7 `(let [[~x ~y] [~(sub) ~(sub)]] ~(sub x y))
      8 `(loop [~y 0 ~x ~(sub)] (if (< ~y 3) (recur (inc ~y) (+ ~x ~(sub x y))) ~x))
      9 `(loop [~y 0 ~x ~(sub)] (case ~y 0 (recur 1 ~(sub x)) 1 (recur 2 (+ ~x ~(sub x))) ~(sub x)))
      10 `(case (mod ~(sub) 3) 0 ~(sub) 1 ~(sub) ~(sub))
      11 `(try ~(sub) (catch :default ~'e ~(sub)))
      12 `(try ~(sub) (finally ~(sub)))
      13 `(try (if (odd? ~(sub)) (throw (js/Error. "odd")) ~(sub)) (catch :default ~'e ~(sub)) (finally ~(sub)))
      14 `(do ~(sub) ~(sub))
      15 `(let [~x ~(sub) f# (fn [q#] (+ q# ~x))] (f# ~(sub x)))
      16 `(letfn [(f# [q#] (if (pos? q#) (g# (dec q#)) q#)) (g# [q#] (f# (dec q#)))] (+ (f# ~(sub)) ~(sub)))
      17 `(.-length (.concat (str ~(sub)) ~(sub)))
      18 `(let [a# (cljs.core/array 0 0)] (aset a# 0 ~(sub)) (set! (.-foo a#) ~(sub)) (+ (aget a# 0) (.-foo a#)))
      19 `(cond (odd? ~(sub)) ~(sub) (even? ~(sub)) ~(sub) :else ~(sub))
      20 `(clojure.core/count (str {:a ~(sub) :b [~(sub) #{~(sub)}]}))
      21 `(let [~x (fn [] ~(leaf r locals))] (+ (~x) ~(sub))))))

(defn form
  "Returns a random form of a number, with `depth` levels at most, in which `locals` are bound."
  [^Random r depth locals]
  (let [sub (fn [& more] (form r (dec (long depth)) (into locals more)))]
    (cond
      (zero? (long depth)) (leaf r locals)
      (zero? (.nextInt r 3)) `(~'park ~(sub))
      (zero? (.nextInt r 4)) `(~'note ~(.nextInt r 100) ~(sub))
      :else (compound r sub locals))))

(defn- parked
  "Replaces (park x) by a take from a port of x."
  [form]
  (cond
    (and (seq? form) (= 'park (first form))) `(skein.async/<! (~'port ~(parked (second form))))
    (seq? form) (apply list (map parked form))
    (map? form) (update-vals form parked)
    (vector? form) (mapv parked form)
    (set? form) (into #{} (map parked) form)
    :else form))

(defmacro compare-all
  "Calls `check` with a number, a function that evaluates a random form plainly, and one that
  evaluates it in a block and returns the block; for `n` forms. Both take (fn note [k x])."
  [check n seed]
  `(do ~@(for [i (range n)
               :let [r (Random. (+ (* 1000 (long seed)) (long i)))
                     f (form r (if (zero? (mod i 4)) 3 2) [])]]
           `(~check ~i
                    (fn [~'note] ~f)
                    (fn [~'note ~'port] (skein.async/go (try ~(parked f) (catch :default ~'e :thrown))))))))
