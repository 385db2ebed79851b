;; SPDX-License-Identifier: Apache-2.0
(ns skein.refusals-test
  "Calls the public functions with a bad value for each argument. The exception must name the argument."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.channels :as channels]
   [skein.async.flow :as flow]
   [skein.async.interop :as interop]
   [skein.async.limit :as limit]
   [skein.async.parallel :as parallel]
   [skein.async.reactive :as reactive]
   [skein.async.window :as window]
   [skein.fold :as fold]
   [skein.fold.lines :as lines]
   [skein.scope :as s]
   [skein.sim :as sim]
   [skein.test :as t]
   [skein.trace :as trace]
   [skein.virtual :as v])
  (:import
   (clojure.lang ArityException)
   (java.io StringWriter)
   (java.util.concurrent ForkJoinPool)))

(set! *warn-on-reflection* true)

(defn- ch [] (a/chan 9))

(def ^:private step (fn ([] {:ins {:in ""} :outs {:out ""}}) ([_] {}) ([state _] state) ([state _ _] [state {}])))

(defn- running [] (doto (flow/create-flow {:procs {:p {:proc (flow/process step)}}}) flow/start))

(defmacro ^:private call
  "[name function function-that-makes-good-arguments]"
  ([f args] `(call ~f ~args ~f))
  ([f args as-function] `[~(str f) ~as-function (fn [] ~args)]))

(def ^:private calls
  (concat
    [(call a/buffer [1])
     (call a/dropping-buffer [1])
     (call a/sliding-buffer [1])
     (call a/unblocking-buffer? [(a/buffer 1)])
     (call a/chan [1 (map inc) identity])
     (call a/promise-chan [(map inc) identity])
     (call a/timeout [1])
     (call a/close! [(ch)])
     (call a/take! [(ch) identity true])
     (call a/put! [(ch) 1 identity true])
     (call a/offer! [(ch) 1])
     (call a/poll! [(ch)])
     (call a/<!! [(a/go 1)])
     (call a/>!! [(ch) 1])
     (call a/alts!! [[(a/go 1)] :priority true])
     (call a/do-alts [identity [(ch)] {}])
     (call a/fn-handler [identity true])
     (call a/rethrow [(ch) 1])
     (call a/<?? [(a/go 1)])
     (call a/thread-call [(fn [] 1) :io])
     (call a/pipe [(ch) (ch) true])
     (call a/pipeline [1 (ch) (map inc) (ch) true identity])
     (call a/pipeline-blocking [1 (ch) (map inc) (ch) true identity])
     (call a/pipeline-async [1 (ch) (fn [v o] (a/close! o)) (ch) true])
     (call a/split [odd? (ch) 1 1])
     (call a/take [1 (ch) 1])
     (call a/map [+ [(ch)] 1])
     (call a/merge [[(ch)] 1])
     (call a/onto-chan! [(ch) [1] true])
     (call a/onto-chan!! [(ch) [1] true])
     (call a/to-chan! [[1]])
     (call a/to-chan!! [[1]])
     (call a/reduce [+ 0 (ch)])
     (call a/transduce [(map inc) + 0 (ch)])
     (call a/into [[] (ch)])
     (call a/mult [(ch)])
     (call a/tap [(a/mult (ch)) (ch) true])
     (call a/untap [(a/mult (ch)) (ch)])
     (call a/untap-all [(a/mult (ch))])
     (call a/mix [(ch)])
     (call a/admix [(a/mix (ch)) (ch)])
     (call a/unmix [(a/mix (ch)) (ch)])
     (call a/unmix-all [(a/mix (ch))])
     (call a/toggle [(a/mix (ch)) {(ch) {:mute true}}])
     (call a/solo-mode [(a/mix (ch)) :mute])
     (call a/pub [(ch) identity (constantly 1)])
     (call a/sub [(a/pub (ch) identity) 1 (ch) true])
     (call a/unsub [(a/pub (ch) identity) 1 (ch)])
     (call a/unsub-all [(a/pub (ch) identity) 1])
     (call a/onto-chan [(ch) [1] true])
     (call a/to-chan [[1]])
     (call a/map< [inc (ch)])
     (call a/map> [inc (ch)])
     (call a/filter> [odd? (ch)])
     (call a/remove> [odd? (ch)])
     (call a/filter< [odd? (ch) 1])
     (call a/remove< [odd? (ch) 1])
     (call a/mapcat< [list (ch) 1])
     (call a/mapcat> [list (ch) 1])
     (call a/unique [(ch) 1])
     (call a/partition [1 (ch) 1])
     (call a/partition-by [odd? (ch) 1])
     (call channels/closed? [(ch)])
     (call channels/close-with! [(ch) (Exception.)])
     (call channels/<!!within [1 (a/go 1) 2])
     (call channels/batch [1 (ch)])
     (call channels/gate [:drop (ch)])
     (call limit/rate-limiter [1])
     (call limit/concurrency-limiter [1])
     (call limit/release! [(a/<!! (limit/concurrency-limiter 1))])
     (call limit/status [(limit/rate-limiter 1)])
     (call limit/with-permit [(limit/concurrency-limiter 1)] (fn with-permit [l] (limit/with-permit l 1)))
     (call parallel/parallel-map [1 inc (ch)])
     (call window/wmap [1 inc (a/to-chan! []) (ch)])
     (call reactive/publisher [(ch)])
     (call reactive/subscriber [{} (ch)])
     (call interop/port [(atom 1)])
     (call interop/stage [(ch)])
     (call interop/values [(ch)])
     (call flow/create-flow [{}])
     (call flow/start [(flow/create-flow {})])
     (call flow/stop [(flow/create-flow {})])
     (call flow/pause [(running)])
     (call flow/resume [(running)])
     (call flow/pause-proc [(running) :p])
     (call flow/resume-proc [(running) :p])
     (call flow/ping [(running) :timeout-ms 10])
     (call flow/ping-proc [(running) :p :timeout-ms 10])
     (call flow/inject [(running) [:p :in] [1]])
     (call flow/process [step {}])
     (call flow/map->step [{:describe (fn [] {}) :transform (fn [s _ m] [s])}])
     (call flow/lift*->step [list])
     (call flow/lift1->step [inc])
     (call flow/futurize [inc :exec :io])
     (call v/submit [(ForkJoinPool/commonPool) (fn [] 1)])
     (call v/process-by-one [inc [1]])
     (call v/deref-by-one [[(delay 1)]])
     (call v/binding-conveyor-fn [inc])
     (call v/map [inc [1]])
     (call v/fmap [1 inc [1]])
     (call v/pmap [1 inc [1]])
     (call v/wmap [1 inc [1]])
     (call v/wrun! [1 inc [1]])
     (call v/race [(fn [] 1)])
     (call v/any [(fn [] 1)])
     (call v/all [(fn [] 1)])
     (call v/sleep [1] (fn [ms] (v/sleep ms)))
     (call v/with-timeout [10] (fn [ms] (v/with-timeout ms 1)))
     (call v/retry [{:attempts 1} (fn [] 1)])
     (call v/semaphore [1])
     (call v/acquire [(v/semaphore 1)])
     (call v/release [(v/semaphore 1)])
     (call v/with-permit [(v/semaphore 1)] (fn [x] (v/with-permit x 1)))
     (call v/future-via [(ForkJoinPool/commonPool)] (fn [e] @(v/future-via [e] 1)))
     (call s/scope [{}] (fn [o] (s/scope [sc o] 1)))
     (call s/fork [nil] (fn [x] (s/fork x 1)))
     (call s/go [nil] (fn [x] (s/go x 1)))
     (call s/async [nil] (fn [x] (s/async x 1)))
     (call s/in-scope [nil] (fn [x] (s/in-scope x 1)))
     (call s/cancel! [nil])
     (call s/outcomes [nil])
     (call fold/fold [fold/count [1]])
     (call fold/explain [{} fold/count [1]])
     (call fold/through [(map inc) fold/count])
     (call fold/then [fold/count inc])
     (call fold/fuse [[fold/count]])
     (call fold/group-by [odd? fold/count])
     (call fold/into [[]])
     (call fold/top [1 identity])
     (call fold/histogram [[1]])
     (call fold/quantiles [[0.5]])
     (call lines/lines [{} "LICENSE"])
     (call lines/records [{} "LICENSE" "|"])
     (call lines/slices [{} "LICENSE"])
     (call trace/add-sink! [:k :ring])
     (call trace/remove-sink! [:k])
     (call trace/set-format! [:skein])
     (call trace/with-limits [{}] (fn [o] (trace/with-limits o 1)))
     (call trace/print-tree [1])
     (call trace/traced? [#'a/pipe])
     (call trace/traceable [#'a/pipe])
     (call trace/traceable? [#'a/pipe])
     (call trace/untrace-vars* ['user []])
     (call trace/trace-vars* [{} 'user []])
     (call trace/trace-ns* [{:match #"^no$"} 'user])
     (call trace/untrace-ns* ['user])
     (call trace/async-trace [(Exception.)])
     (call trace/pst [(Exception.) 1])
     (call trace/trace-fn-call ['x inc [1]])
     (call trace/set-verbose! [false])
     (call trace/verbose? [:k])
     (call sim/advance [1])
     (call sim/pick [[1]])
     (call sim/chance [0.5])
     (call sim/label [1 "x"])
     (call sim/fault [:x])
     (call sim/target [1])
     (call sim/always [(fn [] true) "x"])
     (call sim/sometimes [(fn [] true) "x"])
     (call sim/value-of [{:value 1}])
     (call sim/check [{:schedules 1}] (fn [o] (sim/check* o (fn []) nil)))
     (call sim/run [{}] (fn [o] (sim/run* o (fn []))))
     (call t/leak-free [{}])
     (call t/deadline [10])]))

(defn- wrong-arity [_ _ _ _ _ _ _ _ _ _ _] 1)

(def ^:private senseless
  [nil 5 "x" :k wrong-arity (doto (a/chan) a/close!)])

(defn- thrown-by
  "Returns the exception of `f`, or nil, also if `f` waits for too long: waiting is not tested here."
  [f]
  (let [outcome (promise)
        thread (Thread. (fn run []
                          (deliver outcome (try (binding [*out* (StringWriter.), *err* (StringWriter.)] (f)) nil
                                                (catch Throwable t t)))))]
    (.setDaemon thread true)
    (.start thread)
    (let [thrown (deref outcome 2000 nil)]
      (.interrupt thread)
      thrown)))

(defn- drop-in?
  "Returns whether the exception is specified by core.async, or comes from the given function."
  [thrown]
  (or (instance? ArityException thrown)
      (re-find #"buffer must be supplied|Can't put nil|at least one channel operation|mode must be one of|workload must be"
               (str (ex-message thrown)))
      (re-find #"java.lang.Character" (str (ex-message thrown))))) ; "x" is a collection, whose elements the function can't take

(deftest what-makes-no-sense-is-refused-by-name
  (let [handler (Thread/getDefaultUncaughtExceptionHandler)]
    (Thread/setDefaultUncaughtExceptionHandler (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ _])))
    (try
      (doseq [[f-name f args] calls
              i (range (count (args)))
              x senseless
              :let [thrown (thrown-by (fn [] (apply f (assoc (args) i x))))]
              :when thrown]
        (testing (str f-name " with " (pr-str x) " in place " i ": " thrown)
          (is (or (:skein/error (ex-data thrown)) (drop-in? thrown)))
          (is (not (str/blank? (ex-message thrown))))))
      (finally
        (trace/untrace-all)
        (trace/remove-sink! :k)
        (trace/set-format! :skein)
        (trace/set-verbose! false)
        (Thread/setDefaultUncaughtExceptionHandler handler)))))
