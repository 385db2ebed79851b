;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.ring
  "A first-in first-out queue in an array that grows. It is meant to hold `cap` values, and takes more."
  {:no-doc true})

;; Rare steps are in functions that Closure does not inline, here and in channels and ports. V8 inlines only
;; small functions, and a park should become one piece of machine code.

(defn- nils
  "Returns an array of `n` nils. V8 gives an array of `make-array` another type when the first object is
  stored in it, and then compiles the code that uses it again."
  [n]
  (.fill (make-array n) nil))

(defn- grow
  "Doubles the array of `ring`, which is full."
  {:jsdoc ["@noinline"]}
  [ring]
  (let [arr (.-arr ring)
        head (.-head ring)]
    (set! (.-arr ring) (.concat (.slice arr head) (.slice arr 0 head) (nils (alength arr))))
    (set! (.-head ring) 0)))

(deftype Ring [^:mutable arr ^:mutable head ^:mutable len ^:mutable cap]
  Object
  (push [this x]
    (when (== len (alength arr)) (grow this))
    (aset arr (bit-and (+ head len) (dec (alength arr))) x)
    (set! len (inc len)))
  (shift [_]
    (let [x (aget arr head)]
      (aset arr head nil)
      (set! head (bit-and (inc head) (dec (alength arr))))
      (set! len (dec len))
      x))
  (size [_] len)
  (full [_] (>= len cap)))

(defn ring
  "Returns an empty ring whose capacity is `cap`."
  [cap]
  (Ring. (nils 4) 0 0 cap))
