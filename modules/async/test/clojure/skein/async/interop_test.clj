;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.interop-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.interop :as interop]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (clojure.lang ExceptionInfo)
   (java.lang.ref WeakReference)
   (java.util Iterator NoSuchElementException)
   (java.util.concurrent CancellationException CompletableFuture Future FutureTask TimeUnit TimeoutException)
   (java.util.function Function)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(def ^:private boom (ex-info "boom" {}))

(defn- thrown-by [f]
  (try (f) (catch Throwable t t)))

;;;; Futures as ports

(def ^:private kinds [:completable :stage :dependent :future :task :delay])

(defn- pending-source
  "A source of that kind and a function that finishes it with a value, or an exception to
  be thrown."
  [kind]
  (let [p (promise)
        result (fn [] (let [v @p] (if (instance? Throwable v) (throw v) v)))
        cf (CompletableFuture.)
        complete (fn [v] (if (instance? Throwable v) (.completeExceptionally cf v) (.complete cf v)))]
    (case kind
      :completable [cf complete]
      :stage [(.minimalCompletionStage cf) complete]
      :dependent [(.thenApply cf (reify Function (apply [_ v] v))) complete]
      :future [(future (result)) #(deliver p %)]
      :task [(let [t (FutureTask. ^Callable result)] (Thread/startVirtualThread t) t) #(deliver p %)]
      :delay [(delay (result)) #(deliver p %)])))

(deftest every-kind-of-future-is-a-port
  (doseq [value [1 false], finished? [true false], kind kinds]
    (testing [kind value finished?]
      (let [[source finish] (pending-source kind)
            finish-at-once (fn [] (finish value) (when (= :delay kind) (force source)))
            _ (when finished? (finish-at-once))
            taken [(a/go (a/<! source))
                   (a/thread (a/<!! source))
                   (a/go (let [[v p] (a/alts! [(a/chan) source])] [v (identical? p source)]))
                   (let [p (a/promise-chan)] (a/take! source #(a/put! p [:called %])) p)]]
        (when-not finished? (finish value))
        (is (= [value value [value true] [:called value]] (mapv await-port taken)))
        (is (= value (a/poll! source)) "the result stays")))))

(deftest a-promise-is-a-port
  (let [p (promise)
        taken (a/go (let [[v port] (a/alts! [(a/chan) p] :priority true)] [v (identical? p port)]))]
    (is (nil? (a/poll! p)))
    (deliver p 1)
    (is (= [1 true] (await-port taken)))
    (is (= 1 (a/poll! p)))))

(deftest a-failure-is-nil-or-the-exception-itself
  (doseq [kind kinds]
    (testing kind
      (let [[source finish] (pending-source kind)
            plain (a/go [:nil (a/<! source)])
            strict (a/go (try (a/<? source) (catch Throwable t t)))]
        (finish boom)
        (is (= [[:nil nil] boom] [(await-port plain) (await-port strict)]))
        (is (identical? boom (thrown-by #(a/<?? source))))
        (is (nil? (a/<!! source)))))))

(deftest a-nil-result-is-nil-and-no-failure
  (is (= [nil nil nil nil]
         (within-deadline [(a/<?? (CompletableFuture/completedFuture nil))
                           (a/<?? (future nil))
                           (a/<?? (delay nil))
                           (a/<?? (doto (promise) (deliver nil)))]))))

(deftest a-cancelled-future-fails-as-cancelled
  (let [pending (CompletableFuture.)
        taken (a/go (try (a/<? pending) (catch Throwable t t)))]
    (.cancel pending true)
    (is (instance? CancellationException (await-port taken)))
    (is (instance? CancellationException (thrown-by #(a/<?? pending))))))

(deftest a-future-that-loses-an-alts-keeps-no-callback
  (let [pending (CompletableFuture.)
        others (vec (repeatedly 3000 a/chan))
        refs (mapv (fn [_] (let [local (byte-array 100)
                                 ready (a/chan 1)]
                             (a/put! ready 1)
                             (await-port (a/go (a/alts! [pending ready]) (alength local)))
                             (WeakReference. local)))
                   (range 100))
        waiting (mapv (fn [c] (a/go (a/alts! [pending c]))) others)]
    (run! #(a/>!! % 1) others)
    (run! await-port waiting)
    (testing "after 3000 lost choices one callback is left in the future"
      (is (>= 1 (.getNumberOfDependents pending))))
    (within-deadline (while (some #(.get ^WeakReference %) refs) (System/gc)))
    (is (not-any? #(.get ^WeakReference %) refs))))

(deftest any-number-of-takes-may-wait-for-a-future
  (let [pending (CompletableFuture.)
        takes (mapv (fn [_] (a/go (a/<! pending))) (range 5000))]
    (.complete pending 1)
    (is (= 5000 (reduce + (map await-port takes))))))

(deftest an-interrupted-take-from-a-future-is-withdrawn
  (let [pending (CompletableFuture.)
        seen (promise)
        t (Thread/startVirtualThread #(deliver seen (thrown-by (fn [] (a/<!! pending)))))]
    (.interrupt t)
    (is (instance? InterruptedException (deref seen 30000 :late)))))

(def ^:private ^:dynamic *place* :root)

(deftest a-delay-runs-with-the-bindings-of-the-take
  (is (= :here (binding [*place* :here] (within-deadline (a/<!! (delay *place*)))))))

(deftest any-deref-can-be-a-port
  (is (= [1 2 :nothing]
         (within-deadline [(a/<!! (interop/->port (atom 1)))
                           (let [p (interop/->port (volatile! 2))] (a/<!! p) (a/<!! p))
                           (or (a/<?? (interop/->port (atom nil))) :nothing)])))
  (is (identical? boom (thrown-by #(a/<?? (interop/->port (delay (throw boom)))))))
  (is (= {:skein/error :skein/bad-argument :value "1"} (ex-data (thrown-by #(interop/->port 1))))))

;;;; A take as a future

(deftest a-stage-is-one-take
  (let [c (a/chan 2)
        first-take (interop/->future c)]
    (a/>!! c 1)
    (a/>!! c 2)
    (is (= [1 2] (within-deadline [(.get first-take) (.get (interop/->future c))])))
    (a/close! c)
    (is (nil? (.get (interop/->future c))))
    (is (= {:skein/error :skein/bad-argument :argument "port" :wanted "a channel to take from" :value "7"} (ex-data (thrown-by #(interop/->future 7)))))))

(deftest a-stage-fails-with-the-exception-of-the-port
  (let [failed (interop/->future (a/async (throw boom)))
        c (a/chan)
        closing (interop/->future c)]
    (.close ^Channel c ^Throwable boom)
    (is (= [boom boom] (within-deadline (mapv (fn [^Future f] (ex-cause (thrown-by #(.get f)))) [failed closing]))))))

(deftest a-stage-of-a-future-or-of-another-port
  (is (= 1 (within-deadline (.get (interop/->future (future 1))))))
  (let [pending (CompletableFuture.)
        f (interop/->future pending)]
    (.complete pending 2)
    (is (= 2 (within-deadline (.get f))))))

(deftest a-cancelled-stage-loses-nothing
  (doseq [port [(a/chan) (CompletableFuture.)]]
    (let [f (interop/->future port)]
      (is (true? (.cancel f true)))
      (is (instance? CancellationException (thrown-by #(.get f))))))
  (let [c (a/chan)
        f (interop/->future c)]
    (.cancel f true)
    (is (nil? (a/offer! c 1)) "no take waits any more"))
  (let [c (a/chan)
        f (.orTimeout (interop/->future c) 1 TimeUnit/MILLISECONDS)]
    (is (instance? TimeoutException (ex-cause (within-deadline (thrown-by #(.get f))))))
    (is (nil? (a/offer! c 1))))
  (doseq [obtrude [#(.obtrudeValue ^CompletableFuture % 1) #(.obtrudeException ^CompletableFuture % boom)]]
    (let [c (a/chan)]
      (obtrude (interop/->future c))
      (is (nil? (a/offer! c 1)))))
  (let [f (interop/->future (doto (a/chan 1) (a/put! 1)))]
    (is (= [false false 1] [(.cancel f true) (.complete f 2) (.get f)]) "the take has happened")))

(defn- cancel-against-put
  "Cancels a stage while a value is put. Returns whether exactly one of the two succeeded."
  [_]
  (let [c (a/chan)
        f (interop/->future c)
        cancelled (a/io-thread (.cancel f true))
        put (a/io-thread (some? (a/offer! c 1)))]
    (not= (await-port cancelled) (await-port put))))

(deftest a-value-goes-to-the-stage-or-stays
  (is (every? true? (map cancel-against-put (range 2000)))))

;;;; Values

(defn- holding [& vs]
  (let [c (a/chan 10)]
    (run! #(a/>!! c %) vs)
    (doto c a/close!)))

(deftest values-reduce-iterate-and-make-seqs
  (within-deadline
    (is (= [1 2 3] (into [] (interop/->values (holding 1 2 3)))))
    (is (= [2 false] (let [c (holding 2 false 3)] (into [] (take 2) (interop/->values c)))))
    (is (= 6 (reduce + (interop/->values (holding 1 2 3)))))
    (is (= [0 7] [(reduce + (interop/->values (holding))) (reduce + (interop/->values (holding 7)))]))
    (is (= [1 2 3] (seq (interop/->values (holding 1 2 3)))))
    (is (nil? (seq (interop/->values (holding)))))
    (is (= [[1 2] [3]] (vec (eduction (partition-all 2) (interop/->values (holding 1 2 3))))))
    (is (= [2 3] (map inc (eduction (map identity) (interop/->values (holding 1 2))))))
    (let [^Iterator i (.iterator ^Iterable (interop/->values (holding 1)))]
      (is (= [true true 1 false] [(.hasNext i) (.hasNext i) (.next i) (.hasNext i)]))
      (is (instance? NoSuchElementException (thrown-by #(.next i)))))))

(deftest values-are-taken-one-at-a-time
  (let [c (holding 1 2 3)]
    (is (= 1 (first (interop/->values c))))
    (is (= 2 (reduce (fn [_ v] (reduced v)) nil (interop/->values c))))
    (is (= [3] (seq (interop/->values c))))))

(deftest values-rethrow-the-exception-of-the-port
  (let [c (a/chan 1)]
    (a/>!! c 1)
    (.close ^Channel c ^Throwable boom)
    (is (= [1 boom] [(first (interop/->values c)) (thrown-by #(into [] (interop/->values c)))]))))

(deftest values-may-be-read-in-a-block
  (is (= [0 1 2] (await-port (a/go (into [] (interop/->values (let [c (a/chan)]
                                                                (a/go (dotimes [i 3] (a/>! c i)) (a/close! c))
                                                                c))))))))

(deftest values-refuses-non-ports
  (is (= :skein/bad-argument (:skein/error (ex-data (is (thrown? ExceptionInfo (interop/->values "x"))))))))
