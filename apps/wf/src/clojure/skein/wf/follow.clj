;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.follow
  "Keeps the answer to a query up to date while logs grow.

  - `follow`   reads what is there, then what comes, until told to stop

  What is there is read on all cores; what comes, by the calling thread, which sleeps in between."
  (:require
   [skein.impl.error :as error]
   [skein.wf.analysis :as analysis]
   [skein.wf.driver :as driver])
  (:import
   (java.io File IOException)
   (skein.fold.files InputFile)
   (skein.wf Analysis Tail Tail$Event WriteFailure)))

(set! *warn-on-reflection* true)

(def ^:const poll-ms
  "How long to sleep when nothing has come."
  200)

(def ^:const least-show-ms
  "How long there is at least between two results."
  1000)

(def ^:const default-linger-ms
  "How long a file is still read after another one has got its name: its writers may not have noticed yet."
  30000)

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
  (error/fail! :skein/file-unreadable (str "Can't read " path ": " (ex-message e) ".") {:path path}))

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
  "Reads what a tail has."
  [^Tail tail ^Analysis analysis on-event]
  (loop []
    (let [event (.read tail)]
      (.add analysis (.slice tail))
      (when (or (= event Tail$Event/ROTATED) (= event Tail$Event/TRUNCATED)) (on-event event))
      (when-not (= event Tail$Event/NOTHING) (recur)))))

(defn- run-engine [inputs {:keys [plan] :as planned} options]
  (:result (driver/run inputs (analysis/counting plan) (analysis/run-options planned options))))

(defn- catch-up
  "Counts what is there, on all cores, and lets the tails go on behind it; returns the analysis. If a log was
  rotated in the meantime, another file may have been read than the one that is followed: then the tails read all."
  [prepared tails planned options]
  (let [ends (mapv (fn end [^Tail tail] (when tail (.endOfLines tail))) tails)
        up-to (fn up-to [ends] (mapv (fn limit [input end] (cond-> input end (update :file #(.between ^InputFile % 0 (long end))))) prepared ends))
        counted (run-engine (up-to ends) planned options)]
    (if (every? (fn current? [^Tail tail] (or (nil? tail) (.isCurrent tail))) tails)
      (do (run! (fn seek [[^Tail tail end]] (when tail (.seek tail (long end)))) (map vector tails ends))
          counted)
      (run-engine (up-to (map #(when % 0) tails)) planned options))))

;;;; Going on

(defn- show! [^Analysis analysis planned start on-result]
  (let [before (System/nanoTime)]
    (on-result (analysis/finished analysis planned {:bytes-read (.inputBytes analysis)} start))
    (+ (System/nanoTime) (max (* 1000000 (long least-show-ms)) (* (long show-cost-factor) (- (System/nanoTime) before))))))

(defn- read-tails [tails analysis on-event]
  (doseq [[path tail] tails]
    (try (read-rest tail analysis #(on-event path %))
         (catch WriteFailure e (throw e))
         (catch IOException e (unreadable! path e)))))

(defn- run-loop [tails ^Analysis analysis planned start {:keys [stopped? on-result on-event]}]
  (loop [shown -1, next-show 0]
    (let [stop? (stopped?)
          before (.inputBytes analysis)
          _ (read-tails tails analysis on-event)
          bytes-read (.inputBytes analysis)]
      (cond
        stop? (do (doseq [[_ ^Tail tail] tails]
                    (while (.finish tail) (.add analysis (.slice tail))))
                  (show! analysis planned start on-result))
        (and (not= shown bytes-read) (>= (System/nanoTime) (long next-show)))
        (recur bytes-read (long (show! analysis planned start on-result)))
        :else (do (when (= before bytes-read) (Thread/sleep (long poll-ms)))
                  (recur (long shown) (long next-show)))))))

(defn- open-tails [prepared linger-ms]
  (vec (map-indexed (fn open [i {:keys [name ^InputFile file]}]
                      (when-not (.isSerial file)
                        (try (Tail. name (int i) (long linger-ms))
                             (catch IOException e (unreadable! name e)))))
                    prepared)))

(defn follow
  "Answers `query` about the logs at `paths` again and again while they grow, and returns when told to stop.

  options  :stopped?   a function without arguments that says whether to stop; then all is read once more, a line without an
                       end counts as it stands, and a last result is given
           :on-result  gets each result, as `skein.wf.analysis/analyse` returns it
           :linger-ms  how long a rotated file is still read, `default-linger-ms` by default
           :on-event   gets a path and the engine's event when a log is rotated or truncated
           and those of `analyse`

  Compressed files are counted and not followed. A result is made when something has come, at most every `least-show-ms`, and
  less often if making it takes long. Throws what `analyse` throws, and :skein/bad-option for standard input and pipes."
  [paths query {:keys [stopped? linger-ms] :or {linger-ms default-linger-ms} :as options}]
  (let [start (System/nanoTime)]
    (when-let [prepared (wait-for-lines paths options stopped?)]
      (let [{:keys [prepared] :as planned} (analysis/planned prepared query options)
            tails (open-tails prepared linger-ms)]
        (try
          (let [counted (catch-up prepared tails planned options)]
            (run-loop (keep (fn named [[{:keys [name]} tail]] (when tail [name tail])) (map vector prepared tails))
                      counted planned start options))
          (finally (run! (fn close [^Tail tail] (when tail (.close tail))) tails)))))))
