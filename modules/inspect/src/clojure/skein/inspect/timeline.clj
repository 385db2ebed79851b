;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.timeline
  "When blocks ran and waited, from the recorded beginnings and ends of their steps: as a list of slices, or as a file for
  Perfetto and Chrome.

  * `timeline` as data
  * `write-chrome` of that"
  {:no-doc true}
  (:require
   [skein.inspect.dump :as dump]
   [skein.inspect.places :as places]
   [skein.inspect.words :as words])
  (:import
   (java.io Writer)
   (java.util HashMap Map)
   (skein.inspect.rt Entry Entry$Fate Recorder Recorder$Event Recorder$Kind Registry)
   (skein.rt.block Frame Sites$Site)))

(set! *warn-on-reflection* true)

;;;; Slices

(defn- slice [kind ^Entry block site from to more]
  (merge {:kind kind :block (.id block) :site site :from from :to to} more))

(defn- step
  "Returns `state` after one more event of a block. In {:slices :run :waits}, :run is the event that began the current step, and
  :waits is when the last step ended."
  [place {:keys [slices ^Recorder$Event run waits] :as state} ^Recorder$Event e]
  (let [block (.block e), now (.nanos e)
        site (fn site [^Recorder$Event r] (place (.site block (.state r))))
        ran (fn ran [more] (slice :run block (site run) (.nanos run) now (assoc more :thread (.thread run) :tid (.tid run))))
        end (fn end [fate] {:slices (cond-> slices run (conj (ran {:ended fate}))), :run nil, :waits nil})]
    (condp = (.kind e)
      Recorder$Kind/RESUMED
      {:slices (cond
                 run (conj slices (ran nil)) ; it was resumed before its last thread had recorded the end of the step
                 (and waits (<= 0 (.state e))) (conj slices (slice :wait block (site e) waits now nil))
                 :else slices)
       :run e, :waits nil}

      Recorder$Kind/SUSPENDED
      (if (and run (= (.tid run) (.tid e)))
        {:slices (conj slices (ran nil)), :run nil, :waits now}
        state)

      ;; The step ends here: a block that waits for this one may be resumed before this thread has left this one's code.
      Recorder$Kind/FINISHED (end :done)
      Recorder$Kind/FAILED (end :failed))))

(defn- slices-of
  "Returns the slices of one block, whose events are in order; a slice that lasts until `now` is :open?."
  [place now events]
  (let [^Recorder$Event e (first events), block (.block e)
        waits (when (= Recorder$Kind/SUSPENDED (.kind e)) (.nanos e)) ; the start of that step is no longer kept
        {:keys [slices ^Recorder$Event run waits]} (reduce (partial step place) {:slices [] :run nil :waits waits} events)
        open {:open? true}]
    (cond
      run (conj slices (slice :run block (place (.site block (.state run))) (.nanos run) now (assoc open :thread (.thread run) :tid (.tid run))))
      (and waits (= Entry$Fate/LIVES (.fate block))) (conj slices (slice :wait block (place (.site block)) waits now open))
      :else slices)))

(defn- place-of
  "Returns a function from a site to its place, which caches its results: there are few places."
  []
  (let [places (HashMap.)]
    (fn place [^Sites$Site site]
      (when site
        (or (.get ^Map places site)
            (let [p (places/site site)] (.put ^Map places site p) p))))))

(defn- unrecorded
  "Returns a slice that has not ended for each block without an event: it has waited, or its step has run, since before steps were
  recorded."
  [place now block by-block]
  (let [registry (Registry/get), tick (.tick registry)]
    (for [^Entry e (.live registry)
          :when (and (or (nil? block) (= block (.id e))) (not (by-block (.id e))))
          :let [^Frame frame (.get e), running? (some-> frame .isRunning), ^Thread thread (when running? (.thread frame))]
          :when (and frame (if running? thread (and (.site e) (Registry/port frame))))
          :let [from (min (long now) (- (long now) (* 1000000 Registry/TICK_MILLIS (- tick (.since e)))))]]
      (if running?
        (slice :run e (place (.site e)) from now {:open? true :thread (.getName thread) :tid (.threadId thread)})
        (slice :wait e (place (.site e)) from now {:open? true})))))

(defn timeline
  "Returns the slices since `last-ms` ago, see `skein.inspect/timeline`. Unless `block` is nil, only those of that block."
  [^Recorder recorder last-ms block]
  (let [now (System/nanoTime)
        since (- now (* 1000000 (long last-ms)))
        ;; Threads record while their rings are read, one after the other. The events until `now` are all there, and fit together.
        events (filter (fn its [^Recorder$Event e] (and (<= (- (.nanos e) now) 0) (or (nil? block) (= block (.id (.block e))))))
                       (.since recorder since))
        by-block (group-by (fn id [^Recorder$Event e] (.id (.block e))) (sort-by (fn nanos [^Recorder$Event e] (- (.nanos e) since)) events))
        place (place-of)
        micros (fn micros [nanos] (/ (- (long nanos) since) 1000.0))]
    {:from-ms (- (System/currentTimeMillis) (quot (- now since) 1000000))
     :slices (into []
                   (comp (filter (fn late [{:keys [to]}] (<= since (long to))))
                         (map (fn relative [{:keys [from to] :as s}]
                                (let [from (max since (long from))]
                                  (-> (dissoc s :from :to)
                                      (assoc :at-us (micros from) :us (- (double (micros to)) (double (micros from)))))))))
                   (sort-by :from (concat (mapcat (partial slices-of place now) (vals by-block))
                                          (unrecorded place now block by-block))))}))

;;;; Chrome's format

(def ^:const ^:private blocks-pid 1)
(def ^:const ^:private threads-pid 2)

(defn- names
  "Returns the events that name the tracks."
  [pid title names]
  (cons {:ph "M" :pid pid :name "process_name" :args {:name title}}
        (for [[tid name] names] {:ph "M" :pid pid :tid tid :name "thread_name" :args {:name name}})))

(defn- drawn
  "Returns a slice as an event on the track of its block, and a step also as one on that of its thread."
  [{:keys [kind block site at-us us tid] :as slice}]
  (let [event (fn event [pid tid label] {:ph "X" :pid pid :tid tid :ts at-us :dur us :name label :cat (name kind)
                                         :args (dissoc slice :kind :at-us :us)})
        here (if site (words/place site) "begins")]
    (if (= :run kind)
      [(event blocks-pid block "runs") (event threads-pid tid (str (words/block-name block) ", " here))]
      [(event blocks-pid block here)])))

(defn write-chrome
  "Writes a timeline to `out` as JSON of Chrome's trace format, which ui.perfetto.dev and chrome://tracing open: a track for
  each block, and one for each thread."
  [^Writer out {:keys [slices]}]
  (let [threads (into (sorted-map) (keep (fn named [{:keys [thread tid]}] (when tid [tid (words/thread-name thread tid)]))) slices)
        blocks (into (sorted-map) (map (fn named [{:keys [block]}] [block (words/block-name block)])) slices)
        events (concat (names blocks-pid "blocks" blocks)
                       (names threads-pid "threads" threads)
                       (mapcat drawn slices))]
    (dump/write-json out {:traceEvents events})
    (.write out "\n")))
