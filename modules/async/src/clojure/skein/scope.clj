;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope
  "Structured concurrency: child threads and blocks that can't outlive their parent.

  * `scope` - runs its body, waits for the children, throws the first failure
  * children: `fork` on a virtual thread, `go` and `async` as blocks, and with `in-scope`
    everything that skein.async starts
  * `cancel!` `cancelled?` `shield` `remaining-ms` `outcomes`

  A cancelled child gets one CancellationException or InterruptedException where it parks or
  blocks. Its finally clauses run, and may park or block. Nothing is thrown in `locking`, in a
  class initializer, or in code that only computes: call `cancelled?` there.

      (scope [s]
        (let [a (fork s (+ 1 2)) b (fork s (* 3 4))]
          (+ @a @b)))
      ;=> 15"
  (:require
   [skein.async :as a]
   [skein.impl.block :as block]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.once :refer [deftype-once]])
  (:import
   (java.util.concurrent CancellationException)
   (skein.rt Cancellable Channel Region Region$Owner)
   (skein.rt.block Callback Failures ThreadWaiter)
   (skein.rt.schedule Scheduler Timeout)
   (skein.rt.scope Fork)))

(set! *warn-on-reflection* true)

(doseq [prefix ["skein.scope$" "skein.scope.Scope"]]
  (Failures/addMachinery prefix)) ; their frames are left out of stack traces

;;;; The state of a scope
;;
;; {:live       #{Region}      the children that have not ended
;;  :cancelled? boolean        no child begins any more
;;  :body?      boolean        the body still runs
;;  :closed?    boolean        neither the body nor a child runs; nothing can be forked
;;  :reason     keyword        why the body is cancelled: :failure :timeout :outside, or nil
;;  :failures   [Throwable]    in the order in which they happened
;;  :timeout-ms number        the scope's own, or nil
;;  :outcomes   {Region promise of [outcome read]}, or nil if outcomes are not collected; :order [Region]
;;  :threads    [Thread]       of forks, some of them ended}

(def ^:private fresh
  {:live #{} :cancelled? false :body? true :closed? false :reason nil :failures [] :threads []})

(defn- settled
  "Returns `state`, closed if neither the body nor a child runs."
  [{:keys [body? live] :as state}]
  (cond-> state
    (not (or body? (seq live))) (assoc :closed? true)))

(defn- told-before?
  "Returns whether `thrown` or one of its causes is among `failures`. An exception of a deref
  has the original as its cause."
  [failures thrown]
  (let [causes (take 20 (take-while some? (iterate ex-cause thrown)))]
    (boolean (some (fn known? [f] (some #(identical? f %) causes)) failures))))

(defn- with-failure [{:keys [failures] :as state} thrown]
  (cond-> (-> state (assoc :cancelled? true) (update :reason #(or % :failure)))
    (not (told-before? failures thrown)) (update :failures conj thrown)))

(defn- with-thread
  "Adds a thread. When there are many, removes those that have ended."
  [{:keys [threads] :as state} thread]
  (let [n (count threads)]
    (assoc state :threads
           (conj (if (and (<= 64 n) (zero? (bit-and n (dec n))))
                   (filterv (fn alive? [^Thread t] (.isAlive t)) threads)
                   threads)
                 thread))))

(defn- genuine?
  "Returns whether `thrown` is a failure, and not the cancellation of `region`."
  [^Region region thrown]
  (not (and (.isCancelled region) (Region/isInterruption thrown))))

(defn- child-failure?
  "Returns whether `thrown` is a failure of the child `region`, in a scope of this state. If the
  scope is cancelled, the cancellation of a sibling that the child waited for is no failure."
  [{:keys [cancelled?]} region thrown]
  (and (genuine? region thrown)
       (not (and cancelled? (Region/isInterruption thrown)))))

(defn- in-order
  "Returns the regions of children in the order in which they were made. They are cancelled in
  this order."
  [live]
  (sort-by (fn number [^Region region] (.number region)) live))

(deftype-once ^:private Scope [state ^Channel done collect? deadline-ns]
  Region$Owner
  (describe [_] (assoc @state :done done :deadline-ns deadline-ns))
  (cancelled [_ region more]
    (let [{:keys [live] body :region}
          ;; Without a region the scope is just being opened, and can have no other than that of its body.
          (swap! state #(if (identical? region (:region % region))
                          (-> % (assoc :cancelled? true) (update :reason (fn first-of [r] (or r :outside))))
                          %))]
      (when (identical? region body) (.addAll more (in-order live)))))
  (failed [_ region thrown]
    (let [failure? (child-failure? @state region thrown)]
      (when (and (not collect?) failure?)
        (.cancel ^Region (:region (swap! state with-failure thrown))))
      (not (and collect? failure?))))
  (cause [_ region thrown]
    (let [{:keys [reason failures] :as state} @state]
      (cond
        (child-failure? state region thrown) thrown
        (= :failure reason) (first failures)
        (instance? CancellationException thrown) thrown
        ;; A taker must not believe that its own thread was interrupted.
        :else (doto (CancellationException. "Cancelled: its scope is ending, or its time is up.") (.initCause thrown)))))
  (ended [_ region value thrown read]
    (when-some [p (get-in @state [:outcomes region])]
      (deliver p (cond
                   (nil? thrown) [{:value value}]
                   (child-failure? @state region thrown) [{:error thrown} read]
                   :else [{:cancelled true}])))
    (when (:closed? (swap! state (fn ends [s] (settled (update s :live disj region)))))
      (.close done))))

(defn- innermost-scope
  "Returns the scope of the body or child that runs on this thread or block, or nil."
  ^Scope []
  (when-some [region (Cancellable/innermost)]
    (let [owner (.owner region)]
      (when (instance? Scope owner) owner))))

;;;; Options

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:timeout-ms check/time-option
   :on-error [#{:throw :collect} ":throw or :collect"]})

(defn- nearer
  "Returns the earlier of two times on the clock of nanoTime; `outer` may be nil."
  [outer ^long ns]
  (if (and outer (neg? (- (long outer) ns))) outer ns))

(defn- deadline-of
  "Returns when the scope must end, on the clock of nanoTime, or nil. The deadline of the scope
  around it counts if it is earlier."
  [timeout-ms]
  (let [outer (some-> (innermost-scope) .-deadline-ns)]
    (if timeout-ms
      (nearer outer (+ (Scheduler/nanoTime) (* 1000000 (long timeout-ms))))
      outer)))

;;;; The life of a scope: the functions that the expansion of `scope` calls, in this order

(defn- expire [^Scope s]
  (.cancel ^Region (:region (swap! (.-state s) update :reason #(or % :timeout)))))

(defn ^:no-doc open
  "Begins a scope on this thread or block. Returns it. For the expansion of `scope`."
  [options]
  (let [{:keys [timeout-ms on-error]} (check/options "scope" options known)
        timeout-ms (when (some? timeout-ms) (check/milliseconds :timeout-ms timeout-ms))
        collect? (= :collect on-error)
        s (Scope. (atom (cond-> (assoc fresh :timeout-ms timeout-ms) collect? (assoc :outcomes {} :order [])))
                  (a/chan) collect? (deadline-of timeout-ms))
        region (Region/enter s)]
    (swap! (.-state s) #(cond-> (assoc % :region region)
                          (.isCancelled region) (assoc :cancelled? true :reason :outside)))
    (cond
      (nil? timeout-ms) nil
      (zero? (long timeout-ms)) (expire s)
      :else (swap! (.-state s) assoc :timer (Callback/after (long timeout-ms) (fn fired [_] (expire s)))))
    s))

(defn ^:no-doc body-failed
  "Records that the body of the scope threw, and cancels the scope; see `scope`."
  [^Scope s thrown]
  (let [{:keys [^Region region]} @(.-state s)]
    (when (genuine? region thrown)
      (swap! (.-state s) with-failure thrown))
    (.joins region)
    (.cancel region)
    nil))

(defn ^:no-doc closing
  "Records that the body has ended. Returns a channel that closes when all children have ended."
  [^Scope s]
  (.joins ^Region (:region @(.-state s)))
  (when (:closed? (swap! (.-state s) (fn ends [state] (settled (assoc state :body? false)))))
    (.close ^Channel (.-done s)))
  (.-done s))

(defn ^:no-doc join
  "Waits until `done` closes; a block parks. If the thread is interrupted, cancels the scope,
  continues to wait, and leaves the thread interrupted."
  {:skein.impl.go/op '{:method take, :arity [1 1]}}
  [^Channel done]
  (loop [interrupted? false]
    (if (try (ThreadWaiter/take done) false (catch InterruptedException _ true))
      (do (.cancel (Cancellable/innermost))
          (recur true))
      (when interrupted? (.interrupt (Thread/currentThread))))))

(defn- outcome
  "Returns the exception that the scope throws, or nil."
  [{:keys [reason failures timeout-ms]}]
  (let [ended (case reason
                :timeout (error/timed-out (str "The scope took longer than " timeout-ms " ms. Give it more time, or its children less to do.")
                                          {:what :scope :ms timeout-ms})
                :outside (CancellationException. "The scope was cancelled from outside: its parent was cancelled, or this thread was interrupted.")
                nil)
        ;; A cancellation from outside must not hide a failure: the code that cancels does not look for one.
        [thrown & later] (if (= :timeout reason) (cons ended failures) (or (seq failures) (list ended)))]
    (doseq [^Throwable t later] (.addSuppressed ^Throwable thrown t))
    thrown))

(defn- late?
  "Returns whether the deadline has passed and nothing else has ended the scope. The timer may not have fired yet."
  [{:keys [reason ^Channel timer]}]
  (and timer (nil? reason) (not (neg? (- (Scheduler/nanoTime) (.deadlineNanos ^Timeout (.role timer)))))))

(defn ^:no-doc conclude
  "Ends the scope after its children have ended. Returns `result` or throws; see `scope`."
  [^Scope s result]
  (let [{:keys [^Region region ^Channel timer threads] :as state} @(.-state s)
        ^Throwable thrown (outcome (cond-> state (late? state) (assoc :reason :timeout)))]
    (doseq [^Thread t threads] (while (.isAlive t) (Thread/yield)))
    (.leave region thrown)
    (when timer (.close timer)) ; it then calls back, as when it fires
    (if thrown (throw (Failures/reached thrown)) result)))

(defn- check-body
  "Throws :skein/bad-binding if the body begins with a map of options, whose value would be dropped."
  [s [form & more]]
  (when (and more (map? form) (seq form) (every? known (keys form)))
    (error/fail! :skein/bad-binding
                 (str "The body of scope begins with the options " (error/preview form) ". They go into the vector: (scope ["
                      s " " (error/preview form) "] ...).")
                 {:value (error/preview form)})))

(defmacro scope
  "Runs the body with `s` bound to a new scope, and waits for all of its children. Returns
  the value of the body.

  options, a map:

  - :timeout-ms   after this time, in milliseconds or a Duration, or at once if that is below 1, the scope is
                  cancelled and throws :skein/timeout, even if its body has returned.
                  Exceptions thrown after the deadline are suppressed in it. nil: no deadline. An
                  enclosing scope's earlier deadline applies too
  - :on-error     :throw, the default: the first exception, of a child or of the body,
                  cancels the other children and the body. The same object is thrown, with
                  later exceptions suppressed in it
                  :collect: the failure of a child cancels nothing; see `outcomes`. A
                  failure that nobody reads goes to the uncaught-exception handler

  When the scope returns or throws, the body and all children have ended. In a block the body
  may park, and the wait for children parks. If the surrounding scope or block is cancelled,
  the scope is cancelled too, and throws a CancellationException. A thread that is interrupted
  while it waits cancels the scope, continues to wait, and stays interrupted.

      (try (scope [s {:timeout-ms 5}] (go s (a/<! (a/chan))))
           (catch java.util.concurrent.TimeoutException e (:skein/error (ex-data e))))
      ;=> :skein/timeout

  Source: structured concurrency as in Trio (N. J. Smith, 2018), Kotlin's
  coroutineScope, and the JDK's StructuredTaskScope."
  {:style/indent 1
   :arglists '([[s options?] & body])}
  [bindings & body]
  (let [[s options] (check/bindings "scope" bindings "[name] or [name options]"
                                    (fn ok? [[s]] (and (simple-symbol? s) (<= (count bindings) 2))))]
    (check-body s body)
    `(let [~s (open ~options)
           result# (try (do ~@body) (catch Throwable t# (body-failed ~s t#)))]
       (join (closing ~s))
       (conclude ~s result#))))

;;;; Children

(defn- refuse! []
  (error/fail! :skein/scope-closed
               "The scope has ended, so it can have no more children. Fork inside its body, or in its children."
               {}))

(defn- check-scope
  "Returns `x`, or throws :skein/bad-scope if it is not a scope. `call` is the call as text, with the scope named s."
  [call x]
  (when-not (instance? Scope x)
    (error/fail! :skein/bad-scope (str "The first argument, such as s in " call ", must be a scope, but is " (error/preview x)
                                    ". The vector of scope names it: (scope [s] " call ").") {:value (error/preview x)}))
  x)

(defn ^:no-doc child
  "Returns the region of a new child of the scope; see skein.rt.Region. Throws
  :skein/scope-closed when the scope has ended."
  ^Region [scope]
  (let [^Scope s (check-scope "(fork s ...)" scope)
        region (Region/child s)
        {:keys [cancelled?]}
        (swap! (.-state s)
               (fn enlist [{:keys [closed?] :as state}]
                 (when closed? (refuse!))
                 (cond-> (update state :live conj region)
                   (.-collect? s) (-> (update :outcomes assoc region (promise)) (update :order conj region)))))]
    (when cancelled? (.cancel region)) ; so that the child does not begin
    region))

(defn ^:no-doc fork*
  "Calls `f` on a virtual thread as a child of the scope. See `fork`."
  ^Fork [^Scope s f]
  (check/function "f of fork*" f)
  (let [region (child s)]
    (try
      (let [fork (Fork/start f region)]
        (swap! (.-state s) with-thread (.thread fork))
        fork)
      (catch Throwable t ; no memory for a thread: the scope must not wait for it
        (.ended s region nil t nil)
        (throw t)))))

(defmacro fork
  "Runs the body on a virtual thread as a child of scope `s`, with the caller's bindings.
  Returns a future of its value; `future-cancel` cancels only this child. Throws
  :skein/scope-closed and :skein/bad-scope.

      (scope [s] @(fork s (+ 1 2)))
      ;=> 3"
  {:style/indent 1}
  [s & body]
  `(fork* ~s (^:once fn* [] ~@body)))

(defn- block [spawn s env body form]
  (let [region (gensym "region__")]
    `(let [~region (child ~s)]
       ~(block/compile-child env body form spawn region))))

(defmacro go
  "Runs the body as a block that is a child of scope `s` and starts soon. Returns a port of
  its value, as skein.async's `async` does: `<?` and `<??` throw its exception. Throws
  :skein/scope-closed and :skein/bad-scope."
  {:style/indent 1}
  [s & body]
  (block 'goIn s &env body &form))

(defmacro async
  "Like `go`, but the block starts at once on this thread, and stays there until the first park
  that has to wait. If it blocks before that, it blocks the caller.

      (scope [s] (a/<?? (async s (+ 1 2))))
      ;=> 3"
  {:style/indent 1}
  [s & body]
  (block 'asyncIn s &env body &form))

(defn ^:no-doc maker
  "Returns a function that makes the region of a new child of the scope; see `in-scope`."
  [s]
  (check-scope "(in-scope s ...)" s)
  (fn make-child [] (child s)))

(defmacro in-scope
  "Evaluates the body. Everything that skein.async starts in it becomes a child of scope `s`:
  blocks of `go` and `async`, threads, and the blocks of pipelines, mults, `into`,
  `skein.async.streams/pmap` and so on. So does everything that these start in turn. A flow, and threads that
  wait for a future, do not.

  The scope waits for these children as for all others, and cancels them when it is cancelled. Use
  `cancel!` to end a child that never ends by itself, such as a mult of an open channel. Without
  `in-scope`, blocks belong to no scope. Throws :skein/scope-closed if the scope has ended.

      (scope [s {:timeout-ms 60000}]
        (in-scope s
          (let [out (a/chan)]
            (a/pipeline 2 out (map inc) (a/to-chan! [1 2 3]))
            (a/<!! (a/into [] out)))))
      ;=> [2 3 4]"
  {:style/indent 1}
  [s & body]
  `(do (push-thread-bindings {Region/CHILD (maker ~s)})
       (try ~@body (finally (pop-thread-bindings)))))

;;;; Cancelling

(defn cancel!
  "Cancels the children of the scope, present and future. The body continues, and the
  scope returns its value. Returns nil.

      (scope [s]
        (fork s (Thread/sleep 60000))
        (cancel! s)
        :done)
      ;=> :done"
  [scope]
  (Region/cancelAll (in-order (:live (swap! (.-state ^Scope (check-scope "(cancel! s)" scope)) assoc :cancelled? true)))))

(defn cancelled?
  "Returns whether the innermost scope body or child that runs this code has been cancelled."
  []
  (if-some [region (Cancellable/innermost)]
    (.isCancelled region)
    false))

(defmacro shield
  "Evaluates the body and holds back a cancellation during it. The next park or blocking call
  after the body throws it."
  {:style/indent 0}
  [& body]
  `(let [^Cancellable cancellable# (Cancellable/current)]
     (.shield cancellable#)
     (try ~@body (finally (.unshield cancellable#)))))

(defn remaining-ms
  "Returns how many milliseconds are left until the earliest deadline of the surrounding scopes:
  0 if it has passed, nil if there is none."
  []
  (when-some [deadline-ns (some-> (innermost-scope) .-deadline-ns)]
    (max 0 (quot (- (long deadline-ns) (Scheduler/nanoTime)) 1000000))))

(defn outcomes
  "Waits for the children that the scope has so far. Returns a vector of their outcomes, in the
  order in which they were made: {:value x}, {:error exception} or {:cancelled true}. Throws
  :skein/no-outcomes unless the scope has :on-error :collect.

      (scope [s {:on-error :collect}]
        (fork s 1)
        (fork s (throw (ex-info \"no\" {})))
        (map #(update % :error ex-message) (outcomes s)))
      ;=> ({:value 1, :error nil} {:error \"no\"})"
  [scope]
  (when-not (.-collect? ^Scope (check-scope "(outcomes s)" scope))
    (error/fail! :skein/no-outcomes "The scope collects no outcomes: open it with {:on-error :collect}." {}))
  (let [{:keys [order outcomes]} @(.-state ^Scope scope)]
    (mapv (fn outcome-of [region]
            (let [[outcome ^Runnable read] @(outcomes region)]
              (when read (.run read))
              outcome))
          order)))
