;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.interop
  "Ports out of futures; futures, sequences and reductions out of ports.

  Once this namespace is loaded, whatever takes in skein.async, `alts!` too, also takes
  from a java.util.concurrent.CompletionStage or Future, and from a Clojure future,
  promise or delay. Each take gives the result, nil if that is nil or an exception;
  `<?` and `<??` rethrow the exception itself, without a wrapper.

  * `port` - the same for anything else that can be dereferenced
  * `stage` - one take as a CompletableFuture
  * `values` - a channel's values, to reduce, iterate or make a seq of

      (let [p (promise), f (future 2)]
        (deliver p 1)
        (a/<!! (a/go [(a/<! p) (a/<! f)])))
      ;=> [1 2]

  A stage calls back. The others are waited for by one virtual thread each, from the
  first take that must wait until the result is there; a delay runs on it, with the
  bindings of that take. For java.util.concurrent.Flow see skein.async.reactive."
  (:require
   [skein.async :as a]
   [skein.impl.argument :as argument]
   [skein.impl.error :as error]
   [skein.impl.protocols :as impl])
  (:import
   (clojure.lang Delay IDeref IPending IReduce Seqable)
   (java.util Iterator NoSuchElementException)
   (java.util.concurrent CancellationException CompletableFuture CompletionException CompletionStage ExecutionException Future Future$State)
   (java.util.function BiConsumer)
   (skein.rt Channel SourceChannel TakeFuture)))

(set! *warn-on-reflection* true)

;;;; Futures as ports

(defn- unwrapped
  "The exception that a future's own exception wraps, or itself."
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
  "The outcome of a future that is done; nil before that."
  [^Future f]
  (condp identical? (.state f)
    Future$State/SUCCESS [(.resultNow f) nil]
    Future$State/FAILED [nil (.exceptionNow f)]
    Future$State/CANCELLED [nil (CancellationException.)]
    nil))

(defn- stage-outcome
  "The outcome of a stage that is done; nil before that."
  [^CompletionStage stage]
  (let [seen (volatile! nil)]
    (.whenComplete stage (reify BiConsumer
                           (accept [_ value thrown] (vreset! seen [value (some-> thrown unwrapped)]))))
    @seen))

(defn- completable-outcome
  "As `stage-outcome`, without a callback while the future is not done. A subclass may refuse
  to tell its state: then nil, and those that wait are called back."
  [^CompletableFuture f]
  (when (and (identical? CompletableFuture (class f)) (.isDone f))
    (if (identical? Future$State/SUCCESS (.state f))
      [(.resultNow f) nil]
      (stage-outcome f))))

(defn- pending-outcome
  "The outcome of a promise or delay that has one; nil before that."
  [source]
  (when (.isRealized ^IPending source) (outcome (fn [] (deref source)))))

(defn- channel-for [source outcome-now start]
  (if-some [[value thrown] outcome-now]
    (SourceChannel/settled source value thrown)
    (SourceChannel/pending source start)))

(defn- take-from-source [source handler]
  (impl/take! (impl/source-channel source) handler))

(defn- extend-source! [c channel outcome-now]
  (extend c
    impl/ReadPort {:take! take-from-source}
    impl/Source {:source-channel channel}
    impl/Failing {:failure (fn failure [source] (second (outcome-now source)))}))

(extend-source! Future
                (fn [f] (channel-for f (future-outcome f) (by-thread (fn [] (.get ^Future f)))))
                future-outcome)

;; A stage need not tell its state, so even one that is done is asked by a callback.
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

(defn port
  "Returns a port for what `ref`, anything that can be dereferenced, holds or will hold.

  A virtual thread dereferences it, once and at once, with the caller's bindings. Every
  take gives the value; if dereferencing gave nil or threw, the port is closed, and then
  `<?` and `<??` rethrow the exception. Throws :skein/not-derefable.

      (a/<!! (port (atom 1)))
      ;=> 1"
  [ref]
  (when-not (instance? IDeref ref)
    (error/fail! :skein/not-derefable
                 (str "Only what can be dereferenced has a port of this kind, but this is "
                      (error/preview ref) ". A future or a stage needs none: take from it.")
                 {:value (error/preview ref)}))
  (let [^Channel result (a/promise-chan)]
    (Thread/startVirtualThread
      (bound-fn []
        (let [[value thrown] (outcome (fn [] (deref ref)))]
          (when (some? value) (a/put! result value))
          (if thrown (.close result ^Throwable thrown) (.close result)))))
    result))

;;;; Ports as something else

(defn stage
  "Takes once from `port`; returns a java.util.concurrent.CompletableFuture of the value.

  The future gives nil when the port is closed; if that has a cause, or belongs to an
  `async` block that threw, it fails with the exception. Cancelling it, or letting it
  time out, withdraws the take; false from `cancel` means that the value had come before.
  What depends on the future runs on a worker. Throws :skein/not-a-port.

      (.join (.thenApply (stage (a/go 1)) inc))
      ;=> 2"
  ^java.util.concurrent.CompletableFuture [port]
  (argument/source "port" port)
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

(defn values
  "Returns the values of `port` up to its close, as something to `reduce`, to `seq`, to
  iterate, or to make an `eduction` of.

  They are taken when they are asked for, one at a time, and each is taken once: the next
  to ask gets the next one. A port that never ends, as a future, never ends here. Asking blocks the thread (in a block that is fine), and
  rethrows the cause with which the port was closed. Throws :skein/not-a-port.

      (let [c (a/chan 3)]
        (run! (fn [n] (a/>!! c n)) [1 2 3])
        (a/close! c)
        [(first (values c)) (into [] (map inc) (values c))])
      ;=> [1 [3 4]]"
  [port]
  (argument/source "port" port)
  (reify
    Iterable
    (iterator [_] (take-iterator port))
    Seqable
    (seq [_] (seq (take-seq port)))
    ;; IReduceInit alone would not do: which of its types `reduce` without init goes by is luck.
    IReduce
    (reduce [_ f] (if-some [v (a/<?? port)] (reduce-port f v port) (f)))
    (reduce [_ f init] (reduce-port f init port))))
