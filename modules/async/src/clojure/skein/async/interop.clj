;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.interop
  "Futures as ports, and ports as futures, sequences and reductions.

  After this namespace is loaded, every operation of skein.async that takes, `alts!` included,
  also takes from a java.util.concurrent.CompletionStage or Future, and from a Clojure future,
  promise or delay. Each take returns the result, or nil if the result is nil or an exception.
  `<?` and `<??` rethrow the exception itself, without a wrapper.

  * `->port` - a port for anything else that can be dereferenced
  * `->future` - one take as a CompletableFuture
  * `->values` - a channel's values, for `reduce`, `seq` and iterators

  A CompletionStage calls back when it is done. For any other kind, the first take that has to
  wait starts a virtual thread, which waits for the result. A delay runs on that thread, with the
  bindings of that take. For java.util.concurrent.Flow see skein.async.reactive.

      (let [p (promise), f (future 2)]
        (deliver p 1)
        (a/<!! (a/go [(a/<! p) (a/<! f)])))
      ;=> [1 2]"
  (:require
   [skein.async :as a]
   [skein.async.spi :as impl]
   [skein.impl.error :as error]
   [skein.impl.foreign :as foreign]
   [skein.impl.port :as port])
  (:import
   (clojure.lang Delay IDeref IPending IReduce Seqable)
   (java.util Iterator NoSuchElementException)
   (java.util.concurrent CancellationException CompletableFuture CompletionException CompletionStage ExecutionException Future Future$State)
   (java.util.function BiConsumer)
   (skein.rt Channel SourceChannel)
   (skein.rt.block TakeFuture)))

(set! *warn-on-reflection* true)

;;;; Futures as ports

(defn- unwrapped
  "Returns the cause of `thrown` if a future has wrapped it, otherwise `thrown`."
  [^Throwable thrown]
  (if (or (instance? CompletionException thrown) (instance? ExecutionException thrown))
    (or (.getCause thrown) thrown)
    thrown))

(defn- outcome
  "Calls `result`; returns [value nil] or [nil exception]."
  [result]
  (try [(result) nil] (catch Throwable t [nil (unwrapped t)])))

(defn- by-thread
  "Starts a virtual thread that waits for `result` and settles the channel."
  [result]
  (fn start [^SourceChannel ch]
    (Thread/startVirtualThread
      (bound-fn [] (let [[value thrown] (outcome result)] (.settle ch value thrown))))))

(defn- by-callback [^CompletionStage stage]
  (fn start [^SourceChannel ch]
    (.whenComplete stage (reify BiConsumer
                           (accept [_ value thrown] (.settle ch value (some-> thrown unwrapped)))))))

(defn- future-outcome
  "Returns the outcome of a future, or nil if it is not done."
  [^Future f]
  (condp identical? (.state f)
    Future$State/SUCCESS [(.resultNow f) nil]
    Future$State/FAILED [nil (.exceptionNow f)]
    Future$State/CANCELLED [nil (CancellationException.)]
    nil))

(defn- stage-outcome
  "Returns the outcome of a stage, or nil if it is not done."
  [^CompletionStage stage]
  (let [seen (volatile! nil)]
    (.whenComplete stage (reify BiConsumer
                           (accept [_ value thrown] (vreset! seen [value (some-> thrown unwrapped)]))))
    @seen))

(defn- completable-outcome
  "Like `stage-outcome`, but adds no callback while the future is not done. Returns nil for a
  subclass, which may refuse to return its state; takes then wait for its callback."
  [^CompletableFuture f]
  (when (and (identical? CompletableFuture (class f)) (.isDone f))
    (if (identical? Future$State/SUCCESS (.state f))
      [(.resultNow f) nil]
      (stage-outcome f))))

(defn- pending-outcome
  "Returns the outcome of a promise or delay, or nil if it has none yet."
  [source]
  (when (.isRealized ^IPending source) (outcome (fn [] (deref source)))))

(defn- channel-for [source outcome-now start]
  (if-some [[value thrown] outcome-now]
    (SourceChannel/settled source value thrown)
    (SourceChannel/pending source start)))

(defn- take-from-source [source handler]
  (impl/take! (foreign/source-channel source) handler))

(defn- extend-source! [c channel outcome-now]
  (extend c
    impl/ReadPort {:take! take-from-source}
    foreign/Source {:source-channel channel}
    impl/Failing {:failure (fn failure [source] (second (outcome-now source)))}))

(extend-source! Future
                (fn [f] (channel-for f (future-outcome f) (by-thread (fn [] (.get ^Future f)))))
                future-outcome)

;; A stage has no method that returns its state, so even one that is done gets a callback.
(extend-source! CompletionStage
                (fn [stage] (SourceChannel/pending stage (by-callback stage)))
                stage-outcome)

(extend-source! CompletableFuture
                (fn [f] (channel-for f (completable-outcome f) (by-callback f)))
                stage-outcome)

(doseq [c [Delay (class (promise))]]
  (extend-source! c
                  (fn [source] (channel-for source (pending-outcome source) (by-thread (fn [] (deref source)))))
                  pending-outcome))

(defn ->port
  "Returns a port for the value of `ref`, which can be anything that can be dereferenced.

  A virtual thread dereferences it at once, with the caller's bindings. Every take returns the
  value. If the value is nil or `deref` throws, the port closes, and `<?` and `<??` rethrow
  the exception. Throws :skein/bad-argument.

      (a/<!! (->port (atom 1)))
      ;=> 1"
  [ref]
  (when-not (instance? IDeref ref)
    (error/fail! :skein/bad-argument
                 (str "->port needs something that can be dereferenced, but got "
                      (error/preview ref) ". A future or a stage needs no ->port: take from it.")
                 {:value (error/preview ref)}))
  (let [^Channel result (a/promise-chan)]
    (Thread/startVirtualThread
      (bound-fn []
        (let [[value thrown] (outcome (fn [] (deref ref)))]
          (when (some? value) (a/put! result value))
          (if thrown (.close result ^Throwable thrown) (.close result)))))
    result))

;;;; Ports as something else

(defn ->future
  "Takes once from `port`. Returns a java.util.concurrent.CompletableFuture of the value.

  The value is nil if the port is closed. If the port was closed with a cause, or belongs to a
  block that threw, the future fails with the exception. Cancelling the future, or letting it
  time out, withdraws the take. `cancel` returns false if the value came first. Dependent
  stages run on a worker. Throws :skein/bad-argument.

      (.join (.thenApply (->future (a/go 1)) inc))
      ;=> 2"
  ^java.util.concurrent.CompletableFuture [port]
  (port/source "port" port)
  (TakeFuture/start port impl/failure))

(defn- take-seq [port]
  (lazy-seq
    (when-some [v (a/<?? port)]
      (cons v (take-seq port)))))

(defn- take-iterator [port]
  (let [ahead (volatile! ::unknown)
        look (fn [] (when (identical? ::unknown @ahead) (vreset! ahead (a/<?? port))) @ahead)]
    (reify Iterator
      (hasNext [_] (some? (look)))
      (next [_]
        (let [v (look)]
          (when (nil? v) (throw (NoSuchElementException.)))
          (vreset! ahead ::unknown)
          v)))))

(defn- reduce-port [f init port]
  (loop [acc init]
    (if-some [v (a/<?? port)]
      (let [acc (f acc v)]
        (if (reduced? acc) @acc (recur acc)))
      acc)))

(defn ->values
  "Returns the values of `port` up to its close, for `reduce`, `seq`, an iterator or
  `eduction`.

  A value is taken only when it is read. Each value is taken once, so two readers share the
  values. If the port never closes, like that of a future, the values never end. Reading blocks
  the thread, which is allowed in a block, and rethrows the cause with which the port was
  closed. Throws :skein/bad-argument.

      (let [c (a/chan 3)]
        (run! (fn [n] (a/>!! c n)) [1 2 3])
        (a/close! c)
        [(first (->values c)) (into [] (map inc) (->values c))])
      ;=> [1 [3 4]]"
  [port]
  (port/source "port" port)
  (reify
    Iterable
    (iterator [_] (take-iterator port))
    Seqable
    (seq [_] (seq (take-seq port)))
    ;; Not only IReduceInit: `reduce` without init would then choose one of the types at random.
    IReduce
    (reduce [_ f] (if-some [v (a/<?? port)] (reduce-port f v port) (f)))
    (reduce [_ f init] (reduce-port f init port))))
