;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.ring
  "A first-in first-out queue in an array that grows. As the buffer of a channel it is meant to hold
  `cap` values; a transducer may exceed that. What a channel asks of a buffer is in
  `skein.rt.channel`.")

(deftype Ring [^:mutable arr ^:mutable head ^:mutable len ^:mutable cap]
  Object
  (push [_ x]
    (let [n (alength arr)]
      (when (== len n)
        (let [bigger (make-array (* 2 n))]
          (dotimes [i len]
            (aset bigger i (aget arr (bit-and (+ head i) (dec n)))))
          (set! arr bigger)
          (set! head 0)))
      (aset arr (bit-and (+ head len) (dec (alength arr))) x)
      (set! len (inc len))))
  (shift [_]
    (let [x (aget arr head)]
      (aset arr head nil)
      (set! head (bit-and (inc head) (dec (alength arr))))
      (set! len (dec len))
      x))
  (size [_] len)
  (full [_] (>= len cap))
  (add [this x]
    (.push this x)
    false)
  (end [_] false)
  ICounted
  (-count [_] len))

(defn ring
  "Returns an empty ring whose capacity is `cap`."
  [cap]
  (Ring. (make-array 4) 0 0 cap))
