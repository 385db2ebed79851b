;; SPDX-License-Identifier: Apache-2.0
(ns skein.widefinder.driver
  "Runs accumulators over inputs, in parallel, and says clearly what can't be read.

  - `prepare-all`   paths -> prepared inputs and failures
  - `run`           prepared inputs -> one accumulator

  This is the one place where threads come in: a fold over slices, whose step counts the lines of one, and whose combine
  merges what two workers have counted."
  (:require [skein.fold :as fold]
            [skein.fold.source :as source]
            [skein.impl.error :as error]
            [skein.widefinder.inputs :as inputs])
  (:import (java.io File IOException)
           (java.util.concurrent.atomic AtomicBoolean)
           (skein.wf Accumulator ReadFailure ReadFailure$Kind Slice SliceQueue TooManyKeys)))

(set! *warn-on-reflection* true)

;;;; What can't be read

(defn- failure [keyword input message]
  {:skein/error keyword, :input input, :message message})

(defn- truncated [input position]
  (failure :skein/file-truncated input
           (str input ": became shorter while it was read, at byte " position "; try again when nobody writes to it")))

(defn- shrunk
  "Returns the failure of an input that is shorter already than when it was prepared, or nil. One that is followed may be."
  [{:keys [^String name size limit]}]
  (let [now (when (and size (not limit)) (.length (File. name)))]
    (when (and now (< (long now) (long size))) (truncated name now))))

(defn- read-failure [^ReadFailure e]
  (let [input (.-input e)
        position (.-position e)]
    (condp identical? (.-kind e)
      ReadFailure$Kind/TRUNCATED (truncated input position)
      ReadFailure$Kind/LINE_TOO_LONG
      (failure :skein/line-too-long input
               (str input ": the line at byte " position " is longer than memory allows; is it a text file?"))
      (failure :skein/file-unreadable input (str input ": can't be read: " (inputs/reason (.getCause e)))))))

(defn- fail-inputs! [failures]
  (let [{:keys [message] :as worst} (first failures)]
    (error/fail! (:skein/error worst) message {:input (:input worst), :failures (vec failures)})))

(defn- prepare [path]
  (or (inputs/check path)
      (try (inputs/prepare path)
           (catch IOException e
             (failure :skein/file-unreadable path (str path ": can't be read: " (inputs/reason e)))))))

(defn prepare-all
  "Returns `[prepared failures]` for a seq of paths. Throws the first failure, with all under :failures, unless :keep-going?."
  [paths {:keys [keep-going?]}]
  (let [{failures true, prepared false} (group-by (comp some? :skein/error) (map prepare paths))]
    (when (and (seq failures) (not keep-going?)) (fail-inputs! failures))
    [(vec prepared) (vec failures)]))

;;;; Running

(defn- total-bytes
  "Returns the size of all inputs together, or nil when one of them is a stream."
  [prepared]
  (reduce (fn add [^long total {:keys [^String name opener]}]
            (if opener (reduced nil) (+ total (.length (File. name)))))
          0
          prepared))

(defn- too-many-keys! [bytes]
  (error/fail! :skein/too-many-keys
               (str "so many different keys need more memory than there is; give --approx for counts with a known error, filter, "
                    "or give Java more memory, as in JAVA_OPTS=-Xmx8g" (when bytes (str " (now the tables may take " (quot (long bytes) 1000000) " MB)")))
               (if bytes {:limit-bytes bytes} {})))

;; What a worker has counted, and the buffer that all its slices are read into.
(deftype ^:private Worker [^Accumulator counts ^Slice slice])

(defn- turns
  "Returns a source of turns at a queue, which end when `empty?` says that one of them found nothing left. A turn is
  cheap, and all that takes time is done by whoever has it: reading, and counting."
  [queue ^AtomicBoolean empty?]
  (source/reading (fn turn [] (when-not (.get empty?) queue))))

(defn- take-turn [^Worker worker ^SliceQueue queue ^AtomicBoolean empty?]
  (let [^Slice slice (.-slice worker)]
    (if (.next queue slice)
      (.add ^Accumulator (.-counts worker) slice)
      (.set empty? true))
    worker))

(defn- merge-workers
  "Adds what `other` has counted to `worker`, several tallies at a time, because that is all there is to do at the end."
  [^Worker worker ^Worker other]
  (let [^Accumulator counts (.-counts worker)]
    (fold/fold {:grain 1, :unordered true}
               {:identity (constantly nil), :step (fn step [_ part] (.merge counts (.-counts other) (int part))), :combine (constantly nil)}
               (range (.parts counts)))
    worker))

(defn- count-slices
  "Returns an accumulator of all slices of a queue."
  [queue new-accumulator workers]
  (let [empty? (AtomicBoolean.)
        ^Worker worker (fold/fold {:parallelism workers, :grain 1, :unordered true}
                                  {:identity (fn new-worker [] (Worker. (new-accumulator) (Slice.)))
                                   :step (fn step [worker queue] (take-turn worker queue empty?))
                                   :combine merge-workers}
                                  (turns queue empty?))]
    (.-counts worker)))

(defn- count-all
  "Returns `{:result accumulator, :bytes-read n}`, or a failure when an input can't be read to its end."
  [prepared new-accumulator {:keys [workers slice-bytes on-start]}]
  (try
    (with-open [queue (SliceQueue. (mapv inputs/->input prepared)
                                   (int (or slice-bytes SliceQueue/DEFAULT_SLICE_BYTES)))]
      (when on-start
        (on-start {:total-bytes (total-bytes prepared), :bytes-read (fn bytes-read [] (.inputBytes queue))}))
      {:result (count-slices queue new-accumulator (or workers (.availableProcessors (Runtime/getRuntime))))
       :bytes-read (.inputBytes queue)})
    (catch ReadFailure e (read-failure e))
    (catch TooManyKeys e (too-many-keys! (.-limitBytes e)))
    (catch OutOfMemoryError _ (too-many-keys! nil))
    (catch StackOverflowError _
      (error/fail! :skein/bad-filter
                   (str "a regular expression needs more stack on one of the lines than there is; write it without a repeated choice"
                        " such as (a|b)*, or give Java more with JAVA_OPTS=-Xss64m")
                   {:filter :match}))
    (catch ArithmeticException _
      (error/fail! :skein/count-overflow "The bytes add up to more than 2^63 - 1; are the sizes in the log real?" {}))))

(defn- run-once
  "As `count-all`, of inputs that may have become shorter by now."
  [prepared new-accumulator options]
  (or (some shrunk prepared) (count-all prepared new-accumulator options)))

(defn run
  "Returns `{:result accumulator, :bytes-read n, :failures []}`: all prepared inputs, counted by accumulators that
  `new-accumulator`, a function of no arguments, makes, one for each worker, and that are then merged.

  With :keep-going?, an input that fails half-way has been counted in part, so the others are counted anew. That is
  impossible if one of them is a stream; then the failure is thrown after all.

  options  :workers, :slice-bytes, :keep-going?, :on-start as in `skein.widefinder/report`

  Throws :skein/file-unreadable, :skein/file-truncated, :skein/line-too-long, each with :failures, :skein/too-many-keys and
  :skein/count-overflow."
  [prepared new-accumulator {:keys [keep-going?] :as options}]
  (loop [prepared prepared, failures []]
    (let [{:keys [input] :as counted} (run-once prepared new-accumulator options)]
      (if-not (:skein/error counted)
        (assoc counted :failures failures)
        (let [failures (conj failures counted)
              others (filterv #(not= input (:name %)) prepared)]
          (when (or (not keep-going?) (not-every? :repeatable? others)) (fail-inputs! failures))
          (recur others failures))))))
