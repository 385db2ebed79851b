;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.describe
  "Channels, buffers and blocks as data, for `clojure.datafy`, and as text. These functions take
  no values and do not wait. Counts are exact only while nothing runs."
  {:no-doc true}
  (:require
   [clojure.datafy :as datafy]
   [skein.impl.error])
  (:import
   (java.io Writer)
   (skein.rt Buffer Buffers$Dropping Buffers$Fixed Buffers$Promise Buffers$Result Buffers$Sliding Channel Labels Waiter)
   (skein.rt.block Failures Frame Sites)
   (skein.rt.schedule Scheduler Timeout)))

(set! *warn-on-reflection* true)

(defn- buffer-type [b]
  (condp instance? b
    Buffers$Dropping 'DroppingBuffer
    Buffers$Sliding 'SlidingBuffer
    Buffers$Promise 'PromiseBuffer
    Buffers$Fixed 'FixedBuffer
    Buffers$Result 'FixedBuffer
    (symbol (.getSimpleName (class b)))))

(defn buffer
  "Returns a buffer as {:type :count :capacity}; the type has core.async's name."
  [^Buffer b]
  {:type (buffer-type b)
   :count (.count b)
   :capacity (let [n (.capacity b)] (when-not (neg? n) n))})

(defn frame
  "Returns the place where a block is parked: {:file :line :column :operation :form}."
  [^Frame f]
  (let [sites (Sites/of (.body f))
        site (.at sites (.state f))]
    (if site
      {:file (.file site) :line (.line site) :column (.column site) :operation (.operation site) :form (.form site)}
      {:file (.file sites)})))

(defn- frames [^Channel c takes?]
  (into [] (comp (keep (fn of [^Waiter w] (.block w)))
                 (map (fn shown [f] (with-meta (frame f) {::datafy/obj f}))))
        (.waiters c takes?)))

(defn channel
  "Returns a channel as core.async does, {:put-count :take-count :closed? :buffer}. Skein adds the
  blocks that wait there, :takers and :putters, each as `frame` returns it, and for a timeout
  :remaining-ms."
  [^Channel c]
  (let [b (.buffer c)]
    (cond-> {:put-count (.putterCount c)
             :take-count (.takerCount c)
             :closed? (.isClosed c)
             :takers (frames c true)
             :putters (frames c false)}
      b (assoc :buffer (buffer b))
      (instance? Timeout (.role c))
      (assoc :remaining-ms (max 0 (quot (- (.deadlineNanos ^Timeout (.role c)) (Scheduler/nanoTime)) 1000000))))))

(defn- kind [^Channel c]
  (cond
    (instance? Timeout (.role c)) "timeout"
    (.isResult c) "result"
    :else "chan"))

(defn print-channel
  "Writes a channel as #<chan orders 2/10 puts 1 takes 3 closed 1a2b3c>: its label, how full its buffer is, how many
  puts and takes wait if any do, and whether it is closed; a block's port says failed if the block has thrown."
  [^Channel c ^Writer w]
  (let [b (.buffer c)
        {:keys [count capacity]} (when b (buffer b))
        puts (.putterCount c)
        takes (.takerCount c)]
    (.write w (str "#<" (kind c)
                   (some->> (Labels/of c) (str " "))
                   (when b (str " " count (when capacity (str "/" capacity))))
                   (when (pos? puts) (str " puts " puts))
                   (when (pos? takes) (str " takes " takes))
                   (when (.isClosed c) (if (or (.isFailed c) (Failures/of c)) " failed" " closed"))
                   " " (Integer/toHexString (System/identityHashCode c)) ">"))))
