;; SPDX-License-Identifier: Apache-2.0
(ns skein.widefinder.follow
  "Keeps the answer to a query up to date while logs grow.

  - `follow`   reads what is there, then what comes, until told to stop

  What is there is read on all cores; what comes, by the calling thread, which sleeps in between."
  (:require [skein.impl.error :as error]
            [skein.widefinder.analysis :as analysis]
            [skein.widefinder.driver :as driver]
            [skein.widefinder.inputs :as inputs])
  (:import (java.io File IOException)
           (skein.wf Analysis AnalysisPlan Slice Tail Tail$Event WriteFailure)))

(set! *warn-on-reflection* true)

(def ^:const poll-ms
  "How long to sleep when nothing has come."
  200)

(def ^:const least-show-ms
  "How long there is at least between two results."
  1000)

(def ^:private show-cost-factor
  "A result that takes long to make is made seldom: at most this part of the time goes into it."
  100)

;;;; Starting

(defn- check-followable!
  "Throws for what is there and is no file, before it is opened: a pipe would wait for a writer."
  [^String path]
  (let [file (File. path)]
    (when (or (= path "-") (and (.exists file) (not (.isFile file)) (not (.isDirectory file))))
      (error/fail! :skein/bad-option (str "--follow needs files, and " path " is none; name the log itself") {:input path}))))

(defn- unreadable! [path e]
  (error/fail! :skein/file-unreadable (str path ": can't be read: " (inputs/reason e)) {:input path}))

(defn- wait-for-lines
  "Returns prepared inputs once each has a first line, by which its format is known; nil when told to stop before."
  [paths options stopped?]
  (loop []
    (run! check-followable! paths)
    (let [[prepared] (driver/prepare-all paths options)]
      (cond
        (stopped?) nil
        (or (:log-format options) (every? (fn any-line? [{:keys [^bytes head]}] (some #(= 10 %) head)) prepared)) prepared
        :else (do (Thread/sleep (long poll-ms)) (recur))))))

(defn- read-rest
  "Reads what a tail has; returns how many bytes that were."
  [^Tail tail ^Analysis analysis ^Slice slice on-event]
  (loop [n 0]
    (let [event (.read tail slice)]
      (.add analysis slice)
      (when (or (= event Tail$Event/ROTATED) (= event Tail$Event/TRUNCATED)) (on-event event))
      (if (and (= event Tail$Event/NOTHING) (zero? (.inputBytes slice)))
        n
        (recur (+ n (.inputBytes slice)))))))

(defn- run-engine [inputs {:keys [^AnalysisPlan plan]} options]
  (let [{:keys [result bytes-read]} (driver/run inputs (fn new-analysis [] (Analysis. plan)) options)]
    {:analysis result, :bytes-read bytes-read}))

(defn- catch-up
  "Counts what is there, on all cores, and lets the tails go on behind it; returns {:analysis :bytes-read}. If a log was
  rotated in the meantime, another file may have been read than the one that is followed: then the tails read all."
  [prepared tails planned options]
  (let [ends (mapv (fn end [^Tail tail] (when tail (.endOfLines tail))) tails)
        limited (mapv (fn limit [input end] (cond-> input end (assoc :limit end))) prepared ends)
        counted (run-engine limited planned options)]
    (if (every? (fn current? [^Tail tail] (or (nil? tail) (.isCurrent tail))) tails)
      (do (run! (fn seek [[^Tail tail end]] (when tail (.seek tail (long end)))) (map vector tails ends))
          counted)
      (run-engine (filterv :opener prepared) planned options))))

;;;; Going on

(defn- show! [analysis planned bytes-read start on-result]
  (let [before (System/nanoTime)]
    (on-result (analysis/finished analysis planned {:bytes-read bytes-read} start))
    (+ (System/nanoTime) (max (* 1000000 (long least-show-ms)) (* (long show-cost-factor) (- (System/nanoTime) before))))))

(defn- read-tails
  "Reads what all tails have; returns how many bytes that were."
  [tails analysis slice on-event]
  (reduce (fn add [n [path tail]]
            (+ (long n)
               (long (try (read-rest tail analysis slice #(on-event path %))
                          (catch WriteFailure e (throw e))
                          (catch IOException e (unreadable! path e))))))
          0
          tails))

(defn- run-loop [tails {:keys [^Analysis analysis bytes-read]} planned start {:keys [stopped? on-result on-event]}]
  (let [slice (Slice.)]
    (loop [bytes-read (long bytes-read), shown -1, next-show 0]
      (let [more (long (read-tails tails analysis slice on-event))
            bytes-read (+ bytes-read more)
            stop? (stopped?)]
        (cond
          stop? (do (doseq [[_ ^Tail tail] tails]
                      (.finish tail slice)
                      (.add analysis slice))
                    (show! analysis planned bytes-read start on-result))
          (and (not= shown bytes-read) (>= (System/nanoTime) (long next-show)))
          (recur bytes-read bytes-read (long (show! analysis planned bytes-read start on-result)))
          :else (do (when (zero? more) (Thread/sleep (long poll-ms)))
                    (recur bytes-read (long shown) (long next-show))))))))

(defn- open-tails [prepared]
  (mapv (fn open [{:keys [name opener format]}]
          (when-not opener
            (try (Tail. name (int format))
                 (catch IOException e (unreadable! name e)))))
        prepared))

(defn follow
  "Answers `query` about the logs at `paths` again and again while they grow, and returns when told to stop.

  options  :stopped?   a function without arguments that says whether to stop; then all is read once more, a line without an
                       end counts as it stands, and a last result is given
           :on-result  gets each result, as `skein.widefinder.analysis/analyse` returns it
           :on-event   gets a path and the engine's event when a log is rotated or truncated
           and those of `analyse`

  Compressed files are counted and not followed. A result is made when something has come, at most every `least-show-ms`, and
  less often if making it takes long. Throws what `analyse` throws, and :skein/bad-option for standard input and pipes."
  [paths query {:keys [stopped?] :as options}]
  (let [start (System/nanoTime)]
    (when-let [prepared (wait-for-lines paths options stopped?)]
      (let [{:keys [prepared] :as planned} (analysis/planned prepared query options)
            tails (open-tails prepared)]
        (try
          (let [counted (catch-up prepared tails planned options)]
            (run-loop (keep (fn named [[{:keys [name]} tail]] (when tail [name tail])) (map vector prepared tails))
                      counted planned start options))
          (finally (run! (fn close [^Tail tail] (when tail (.close tail))) tails)))))))
