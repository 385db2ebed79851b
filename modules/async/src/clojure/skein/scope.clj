;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope
  "Structured concurrency: child threads and blocks that can't outlive their parent.

  * `scope` - runs its body, waits for the children, throws the first failure
  * `open-scope` - a scope without a body, for children that live until it is closed
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
   [clojure.string :as str]
   [skein.async :as a]
   [skein.impl.block :as block]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.on-error :as on-error]
   [skein.impl.once :refer [deftype-once]])
  (:import
   (java.io Closeable)
   (java.util.concurrent CancellationException)
   (skein.base Cancelled)
   (skein.rt Cancellable Channel Labels Region Region$Owner)
   (skein.rt.block Callback Failures ThreadWaiter)
   (skein.rt.schedule Scheduler Timeout)
   (skein.rt.scope Fork)))

(set! *warn-on-reflection* true)

(doseq [prefix ["skein.scope$" "skein.scope.Scope"]]
  (Failures/addMachinery prefix)) ; their frames are left out of stack traces

;;;; The state of a scope
;;
;; {:live       #{Region}      the children that have not ended
;;  :daemons    #{Region}      those of them for which the scope does not wait before it cancels them
;;  :cancelled? boolean        no child begins any more
;;  :body?      boolean        the body still runs, or the scope has none and is open
;;  :sealed?    boolean        the scope has no body, and is being closed: no more children
;;  :closed?    boolean        neither the body nor a child runs; nothing can be forked
;;  :region     Region         of the body, or nil
;;  :reason     keyword        why the body is cancelled: :failure :timeout :outside, or nil
;;  :failures   [Throwable]    in the order in which they happened
;;  :timeout-ms number         the scope's own, or nil
;;  :late       [{:name :site}] the children that had not ended when the time was up
;;  :outcomes   {Region promise of [outcome read]}, or nil if outcomes are not collected; :order [Region]
;;  :threads    [Thread]       of forks, some of them ended}

(def ^:private fresh
  {:live #{} :daemons #{} :cancelled? false :body? true :closed? false :reason nil :failures [] :threads []})

(defn- settled
  "Returns `state`, closed if neither the body nor a child runs."
  [{:keys [body? live] :as state}]
  (cond-> state
    (not (or body? (seq live))) (assoc :closed? true)))

(defn- idle?
  "Returns whether the body and all children but daemons have ended."
  [{:keys [body? live daemons cancelled?]}]
  (and (not body?) (seq live) (not cancelled?) (= (count live) (count daemons))))

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

(defn- child-of
  "Returns the name and place of a child, as data for an error."
  [^Region region]
  {:name (.name region) :site (.site region)})

(defn- cancel-children
  "Cancels the children that the scope of this state has. Returns nil."
  [state]
  (Region/cancelAll (in-order (:live state))))

(defn- cancel-all
  "Cancels the body of the scope of this state, if it has one, and the children."
  [{:keys [^Region region] :as state}]
  (if region (.cancel region) (cancel-children state)))

(defn- why
  "Returns what a cancellation says about a scope of this state: [keyword text cause]."
  [{:keys [reason failures timeout-ms]}]
  (case reason
    :failure [:failure "a child or the body has failed" (first failures)]
    :timeout [:timeout (str "it took longer than " timeout-ms " ms") nil]
    :outside [:outside "its parent was cancelled, or its thread was interrupted" nil]
    [:closed "it was closed, or cancelled by cancel!" nil]))

(defn- ends
  "Applies `f`, by which the body or a child ends, to the atom `state`. If nothing runs any more, closes `done`. If only
  daemons do, cancels them."
  [state ^Channel done f]
  (let [after (swap! state (comp settled f))]
    (cond
      (:closed? after) (.close done)
      (idle? after) (cancel-children (swap! state assoc :cancelled? true)))))

(declare close-scope)

(deftype-once ^:private Scope [state ^Channel done on-error deadline-ns scope-name site]
  Closeable
  (close [this] (close-scope this))
  Region$Owner
  (describe [this] (assoc @state :done done :deadline-ns deadline-ns :scope this))
  (cancelled [_ region more]
    (let [{:keys [live] body :region}
          ;; Without a region the scope is just being opened, and can have no other than that of its body.
          (swap! state #(if (identical? region (:region % region))
                          (-> % (assoc :cancelled? true) (update :reason (fn first-of [r] (or r :outside))))
                          %))]
      (when (identical? region body) (.addAll more (in-order live)))))
  (failed [_ region thrown]
    (let [fail (fn fail [t] (cancel-all (swap! state with-failure t)) true)]
      (cond
        (not (child-failure? @state region thrown)) true
        (= :throw on-error) (fail thrown)
        (keyword? on-error) false ; whoever reads it from the child, or the uncaught-exception handler
        :else (try (on-error thrown (child-of region)) true
                   (catch Throwable t (fail t))))))
  (cause [this region thrown]
    (let [{:keys [reason failures] :as state} @state]
      (cond
        (child-failure? state region thrown) thrown
        (= :failure reason) (first failures)
        (instance? CancellationException thrown) thrown
        :else (.cancellation ^Region$Owner this region)))) ; a taker must not believe that its own thread was interrupted
  (cancellation [_ _]
    (let [[reason text cause] (why @state)
          called (or scope-name site)]
      (Cancelled. (error/told :skein/cancelled (str "Cancelled with its scope" (when called (str " " called)) ": " text ".")) reason {:scope called} cause)))
  (ended [_ region value thrown read]
    (when-some [p (get-in @state [:outcomes region])]
      (deliver p (cond
                   (nil? thrown) [{:value value}]
                   (child-failure? @state region thrown) [{:error thrown} read]
                   :else [{:cancelled true}])))
    (ends state done (fn child-ends [s] (-> s (update :live disj region) (update :daemons disj region))))))

(defn- called
  "Returns the name of the scope, or its place. A scope of `open-scope` without a name has neither: nil."
  [^Scope s]
  (or (.-scope-name s) (.-site s)))

(defn- the-scope
  "Returns what messages call the scope."
  [s]
  (str "The scope" (some->> (called s) (str " "))))

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
   :on-error (on-error/option [:throw :collect :report])
   :name [string? "a string"]})

(def ^:private known-of-open
  {:on-error (:on-error known)
   :name (:name known)
   :grace-ms check/time-option})

(def ^:private known-of-child
  {:name (:name known)
   :daemon? [boolean? "true or false"]})

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
  (cancel-all (swap! (.-state s)
                     (fn late [{:keys [reason live] :as state}]
                       (cond-> state
                         (nil? reason) (assoc :reason :timeout :late (mapv child-of (in-order live))))))))

(defn- make ^Scope [state {:keys [on-error] scope-name :name} deadline-ns site]
  (let [s (Scope. (atom (cond-> state (= :collect on-error) (assoc :outcomes {} :order [])))
                  (a/chan) on-error deadline-ns scope-name site)]
    (when scope-name (a/label! s scope-name))
    s))

(defn ^:no-doc open
  "Begins a scope on this thread or block. Returns it. For the expansion of `scope`."
  ^Scope [options site]
  (let [{:keys [timeout-ms] :as options} (merge {:on-error :throw} (check/options "scope" options known))
        timeout-ms (when (some? timeout-ms) (check/milliseconds :timeout-ms timeout-ms))
        s (make (assoc fresh :timeout-ms timeout-ms) options (deadline-of timeout-ms) site)
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
  (some-> ^Region (:region @(.-state s)) .joins)
  (ends (.-state s) (.-done s) (fn body-ends [state] (assoc state :body? false)))
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
  [^Scope s {:keys [reason failures timeout-ms late]}]
  (let [ended (case reason
                :timeout (error/timed-out
                           (str (the-scope s) " took longer than " timeout-ms " ms. "
                                (when (seq late) (str "Still running: " (str/join ", " (map (some-fn :name :site str) late)) ". "))
                                "Give it more time, or its children less to do.")
                           {:what :scope :ms timeout-ms :name (.-scope-name s) :site (.-site s) :late (vec late)})
                :outside (.cancellation s nil)
                nil)
        ;; A cancellation from outside must not hide a failure: the code that cancels does not look for one.
        [thrown & later] (if (= :timeout reason) (cons ended failures) (or (seq failures) (list ended)))]
    (doseq [^Throwable t later] (.addSuppressed ^Throwable thrown t))
    thrown))

(defn- late?
  "Returns whether the deadline has passed and nothing else has ended the scope. The timer may not have fired yet."
  [{:keys [reason ^Channel timer]}]
  (and timer (nil? reason) (not (neg? (- (Scheduler/nanoTime) (.deadlineNanos ^Timeout (.role timer)))))))

(defn- await-threads
  "Waits until the threads of forks, which have delivered their results, have ended."
  [threads]
  (doseq [^Thread t threads] (while (.isAlive t) (Thread/yield))))

(defn ^:no-doc conclude
  "Ends the scope after its children have ended. Returns `result` or throws; see `scope`."
  [^Scope s result]
  (let [{:keys [^Region region ^Channel timer threads] :as state} @(.-state s)
        ^Throwable thrown (outcome s (cond-> state (late? state) (assoc :reason :timeout)))]
    (await-threads threads)
    (.leave region thrown)
    (when timer (.close timer)) ; it then calls back, as when it fires
    (if thrown (throw (Failures/reached thrown)) result)))

(defn- check-body
  "Throws :skein/bad-argument if the body begins with a map of options, whose value would be dropped."
  [s [form & more]]
  (when (and more (map? form) (seq form) (every? known (keys form)))
    (error/fail! :skein/bad-argument
                 (str "The body of scope begins with the options " (error/preview form) ". They go into the vector: (scope ["
                      s " " (error/preview form) "] ...).")
                 {:value (error/preview form)})))

(defn- place
  "Returns the file and line of a form, such as \"orders.clj:31\"."
  [form]
  (str (last (str/split (str *file*) #"/")) (some->> (:line (meta form)) (str ":"))))

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
                  :report: the same without outcomes
                  a function of the exception and {:name :site} of the child, which is called in
                  place of that; what it throws ends the scope as :throw does
  - :name         a string, for errors, the inspector and traces

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
    `(let [~s (open ~options ~(place &form))
           result# (try (do ~@body) (catch Throwable t# (body-failed ~s t#)))]
       (join (closing ~s))
       (conclude ~s result#))))

;;;; Children

(defn- refuse! [s]
  (error/fail! :skein/scope-closed
               (str (the-scope s) " has ended, so it can have no more children. Fork inside its body, or in its"
                    " children; in a scope of open-scope before it is closed.")
               {:scope (called s)}))

(defn- check-scope
  "Returns `x`, or throws :skein/bad-argument if it is not a scope. `call` is the call as text, with the scope named s."
  [call x]
  (when-not (instance? Scope x)
    (error/fail! :skein/bad-argument (str "The first argument, such as s in " call ", must be a scope, but is " (error/preview x)
                                       ". The vector of scope names it: (scope [s] " call ").") {:value (error/preview x)}))
  x)

(defn ^:no-doc child
  "Returns the region of a new child of the scope; see skein.rt.Region. `site` is the place in the source that starts it.
  Throws :skein/scope-closed when the scope has ended."
  ^Region [scope options site]
  (let [^Scope s (check-scope "(fork s ...)" scope)
        {child-name :name :keys [daemon?]} (when options (check/options "fork" options known-of-child))
        region (Region/child s child-name site)
        {:keys [cancelled?]}
        (swap! (.-state s)
               (fn enlist [{:keys [closed? sealed?] :as state}]
                 (when (or closed? sealed?) (refuse! s))
                 (cond-> (update state :live conj region)
                   daemon? (update :daemons conj region)
                   (:outcomes state) (-> (update :outcomes assoc region (promise)) (update :order conj region)))))]
    (when cancelled? (.cancel region)) ; so that the child does not begin
    region))

(defn ^:no-doc fork*
  "Calls `f` on a virtual thread as a child of the scope. See `fork`."
  ^Fork [^Scope s options site f]
  (let [region (child s options site)]
    (try
      (let [fork (Fork/start f region)]
        (swap! (.-state s) with-thread (.thread fork))
        fork)
      (catch Throwable t ; no memory for a thread: the scope must not wait for it
        (.ended s region nil t nil)
        (throw t)))))

(defn- scope-and-options
  "Returns [scope-form options-form] of the first argument of a macro for children: a scope, or a vector of it and options."
  [what s]
  (if (vector? s)
    (check/bindings what s "[scope options]" (fn ok? [v] (= 2 (count v))))
    [s nil]))

(defmacro fork
  "Runs the body on a virtual thread as a child of scope `s`, with the caller's bindings.
  Returns a future of its value; `future-cancel` cancels only this child.

  In the place of `s` may stand a vector of it and options, a map:

  - :name     a string, by default the place of the call. Errors show it, and the name of the thread
  - :daemon?  true: the scope does not wait for this child. When the body and the other children have
              ended, the scope cancels it, and then waits for its end

  Throws :skein/scope-closed, :skein/bad-argument.

      (scope [s] @(fork s (+ 1 2)))
      ;=> 3"
  {:style/indent 1}
  [s & body]
  (let [[s options] (scope-and-options "fork" s)]
    `(fork* ~s ~options ~(place &form) (^:once fn* [] ~@body))))

(defn ^:no-doc named
  "Gives the port of a child its name, if it has one. Returns the port."
  [port ^Region region]
  (when-some [given (.name region)] (a/label! port given))
  port)

(defn- block [spawn s env body form]
  (let [region (gensym "region__")
        [s options] (scope-and-options (name (first form)) s)
        spawned (block/compile-child env body form spawn region)]
    `(let [~region (child ~s ~options ~(place form))]
       ~(if options `(named ~spawned ~region) spawned))))

(defmacro go
  "Runs the body as a block that is a child of scope `s` and starts soon. Returns a port of
  its value, as skein.async's `async` does: `<?` and `<??` throw its exception. For options see `fork`. Throws
  :skein/scope-closed and :skein/bad-argument."
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
  [s options site]
  (check-scope "(in-scope s ...)" s)
  (fn make-child [] (child s options site)))

(defmacro in-scope
  "Evaluates the body. Everything that skein.async starts in it becomes a child of scope `s`:
  blocks of `go` and `async`, threads, and the blocks of pipelines, mults, `into`,
  `skein.async.streams/pmap` and so on. So does everything that these start in turn. A flow, and threads that
  wait for a future, do not.

  The scope waits for these children as for all others, and cancels them when it is cancelled. With the options
  of `fork`, as in `(in-scope [s {:daemon? true}] ...)`, it does not wait for a child that never ends by itself,
  such as a mult of an open channel. Without `in-scope`, blocks belong to no scope. Throws :skein/scope-closed if the scope has ended.

      (scope [s {:timeout-ms 60000}]
        (in-scope s
          (let [out (a/chan)]
            (a/pipeline 2 out (map inc) (a/to-chan! [1 2 3]))
            (a/<!! (a/into [] out)))))
      ;=> [2 3 4]"
  {:style/indent 1}
  [s & body]
  (let [[s options] (scope-and-options "in-scope" s)]
    `(do (push-thread-bindings {Region/CHILD (maker ~s ~options ~(place &form))})
         (try ~@body (finally (pop-thread-bindings))))))

;;;; A scope without a body

(defn open-scope
  "Returns a scope that no body ends: a service's part keeps it, and closes it when it stops. It is no child of the scope
  around it. `fork`, `go`, `async`, `in-scope`, `cancel!` and `outcomes` work on it, from any thread.

  options, a map:

  - :name      a string, for errors, the inspector and traces
  - :on-error  as for `scope`; the default is :report: a child's failure that nobody reads goes to the uncaught-exception
               handler, and the others go on. With :throw the first failure cancels all, and `.close` throws it
  - :grace-ms  how long `.close` waits for children to end by themselves, a number of milliseconds or a Duration; by
               default 0

  It is a java.io.Closeable. `.close` admits no more children, waits for the grace, cancels the rest, and waits for their
  end. A second call waits too, and returns nil. An interrupt ends the grace, not the wait, and stays set. A child can't
  close its own scope: it may `cancel!` it.

      (with-open [s (open-scope {:name \"workers\" :grace-ms 1000})]
        @(fork s (+ 1 2)))
      ;=> 3"
  (^java.io.Closeable [] (open-scope nil))
  (^java.io.Closeable [options]
   (let [{:keys [grace-ms] :as options} (merge {:on-error :report :grace-ms 0} (check/options "open-scope" options known-of-open))
         grace-ms (check/milliseconds ":grace-ms of open-scope" grace-ms)]
     (make (assoc fresh :grace-ms grace-ms :region nil) ; so no region is ever taken for that of a body
       options nil nil))))

(defn- check-closer
  "Throws :skein/bad-argument unless this code may close the scope."
  [^Scope s]
  (let [refuse (fn [text] (error/fail! :skein/bad-argument text {:scope (called s)}))]
    (when (:region @(.-state s))
      (refuse "close is for a scope of open-scope. This one ends with its body; to end its children earlier use cancel!."))
    (when-some [region (Cancellable/innermost)]
      (when (some (fn mine? [^Region r] (identical? s (.owner r))) (.regions (.cancellable region)))
        (refuse "A child can't close its own scope, because close waits for the child. Use cancel!, or close it elsewhere.")))))

(defn- within-grace
  "Waits until `done` closes, for at most `grace-ms`. Returns whether this thread was interrupted."
  [done grace-ms]
  (let [^Channel timer (a/timeout grace-ms)]
    (try (a/alts!! [done timer] :priority true) false
         (catch InterruptedException _ true)
         (finally (.close timer)))))

(defn- until-closed
  "Waits until `done` closes. Returns whether this thread was interrupted."
  [^Channel done]
  (loop [interrupted? false]
    (if (try (ThreadWaiter/take done) false (catch InterruptedException _ true))
      (recur true)
      interrupted?)))

(defn- close-scope [^Scope s]
  (check-closer s)
  (let [[{sealed? :sealed? :keys [grace-ms]}] (swap-vals! (.-state s) assoc :sealed? true)
        done (closing s)
        interrupted? (when-not sealed? (within-grace done grace-ms))]
    (when-not sealed? (cancel-children (swap! (.-state s) assoc :cancelled? true)))
    (let [interrupted? (or (until-closed done) interrupted?)
          {:keys [threads] :as state} @(.-state s)
          thrown (when-not sealed? (outcome s state))]
      (await-threads threads)
      (when interrupted? (.interrupt (Thread/currentThread)))
      (when thrown (throw (Failures/reached thrown))))))

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
  (cancel-children (swap! (.-state ^Scope (check-scope "(cancel! s)" scope)) assoc :cancelled? true)))

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
  :skein/bad-argument unless the scope has :on-error :collect.

      (scope [s {:on-error :collect}]
        (fork s 1)
        (fork s (throw (ex-info \"no\" {})))
        (map #(update % :error ex-message) (outcomes s)))
      ;=> ({:value 1, :error nil} {:error \"no\"})"
  [scope]
  (when-not (= :collect (.-on-error ^Scope (check-scope "(outcomes s)" scope)))
    (error/fail! :skein/bad-argument "The scope collects no outcomes: open it with {:on-error :collect}." {}))
  (let [{:keys [order outcomes]} @(.-state ^Scope scope)]
    (mapv (fn outcome-of [region]
            (let [[outcome ^Runnable read] @(outcomes region)]
              (when read (.run read))
              outcome))
          order)))
