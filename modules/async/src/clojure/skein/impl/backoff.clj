;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.backoff
  "How often something that fails is tried again, and after which pause: the options of
  skein.virtual/retry and of skein.async.streams/restart."
  {:no-doc true}
  (:require
   [skein.impl.check :as check])
  (:import
   (skein.rt World)))

(set! *warn-on-reflection* true)

(def known
  "Option -> what its value must be; see skein.impl.check/options."
  {:attempts [pos-int? "a whole number from 1"]
   :backoff-ms check/time-option
   :factor [(fn [x] (and (number? x) (<= 1 (double x)))) "a number from 1"]
   :max-backoff-ms check/time-option
   :jitter [(fn [x] (and (number? x) (<= 0 (double x) 1))) "a number from 0 to 1"]
   :retry? [ifn? "a function"]})

(defn with-defaults
  "Returns `options`, which have been checked, with all of `known`, and times in milliseconds."
  [options]
  (let [ms (fn [options k] (update options k (partial check/milliseconds k)))]
    (reduce ms (merge {:attempts 3 :backoff-ms 100 :factor 2 :max-backoff-ms 10000 :jitter 0.5
                       :retry? (fn any-exception? [thrown] (instance? Exception thrown))}
                      options)
            [:backoff-ms :max-backoff-ms])))

(defn pause-ms
  "Returns how long to wait after attempt `n`, counted from 1, has failed."
  ^long [{:keys [backoff-ms factor max-backoff-ms jitter]} n]
  (let [full (min (double max-backoff-ms) (* (double backoff-ms) (Math/pow (double factor) (dec (long n)))))]
    (Math/round (* full (- 1.0 (* (double jitter) (World/drawDouble)))))))

(defn again?
  "Returns whether to try again after attempt `n` threw `thrown`."
  [{:keys [attempts retry?]} n thrown]
  (and (< (long n) (long attempts))
       (retry? thrown)))
