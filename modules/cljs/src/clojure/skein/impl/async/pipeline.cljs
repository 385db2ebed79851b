;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.pipeline
  "Works on several values at once, and passes the results on in order.

      from -> feed -> items, in order -> drain -> to

  An item is the channel of one value's results. It is in the channel `items` while its results
  are computed, so the size of `items` limits how many values are under way."
  {:no-doc true}
  (:require-macros
   [skein.async :refer [go]])
  (:require
   [skein.impl.argument :as argument]
   [skein.impl.operations :refer [<! >! chan close! poll!]]
   [skein.rt.callback :as callback]
   [skein.rt.scheduler :as scheduler]))

(defn- open? [to]
  (not (.isClosed to)))

(defn- feed
  "Makes an item for each value, and then calls `begin` with the value and the item."
  [from to items begin]
  (go (try
        (loop []
          (when (open? to)
            (when-some [v (<! from)]
              (let [item (chan 1)]
                (when (>! items item)
                  (try (begin v item)
                       (catch :default e
                         (scheduler/report e)
                         (close! item)))
                  (recur))))))
        (finally (close! items)))))

(defn- discard
  "Closes `ch` and drops its values, so that no put on it waits any more."
  [ch]
  (close! ch)
  (while (some? (poll! ch))))

(defn- abandon
  "Closes `items`, and discards the items that are still there."
  [items]
  (close! items)
  (loop []
    (when-some [item (poll! items)]
      (discard item)
      (recur))))

(defn- drain
  "Puts what the items hold on `to`, in order."
  [items to close?]
  (go (loop []
        (if-some [item (<! items)]
          (if (loop []
                (let [v (<! item)]
                  (cond (nil? v) true
                        (>! to v) (recur)
                        :else false)))
            (recur)
            (do (discard item) (abandon items)))
          (when close? (close! to))))))

(defn pipeline-async
  "See skein.async/pipeline-async."
  [n to af from close?]
  (assert (pos? n))
  (argument/target to)
  (argument/function af)
  (argument/source from)
  ;; One item more than `items` holds is being drained.
  (let [items (if (= 1 n) (chan) (chan (dec n)))]
    (feed from to items af)
    (drain items to close?)))

(defn pipeline
  "See skein.async/pipeline. There is only one thread, so a value is worked on when it is taken."
  [n to xf from close? ex-handler]
  (pipeline-async n to
                  (fn work [v item]
                    (let [results (chan 1 xf ex-handler)]
                      ;; A buffer of one takes all results of one value, however many.
                      (.putNow results callback/scratch v)
                      (close! results)
                      (go (loop []
                            (when-some [v (<! results)]
                              (when (>! item v) (recur))))
                          (close! item))))
                  from close?))
