;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.check
  "Checks of what callers pass. Each returns its argument, or throws an exception whose message
  says which argument it was, what it must be and what it is.

  * `function` `collection` `number` `whole` `milliseconds` `instance` `policy`
  * `bindings` for the vector of a macro, `options` for a map of them, `leading` for a map or its main value alone
  * `that` is the one that the others are made of

  `what` names the argument: a keyword for an option, else words such as \"f of wmap\".

      (try (whole :n 0 1) (catch clojure.lang.ExceptionInfo e (ex-message e)))
      ;=> \":n must be a whole number from 1, but is 0.\""
  (:require
   [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

(defn that
  "Returns `value`, or throws `error`, a keyword of doc/errors.md, unless `ok?`: then `wanted` says
  what it must be."
  [error what value ok? wanted]
  (when-not ok?
    (error/fail! error (str what " must be " wanted ", but is " (error/preview value) ".")
                 {:argument what :value (error/preview value)}))
  value)

(defn function
  "Returns `f`, or throws :skein/not-a-function if it can't be called."
  [what f]
  (if (ifn? f) f (that :skein/not-a-function what f false "a function")))

(defn collection
  "Returns `coll`, or throws :skein/bad-collection if it is nil or nothing to go through."
  [what coll]
  (that :skein/bad-collection what coll (and (some? coll) (seqable? coll)) "a collection, if need be an empty one"))

(defn number
  "Returns `n`, or throws :skein/bad-number unless `ok?` of it; `wanted` says that in words.

      (number :size 3 \"a whole number above 0\" pos-int?)
      ;=> 3"
  [what n wanted ok?]
  (that :skein/bad-number what n (ok? n) wanted))

(defn whole
  "Returns `n`, or throws :skein/bad-number if it is no whole number from `least` to `most`."
  ([what n least] (whole what n least Long/MAX_VALUE))
  ([what n least most]
   (that :skein/bad-number what n
         (and (int? n) (<= (long least) (long n) (long most)))
         (str "a whole number from " least (when (< (long most) Long/MAX_VALUE) (str " to " most))))))

(defn- time? [x]
  (and (number? x) (not (NaN? (double x)))))

(defn milliseconds
  "Returns `ms` as a long of 0 or more, or throws :skein/bad-number if it is no number. A time
  that is over already, below 0, is 0."
  ^long [what ms]
  (number what ms "a number of milliseconds" time?)
  (long (max 0.0 (min 1e12 (double ms)))))

(def time-option
  "What `options` knows of an option for which `milliseconds` says how long it is."
  [time? "a number of milliseconds" :skein/bad-number])

(defn instance
  "Returns `x`, or throws `error` unless it is of class `c`, which is `wanted` in words."
  [error what x ^Class c wanted]
  (that error what x (instance? c x) wanted))

(defn bindings
  "Returns `form`, the vector of a macro, or throws :skein/bad-binding unless it is one and `ok?` of it.

  shape  what it must be, such as \"[name]\""
  [what form shape ok?]
  (that :skein/bad-binding (str "The vector of " what) form (and (vector? form) (ok? form)) shape))

(defn policy
  "Returns `value`, or throws :skein/bad-policy unless `ok?` of it; `wanted` says that in words."
  [what value wanted ok?]
  (that :skein/bad-policy what value (ok? value) wanted))

(defn- option [k v [fits? wanted error]]
  (that (or error :skein/bad-option) k v (fits? v) wanted))

(defn options
  "Returns `given`, a map or nil, as a map without the options that are nil: nil is as good as not
  given. Throws :skein/bad-option unless it is a map, each of its keys is known and each value fits.

  known  {option [fits? wanted]} or {option [fits? wanted error]}: a predicate, what it means in
         words, and what is thrown instead"
  [what given known]
  (let [names (vec (sort (keys known)))]
    (that :skein/bad-option (str "The options of " what) given (or (nil? given) (map? given))
          (str "a map with some of the keys " names))
    (reduce-kv (fn each [m k v]
                 (cond
                   (not (contains? known k))
                   (error/fail! :skein/bad-option
                                (str what " has no option " (error/preview k) ". Its options are " names ".")
                                {:argument k :value (error/preview v)})
                   (nil? v) (dissoc m k)
                   :else (do (option k v (known k)) m)))
               (or given {}) given)))

(defn leading
  "As `options`, for a first argument that is a map, or the value of the option `k` alone.

      (leading \"wmap\" :n 4 {:n [pos-int? \"a whole number from 1\"]})
      ;=> {:n 4}"
  [what k given known]
  (if (map? given)
    (options what given known)
    {k (option k given (known k))}))
