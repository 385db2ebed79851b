;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.follow
  "Keeps the answer to a query up to date while logs grow.

  - `follow`   reads the lines that are there, then new lines, until told to stop

  The lines that are there are read on all cores. New lines are read by the calling thread, which sleeps in between."
  (:require
   [skein.fold.input :as input]
   [skein.impl.error :as error]
   [skein.wf.analysis :as analysis]
   [skein.wf.driver :as driver])
  (:import
   (java.io File IOException)
   (skein.fold.files InputFile)
   (skein.wf Analysis Tail Tail$Event WriteFailure)))

(set! *warn-on-reflection* true)

(def ^:const poll-ms
  "How long to sleep when there are no new lines."
  200)

(def ^:const least-show-ms
  "The shortest time between two results."
  1000)

(def ^:const default-linger-ms
  "How long a rotated file is still read, because its writers may not have noticed the rotation."
  30000)

(def ^:private show-cost-factor
  "Making results takes at most one part in this many of the time. So slow results are made less often."
  100)

;;;; Starting

(defn- check-followable!
  "Throws for a path that is not a regular file, before it is opened: a pipe would wait for a writer."
  [^String path]
  (let [file (File. path)]
    (when (or (= path "-") (and (.exists file) (not (.isFile file)) (not (.isDirectory file))))
      (error/fail! [:skein/bad-argument :usage] (str "--follow needs files, and " path " is not a file; name the log itself") {:input path}))))

(defn- unreadable! [path e]
  (error/fail! [:skein/file :unreadable] (str "Can't read " path ": " (ex-message e) ".") {:path path}))

(defn- wait-for-lines
  "Waits until each log has a first line, from which its format is detected. Returns [prepared-inputs failures], or nil if
  told to stop before."
  [paths options stopped?]
  (loop []
    (run! check-followable! paths)
    (let [[prepared failures] (driver/prepare-all paths options)]
      (cond
        (stopped?) nil
        (or (:log-format options) (every? (fn any-line? [{:keys [^bytes head]}] (some #(= 10 %) head)) prepared)) [prepared failures]
        :else (do (Thread/sleep (long poll-ms)) (recur))))))

(defn- read-rest
  "Reads the new lines of a tail."
  [^Tail tail ^Analysis analysis on-event]
  (loop []
    (let [event (.read tail)]
      (.add analysis (.slice tail))
      (when (or (= event Tail$Event/ROTATED) (= event Tail$Event/TRUNCATED)) (on-event event))
      (when-not (= event Tail$Event/NOTHING) (recur)))))

(defn- run-engine [inputs {:keys [plan] :as planned} options]
  (driver/run inputs (analysis/counting plan) (analysis/run-options planned options)))

(defn- catch-up
  "Counts what is there, on all cores, and lets the tails continue after it. Returns what `skein.wf.driver/run` returns. If a log was
  rotated meanwhile, the file that was read may not be the one that is followed. In that case the tails read everything."
  [prepared tails planned options]
  (let [ends (mapv (fn end [{:keys [^InputFile file]} ^Tail tail] (when tail (.endOfLines tail (.length file)))) prepared tails)
        up-to (fn up-to [ends] (mapv (fn limit [input end] (cond-> input end (update :file input/between 0 end))) prepared ends))
        counted (run-engine (up-to ends) planned options)]
    (if (every? (fn current? [^Tail tail] (or (nil? tail) (.isCurrent tail))) tails)
      (do (run! (fn seek [[^Tail tail end]] (when tail (.seek tail (long end)))) (map vector tails ends))
          counted)
      (run-engine (up-to (map #(when % 0) tails)) planned options))))

;;;; Going on

(defn- show!
  "Shows a result, with its tallies changed by `shape`. Returns the System/nanoTime of the next result."
  [^Analysis analysis {:keys [failures] :as planned} start on-result shape]
  (let [before (System/nanoTime)]
    (on-result (analysis/finished analysis (update-in planned [:query :tallies] shape) {:bytes-read (.inputBytes analysis), :failures failures} start))
    (+ (System/nanoTime) (max (* 1000000 (long least-show-ms)) (* (long show-cost-factor) (- (System/nanoTime) before))))))

(defn- read-tails [tails analysis on-event]
  (doseq [[path tail] tails]
    (try (read-rest tail analysis #(on-event path %))
         (catch WriteFailure e (throw e))
         (catch IOException e (unreadable! path e)))))

(defn- run-loop
  "Reads and shows until told to stop. A new result is due when more was read, or when its shape must change."
  [tails ^Analysis analysis planned start {:keys [stopped? on-result on-event shape] :or {shape (constantly identity)}}]
  (loop [shown nil, next-show 0]
    (let [stop? (stopped?)
          before (.inputBytes analysis)
          _ (read-tails tails analysis on-event)
          shape-now (shape)
          due [(.inputBytes analysis) shape-now]]
      (cond
        stop? (doseq [[_ ^Tail tail] tails]
                (while (.finish tail) (.add analysis (.slice tail))))
        (and (not= shown due) (or (>= (System/nanoTime) (long next-show)) (not= shape-now (second shown))))
        (recur due (long (show! analysis planned start on-result shape-now)))
        :else (do (when (= before (.inputBytes analysis)) (Thread/sleep (long poll-ms)))
                  (recur shown (long next-show)))))))

(defn- open-tails [prepared linger-ms]
  (vec (map-indexed (fn open [i {:keys [name ^InputFile file]}]
                      (when-not (.isSerial file)
                        (try (Tail. name (int i) (long linger-ms))
                             (catch IOException e (unreadable! name e)))))
                    prepared)))

(defn follow
  "Answers `query` about the logs at `paths` again and again while they grow, and returns when told to stop.

  options  :stopped?   a function without arguments that returns whether to stop. Then everything is read once more, a line without an
                       end counts as it stands, and a last result is made
           :on-result  gets each result, as `skein.wf.analysis/analyse` returns it
           :on-last    gets the last one, also when a log can no longer be read
           :shape      a function without arguments that returns a function of a query's tallies, which changes them for the next
              result. It returns the same function as long as the change is the same
           :linger-ms  how long a rotated file is still read, `default-linger-ms` by default
           :on-event   gets a path and the engine's event when a log is rotated or truncated
           and those of `analyse`

  Compressed files are counted and not followed. A result is made when new lines have come, at most every `least-show-ms`, and
  less often if making it takes long. Throws what `analyse` throws, and :skein/bad-argument for standard input and pipes."
  [paths query {:keys [stopped? on-last linger-ms] :or {linger-ms default-linger-ms} :as options}]
  (let [start (System/nanoTime)]
    (when-let [[prepared failures] (wait-for-lines paths options stopped?)]
      (let [{:keys [prepared] :as planned} (analysis/planned prepared query options)
            tails (open-tails prepared linger-ms)]
        (try
          (let [{analysis :result :as counted} (catch-up prepared tails planned options)
                planned (update planned :failures #(concat failures % (:failures counted)))
                named (keep (fn named [[{:keys [name]} tail]] (when tail [name tail])) (map vector prepared tails))]
            (try (driver/explained #(run-loop named analysis planned start options))
                 (finally (show! analysis planned start on-last identity))))
          (finally (run! (fn close [^Tail tail] (when tail (.close tail))) tails)))))))
