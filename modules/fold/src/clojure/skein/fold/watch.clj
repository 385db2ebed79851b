;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.watch
  "Watches folds while they run: `progress`, `watch` for what the engine calls after each block, `pieces` of a fold that has ended."
  {:no-doc true}
  (:import
   (java.util Map)
   (java.util.concurrent.atomic AtomicLong)
   (java.util.concurrent.locks ReentrantLock)
   (skein.fold.engine Watch)
   (skein.fold.spi Feed Span)))

(set! *warn-on-reflection* true)

(def ^:private ^:const interval-ns "The shortest time between two reports." 50000000)

(defn progress
  "Returns how far a fold is: {:done units, :total units or nil if unknown, :unit keyword}."
  [^Watch watch]
  {:done (.done watch), :total (when-not (neg? (.size watch)) (.size watch)), :unit (keyword (.unit watch))})

(defn- at-intervals
  "Returns a function that calls `f`, unless a thread is calling it or has called it in the last 50 ms."
  [f]
  (let [lock (ReentrantLock.)
        called (AtomicLong. (System/nanoTime))]
    (fn [x]
      (let [now (System/nanoTime)]
        (when (and (<= interval-ns (- now (.get called))) (.tryLock lock))
          (try
            (.set called now)
            (f x)
            (finally (.unlock lock))))))))

(defn- add-block! [^Map pieces ^Watch watch part from units ns]
  (locking pieces
    ;; In an in-order run the parts are blocks of the first one.
    (let [part (if (and (= "in-order" (.path watch)) (seq pieces)) (key (first pieces)) part)
          thread (Thread/currentThread)
          piece (or (.get pieces part) {:from (when-not (neg? (long from)) from), :units 0, :blocks 0, :ns 0, :threads [thread]})]
      (.put pieces part (-> piece
                            (update :units + units) (update :blocks inc) (update :ns + ns)
                            (cond-> (not-any? #{thread} (:threads piece)) (update :threads conj thread)))))))

(defn watch
  "Returns a Watch for a fold of `source`, or nil if none is needed.

  pieces       a LinkedHashMap to which a piece is added for each part, see `pieces`; or nil
  on-progress  called with the progress from time to time, by one thread at a time; or nil"
  [source pieces on-progress]
  (when (or pieces on-progress)
    (let [[unit size] (cond
                        (instance? Span source) [(.unit ^Span source) (.size ^Span source)]
                        (instance? Feed source) [(.unit ^Feed source) -1]
                        :else ["elements" -1])
          report (when on-progress (at-intervals #(on-progress (progress %))))]
      (Watch. unit size (System/nanoTime) 0
              (fn on-block [watch part from units ns]
                (when pieces (add-block! pieces watch part from units ns))
                (when report (report watch)))))))

(defn pieces
  "Returns the pieces that were added to a map, by their first units: [{:from :units :blocks :ns :threads} ...]."
  [^Map pieces]
  (sort-by #(or (:from %) 0) (.values pieces)))
