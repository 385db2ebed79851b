;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.call
  "One traced call: `enter` before it, then `returned` or `thrown`.

  The current call of a thread or block is a thread binding. Go blocks, futures and other
  code that conveys bindings get it, so calls made there are its children. Limits are thread
  bindings too."
  {:no-doc true}
  (:require
   [skein.impl.check :as check]
   [skein.impl.once :refer [deftype-once]]
   [skein.trace.event :as event]
   [skein.trace.print :as print])
  (:import
   (clojure.lang Var)
   (java.util.concurrent.atomic AtomicBoolean AtomicLong)
   (skein.rt Channel Result Result$Watcher)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

;;;; Limits

(deftype-once Limits [^long depth ^long calls rate print
                      ^AtomicLong n-calls window])

(def ^:private known-limits
  "Option -> what its value must be; see skein.impl.check/options."
  (let [whole [pos-int? "a whole number from 1"]
        rate? (fn rate? [x] (and (vector? x) (= 2 (count x)) (every? pos-int? x)))]
    {:depth whole, :calls whole, :length whole, :level whole, :chars whole
     :rate [rate? "two whole numbers from 1: calls and milliseconds"]}))

(defn limits
  "Returns the limits that the map `options` describes, with counters at zero. Throws :skein/bad-argument.

  :depth   how deep nested calls are shown, by default 64
  :calls   how many calls are shown in total, by default any number
  :rate    [n ms]: n calls in ms milliseconds, by default any number
  :length :level :chars   see `skein.trace.print/default-limits`"
  [options]
  (let [{:keys [depth calls rate] :or {depth 64, calls Long/MAX_VALUE} :as options} (check/options "with-limits" options known-limits)]
    (Limits. (long depth) (long calls) rate
             (merge print/default-limits (select-keys options [:length :level :chars]))
             (AtomicLong.) (atom [0 0]))))

(def ^:dynamic *limits* "The limits in force; see `limits`." (limits {}))

(defonce ^{:doc "The number of calls that were not reported to any sink, because of limits."} ^AtomicLong n-dropped
  (AtomicLong.))

(defn print-limits
  "Returns how much of a value is shown now."
  []
  (.print ^Limits *limits*))

(defn text
  "Returns `value` as text within the limits in force."
  [value]
  (print/text value (print-limits)))

(defn- rate-used
  "Counts a call. Returns how many there have been in this window of the rate."
  ^long [^Limits l]
  (let [window-ms (long (second (.rate l)))
        now-ms (System/currentTimeMillis)
        [_ used] (swap! (.window l)
                        (fn count-call [[start used]]
                          (if (< (- now-ms (long start)) window-ms)
                            [start (inc (long used))]
                            [now-ms 1])))]
    (long used)))

;;;; Calls

;; A traced function: its name and place, and who traces its calls. `gate` is an atom of {token sinks-fn}. The token
;; :always is for every call, any other token for the calls in its `with-traced`. `live` is a volatile with the original
;; whose wrapper is in the var. A wrapper of another original reports nothing: it was taken from the var earlier. Perhaps
;; the var's current value calls it, as after (alter-var-root v memoize).
(deftype-once Target [name file line gate live])

(defn target
  "Returns a target that has no sinks yet."
  [name file line]
  (Target. name file line (atom {}) (volatile! nil)))

(deftype-once Call [^long id parent group ^long depth ^Target target sinks ^long started ^Thread thread block ^AtomicBoolean told
                    bindings]) ; the thread's bindings before the call, as a frame of Var

(def ^:dynamic *call* "The traced call that this code is in, or nil." nil)
(def ^:dynamic *tokens* "The set of the tokens of the surrounding `with-traced` forms." #{})

(defn- gate-sinks
  "Returns a function that returns the sinks for a call of `f`, an original of `target`, or nil if it is not traced."
  [^Target target f]
  (when (identical? f @(.live target))
    (let [gate @(.gate target)]
      (or (:always gate)
          (when (seq *tokens*) (some gate *tokens*))))))

(defn- event-of [phase ^Call call args value error elapsed-ns]
  (let [^Target target (.target call)
        ^Call parent (.parent call)
        event (event/->Event phase (.id call) (when parent (.id parent)) (.group call) (.depth call)
                             (.name target) (.file target) (.line target) args value error
                             (event/thread-name (.thread call)) (.block call) (System/currentTimeMillis) elapsed-ns)]
    (if (and parent (= :call phase) (= (.id call) (.group call)))
      (assoc event :away? true)
      event)))

(defn- with-max-line [event]
  (let [chars (:chars (print-limits))]
    (if (= chars (:chars print/default-limits)) event (assoc event :max-line chars))))

(defn- emit! [^Call call phase args value error elapsed-ns]
  (event/emit! ((.sinks call)) (with-max-line (event-of phase call args value error elapsed-ns))))

(defn told
  "Returns an event of this moment with `fields`, inside the current call if there is one."
  [phase fields]
  (let [^Call c *call*]
    (with-max-line (event/about phase (cond-> fields c (assoc :id (.id c), :group (.group c), :depth (inc (.depth c))))))))

(defn- args-text
  "Returns the texts of the arguments in an array and of those in a seq after it, which may be infinite."
  [^objects args more]
  (let [limits (print-limits)
        shown (mapv (fn arg-text [arg] (print/text arg limits)) args)]
    (if (nil? more)
      shown
      (let [text (print/text more limits)]
        (conj shown (subs text 1 (dec (count text))))))))

(defn- limit-hit
  "Returns nil if a call inside `parent` is within the limits, :first if it is the first call beyond a limit, and :later
  for further calls. The :first is reported."
  [^Call parent]
  (let [^Limits l *limits*
        hit (fn hit [first?] (if first? :first :later))]
    (or (when (and parent (<= (.depth l) (inc (.depth parent))))
          (hit (.compareAndSet ^AtomicBoolean (.told parent) false true)))
        (let [over (- (.incrementAndGet ^AtomicLong (.n-calls l)) (.calls l))]
          (when (pos? over) (hit (= 1 over))))
        (when (.rate l)
          (let [over (- (rate-used l) (long (first (.rate l))))]
            (when (pos? over) (hit (= 1 over))))))))

(defn- tell-limit! [^Target target sinks]
  (event/emit! (sinks)
               (told :limit {:name (.name target)
                             :value (str "calls of " (.name target) " beyond the limit are not shown")})))

(defn- same-place?
  "Returns whether `parent` was made in this block, or outside of blocks on this thread."
  [^Call parent thread block]
  (and (= block (.block parent))
       (or block (identical? thread (.thread parent)))))

(defn- new-call [target ^Call parent sinks]
  (let [depth (if parent (inc (.depth parent)) 0)
        id (event/next-id)
        thread (Thread/currentThread)
        block (event/current-block)
        ^Limits l *limits*]
    (Call. id parent (if (and parent (same-place? parent thread block)) (.group parent) id)
           depth target sinks (System/nanoTime) thread block
           (when (= (.depth l) (inc depth)) (AtomicBoolean.))
           (Var/getThreadBindingFrame))))

(defn- announce
  "Makes the call of `target` and sends it to the sinks. Returns the call, or nil if it is not shown."
  [target f args more]
  (when-some [sinks (gate-sinks target f)]
    (let [^Call parent *call*
          hit (limit-hit parent)]
      (if hit
        (do (.incrementAndGet n-dropped)
            (when (= :first hit) (tell-limit! target sinks)))
        (let [call (new-call target parent sinks)]
          (emit! call :call (args-text args more) nil nil nil)
          call)))))

(defn enter
  "Begins a call of `f`, an original of `target`, with the arguments in the array `args` and the seq `more`.

  Returns nil if no sink gets the call; then the wrapper only calls the function. Otherwise returns
  the call, which is then this thread's current call. The wrapper must end it by `returned` or `thrown`."
  [target f args more]
  (when-not (event/busy?)
    (when-some [call (event/quietly (fn begin [] (announce target f args more)))]
      (Var/pushThreadBindings {#'*call* call})
      call)))

(defn- elapsed ^long [^Call call]
  (- (System/nanoTime) (.started call)))

;; Does not pop the bindings: after a stack overflow, inner calls may have left theirs.
(defn- leave [^Call call]
  (Var/resetThreadBindingFrame (.bindings call)))

(defn- ended
  "Reports the end of the block whose port the call has returned. The block ended with `error`, or with
  `value` if `error` is nil."
  [^Call call value error]
  (let [ns (elapsed call)]
    (event/quietly (fn tell-end []
                     (if error
                       (emit! call :async-throw nil nil error ns)
                       (emit! call :async-return nil (text value) nil ns))))))

(defn- await-end!
  "Reports how the block of `port` ends, as a part of the call. Takes nothing from the port: if the block
  has ended, reports the value that the next taker will get."
  [call ^Channel port]
  (when-not (Result/watch port (reify Result$Watcher
                                 (ended [_ value error] (ended call value error))))
    (ended call (Result/kept port) (Failures/of port))))

(defn returned
  "Ends a call that returned `value`. If that is the port of a block, the end of the block will be reported too.
  Returns nil."
  [^Call call value]
  (let [ns (elapsed call)]
    (leave call)
    (event/quietly (fn tell-return []
                     (emit! call :return nil (text value) nil ns)
                     (when (and (instance? Channel value) (.isResult ^Channel value)) (await-end! call value))))
    nil))

(defn thrown
  "Ends a call that threw `error`. Returns nil."
  [^Call call error]
  (let [ns (elapsed call)]
    (leave call)
    (event/quietly (fn tell-throw [] (emit! call :throw nil nil error ns)))
    nil))
