;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.on-error
  "What becomes of the exceptions of a function that is called on many values: the option :on-error.

  * `option` - for a map of known options
  * `handling` - the function with the option's value applied
  * `none?` - whether a value has no result

  :throw    the exception ends the whole
  :collect  each result is {:value x} or {:error exception}
  :report   the uncaught-exception handler gets the exception, and the value has no result
  function  of the exception and the value: returns the result, or throws, as :throw does

      ((handling (fn [_ x] [:no x]) (fn [x] (/ 1 x))) 0)
      ;=> [:no 0]"
  {:no-doc true}
  (:require
   [clojure.string :as str])
  (:import
   (skein.rt Region Uncaught)))

(set! *warn-on-reflection* true)

(defonce ^:private none (Object.))

(defn none?
  "Returns whether `result` says that there is no result."
  [result]
  (identical? none result))

(defn option
  "Returns the entry of :on-error for the `known` of skein.impl.check/options, with these keywords and functions."
  [keywords]
  [(fn fits? [x] (if (keyword? x) (some #{x} keywords) (ifn? x)))
   (str (str/join ", " keywords) " or a function of the exception and the value")])

(defn handling
  "Returns a function of one value that calls `f`, and treats its exceptions as `on-error` says. What it throws must end the
  whole."
  [on-error f]
  (if (= :throw on-error)
    f
    (fn handled [x]
      (try
        (let [result (f x)]
          (if (= :collect on-error) {:value result} result))
        (catch Throwable t
          (when (Region/isCancellation t) (throw t)) ; the whole is ending, which is no failure of this call
          (case on-error
            :collect {:error t}
            :report (do (Uncaught/report t) none)
            (on-error t x)))))))
