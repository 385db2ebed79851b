;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.check
  "Checks of arguments. Each returns its argument, or throws an exception. The message says which
  argument is wrong, what it must be and what it is.

  * `function` `collection` `number` `whole` `milliseconds` `instance` `port`
  * `bindings` for the vector of a macro, `options` for a map of options, `no-options` for a form that must not give one, `leading` for a map of options or one value
  * `that`, which the others use; `asserts` where core.async throws an AssertionError

  `what` names the argument: a keyword for an option, otherwise a text such as \"f of pmap\".

      (try (whole :n 0 1) (catch clojure.lang.ExceptionInfo e (ex-message e)))
      ;=> \":n must be a whole number from 1, but is 0. [:skein/bad-argument]\""
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error])
  (:import
   (java.time Duration)
   (skein.base Assertion)))

(set! *warn-on-reflection* true)

(defn that
  "Returns `value` if `ok?`. Otherwise throws :skein/bad-argument; `wanted`, a text, says what the value must be."
  [what value ok? wanted]
  (when-not ok?
    (error/fail! :skein/bad-argument (str what " must be " wanted ", but is " (error/preview value) ".")
                 {:argument what :wanted wanted :value (error/preview value)}))
  value)

(defmacro asserts
  "Like `assert`, which core.async uses in this place. The AssertionError has the data of `that`."
  [form what wanted message]
  `(when-not ~form
     (throw (Assertion. (str "Assert failed: " ~message "\n" ~(pr-str form))
                        {:skein/error :skein/bad-argument :argument ~what :wanted ~wanted}))))

(defn function
  "Returns `f`, or throws :skein/bad-argument if it can't be called."
  [what f]
  (if (ifn? f) f (that what f false "a function")))

(defn collection
  "Returns `coll`, or throws :skein/bad-argument if it is not seqable. As everywhere in Clojure, nil is an empty collection."
  [what coll]
  (that what coll (seqable? coll) "a collection"))

(defn number
  "Returns `n`, or throws :skein/bad-argument unless `ok?`, a predicate, is true of it. `wanted` says what it must be.

      (number :size 3 \"a whole number above 0\" pos-int?)
      ;=> 3"
  [what n wanted ok?]
  (that what n (ok? n) wanted))

(defn whole
  "Returns `n`, or throws :skein/bad-argument if it is not a whole number from `least` to `most`."
  ([what n least] (whole what n least Long/MAX_VALUE))
  ([what n least most]
   ;; The text takes longer than the check, so it is made only when it is needed.
   (if (and (int? n) (<= (long least) (long n) (long most)))
     n
     (that what n false
           (str "a whole number from " least (when (< (long most) Long/MAX_VALUE) (str " to " most)))))))

(defn- time? [x]
  (or (instance? Duration x)
      (and (number? x) (not (NaN? (double x))))))

(def time-option
  "The entry of an option that holds a time, for the `known` of `options`; see `milliseconds`."
  [time? "a number of milliseconds or a java.time.Duration"])

(defn milliseconds
  "Returns the time `x`, a number of milliseconds or a Duration, in milliseconds, as a long from 0. What is below 0 counts as
  0, and what is longer than some 30 years as that. Throws :skein/bad-argument if `x` is neither.

      (milliseconds :timeout-ms (java.time.Duration/ofSeconds 2))
      ;=> 2000"
  ^long [what x]
  (number what x (second time-option) time?)
  (let [ms (if (instance? Duration x)
             (+ (* 1e3 (.getSeconds ^Duration x)) (/ (.getNano ^Duration x) 1e6)) ; its toMillis may overflow
             (double x))]
    (long (max 0.0 (min 1e12 ms)))))

(defn instance
  "Returns `x`, or throws :skein/bad-argument unless it is an instance of `c`. `wanted` says what it must be."
  [what x ^Class c wanted]
  (that what x (instance? c x) wanted))

(defn bindings
  "Returns `form`, the vector of a macro, or throws :skein/bad-argument unless it is a vector and `ok?`, a
  predicate, is true of it.

  shape  what it must be, such as \"[name]\""
  [what form shape ok?]
  (that (str "The vector of " what) form (and (vector? form) (ok? form)) shape))

(defn- option [k v [fits? wanted]]
  (that k v (fits? v) wanted))

(defn options
  "Returns `given`, a map or nil, as a map without the options that are nil: nil means not given.
  Throws :skein/bad-argument unless it is a map, each of its keys is known and each value fits.

  known  {option [fits? wanted]}: a predicate, and a text that says what the value must be"
  [what given known]
  (let [names #(vec (sort (keys known)))]
    (when-not (or (nil? given) (map? given))
      (that (str "The options of " what) given false (str "a map with some of the keys " (names))))
    (reduce-kv (fn each [m k v]
                 (cond
                   (not (contains? known k))
                   (error/fail! :skein/bad-argument
                                (str what " has no option " (error/preview k) ". Its options are " (names) ".")
                                {:argument k :value (error/preview v)})
                   (nil? v) (dissoc m k)
                   :else (do (option k v (known k)) m)))
               (or given {}) given)))

(defn no-options
  "Returns `x`, the value of the first of several forms in the body of the macro `what`. Throws :skein/bad-argument if `x` is a map
  with an option of `known`: the macro has taken the form that makes its options for a part of its body. `remedy` says what to do.

      (no-options \"check\" {:lives 3} {:seed [int? \"a number\"]} \"\")
      ;=> {:lives 3}"
  [what x known remedy]
  (when (and (map? x) (some (partial contains? known) (keys x)))
    (error/fail! :skein/bad-argument
                 (str "The first form in the body of " what " gives the options " (error/preview x) ", which would be ignored. " remedy)
                 {:argument (error/preview x)}))
  x)

(defn leading
  "Like `options`, for a first argument that is a map of options, or only the value of the option `k`.

      (leading \"pmap\" :n 4 {:n [pos-int? \"a whole number from 1\"]})
      ;=> {:n 4}"
  [what k given known]
  (if (map? given)
    (options what given known)
    (let [[fits? wanted] (known k)]
      (when-not (fits? given) ; often a function, because the argument was forgotten
        (that (str "The first argument of " what) given false (str wanted ", or a map of options")))
      {k given})))

(defn port
  "Returns `value`, or throws :skein/bad-argument unless `ok?`. `wanted` says what it must be; for a channel of core.async, the
  message says how to use one."
  [what value ok? wanted]
  (let [theirs? (str/starts-with? (str (some-> value class .getName)) "clojure.core.async.impl.channels.")]
    (that what value ok?
          (cond-> wanted theirs? (str " (a channel of core.async: load skein.async.coexist)")))))
