;; SPDX-License-Identifier: Apache-2.0
(ns lab.e8-wide-finder
  "A report on a web server's log by the rules of Wide Finder 2. After Alex Osborne, 2009, whose three designs differ in
  how the file is read, how the ten greatest are found and how chunks come to threads.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e8-wide-finder"
  (:require
   [lab.e8-log :as log]
   [lab.measure :as measure]
   [skein.fold :as fold]
   [skein.fold.lines :as lines]
   [skein.wf.wf2 :as wf2])
  (:import
   (java.util HashMap)
   (java.util.concurrent ConcurrentLinkedQueue)
   (java.util.concurrent.atomic AtomicLong)
   (java.util.function BiFunction)))

(set! *warn-on-reflection* true)

(def ^:private sizes
  {:full {:megabytes 256, :chunk-bytes 4000000, :budget-ms 2000}
   :quick {:megabytes 12, :chunk-bytes 1000000, :budget-ms 150}
   :tiny {:megabytes 1, :chunk-bytes 100000, :budget-ms 0}})

(defn- shared-add
  "Adds to an atom with a map from key to AtomicLong."
  [tallies tally k n]
  (let [counters (tallies tally)
        ^AtomicLong counter (or (get @counters k)
                                (get (swap! counters #(if (contains? % k) % (assoc % k (AtomicLong.)))) k))]
    (.addAndGet counter (long n))))

(defn- by-pmap [f chunks] (dorun (pmap f chunks)))

(defn- by-queue [f chunks]
  (let [queue (ConcurrentLinkedQueue. ^java.util.Collection chunks)]
    (run! deref (doall (repeatedly (.availableProcessors (Runtime/getRuntime))
                                   #(future (loop [] (when-let [chunk (.poll queue)] (f chunk) (recur)))))))))

(defn- published [file {:keys [chunk-bytes]} buffer-bytes ten-greatest each-chunk]
  (let [tallies (log/tallies #(atom {}))]
    (each-chunk (fn [chunk]
                  (log/each-line file chunk buffer-bytes #(log/count-line shared-add tallies %)))
                (log/chunks file chunk-bytes))
    (update-vals tallies #(ten-greatest (update-vals @% (fn [^AtomicLong n] (.get n)))))))

(def ^:private add-longs (reify BiFunction (apply [_ a b] (+ (long a) (long b)))))
(defn- own-add [tallies tally k n] (.merge ^HashMap (tallies tally) k n add-longs))

(defn- merge-tallies [left right]
  (doseq [[tally counts] right, [k n] counts] (own-add left tally k n))
  left)

(def ^:private tallies-fold
  {:identity #(log/tallies (fn [] (HashMap.)))
   :step (fn [tallies line] (log/count-line own-add tallies line) tallies)
   :combine merge-tallies
   :complete (fn [tallies] (update-vals tallies log/select-ten))})

(defn- folded [file] (fold/fold tallies-fold (lines/lines {:charset "ISO-8859-1"} file)))

(defn- by-wf [file]
  (update-vals (select-keys (wf2/report [file] {:checksums? false}) log/names) :top))

(defn- run [{:keys [megabytes] :as size}]
  (let [file (log/sample megabytes)
        right (folded file)]
    (doseq [[row f] [["1: pmap, small buffers, sort" #(published file size 8192 log/sort-ten by-pmap)]
                     ["2: large buffers, selection" #(published file size 1048576 log/select-ten by-pmap)]
                     ["3: threads on a queue" #(published file size 1048576 log/select-ten by-queue)]
                     ["skein.fold over lines" #(folded file)]
                     ["skein wf" #(by-wf file)]]]
      (measure/measure! {:row row, :column "here", :megabytes megabytes, :expected right} f))))

(defn -main "Runs the experiment." [] (measure/main sizes run))
