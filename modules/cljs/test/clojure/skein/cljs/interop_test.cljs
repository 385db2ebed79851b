;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.interop-test
  (:require-macros
   [skein.cljs.testing :refer [defblock]])
  (:require
   [cljs.test :refer-macros [is]]
   [skein.async :as a :refer [<! <? >! alts! async chan close! go put! timeout]]
   [skein.async.interop :as interop]))

(defn- never [] (js/Promise. (fn [_ _])))

(defn- later [ms f] (js/Promise. (fn [fulfil reject] (js/setTimeout (fn [] (f fulfil reject)) ms))))

;;;; Promises

(defblock a-promise-gives-its-value
  (is (= 1 (<! (js/Promise.resolve 1))))
  (is (= 2 (<! (later 1 (fn [fulfil _] (fulfil 2))))))
  (is (nil? (<! (js/Promise.resolve nil))))
  (let [p (js/Promise.resolve 3)]
    (is (= [3 3] [(<! p) (<! p)]))))

(defblock a-rejection-is-thrown-by-take-or-throw
  (let [e (js/Error. "expected")
        rejected (js/Promise.reject e)]
    (is (nil? (<! rejected)))
    (is (identical? e (try (<? rejected) (catch :default caught caught))))))

(defblock a-promise-may-lose-to-a-timeout
  (let [t (timeout 1) p (never)]
    (is (= [nil t] (alts! [p t])))
    (is (= [:value :own] (let [p (js/Promise.resolve :value) [v port] (alts! [p (never)])]
                           [v (if (identical? p port) :own :other)])))))

(defblock a-port-as-a-promise
  (let [c (chan 1) e (js/Error. "expected")]
    (>! c 1)
    (is (= 1 (<! (interop/->future c))))
    (close! c)
    (is (nil? (<! (interop/->future c))))
    (is (identical? e (try (<? (interop/->future (async (throw e)))) (catch :default caught caught))))))

;;;; Async iteration

(defn- counting
  "Returns an async iterable of the numbers below `n`, which counts in `asked` how many it gave."
  [n asked]
  (let [iterable #js {}]
    (unchecked-set iterable js/Symbol.asyncIterator
                   (fn [] #js {:next (fn [] (let [i @asked]
                                              (vswap! asked inc)
                                              (js/Promise.resolve #js {:done (>= i n) :value i})))}))
    iterable))

(defblock an-async-iterable-gives-its-values
  (is (= [0 1 2] (<! (a/into [] (counting 3 (volatile! 0)))))))

(defblock an-async-iterable-is-asked-only-on-demand
  (let [asked (volatile! 0) values (counting 100 asked)]
    (is (= 0 (<! values)))
    (<! (timeout 2))
    (is (<= @asked 2))
    (is (= 1 (<! values)))))

(defblock an-arm-that-lost-loses-no-value-of-an-iterable
  (let [values (counting 5 (volatile! 0)) other (chan 1)]
    (put! other :other)
    (is (= :other (first (alts! [values other]))))
    (is (= [0 1 2 3 4] (<! (a/into [] values))))))

(defblock a-failing-iterable-fails
  (let [iterable #js {} e (js/Error. "expected")]
    (unchecked-set iterable js/Symbol.asyncIterator (fn [] #js {:next (fn [] (js/Promise.reject e))}))
    (is (identical? e (try (<? iterable) (catch :default caught caught))))))

(defblock a-channel-is-an-async-iterable
  (let [c (a/to-chan! [1 2])
        iterator (.call (unchecked-get c js/Symbol.asyncIterator) c)
        step (fn [] (go (let [s (<! (js-invoke iterator "next"))] [(unchecked-get s "done") (unchecked-get s "value")])))]
    (is (= [[false 1] [false 2] [true nil]] [(<! (step)) (<! (step)) (<! (step))]))))

;;;; Abort signals

(defblock an-abort-signal-is-a-port
  (let [controller (js/AbortController.) signal (unchecked-get controller "signal")]
    (js/setTimeout (fn [] (js-invoke controller "abort" :reason)) 1)
    (is (= :reason (first (alts! [(never) signal]))))
    (is (= :reason (<! signal)))))

(defblock a-port-as-an-abort-signal
  (let [c (chan) signal (interop/->signal c)]
    (is (false? (unchecked-get signal "aborted")))
    (>! c :stop)
    (is (= :stop (<! signal)))
    (is (true? (unchecked-get signal "aborted"))))
  (is (true? (let [signal (interop/->signal (timeout 0))]
               (<! signal)
               (unchecked-get signal "aborted")))))
