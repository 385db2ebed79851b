;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope-test
  (:require
   [clojure.test :refer [are deftest is testing]]
   [skein.async :as a]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.one-thread :refer [with-prompt-timers]]
   [skein.scope :as s]
   [skein.scope-trees :as trees]
   [skein.uncaught :refer [await-uncaught]]
   [skein.virtual :as v])
  (:import
   (java.io PipedInputStream PipedOutputStream)
   (java.net InetAddress ServerSocket Socket)
   (java.util.concurrent CancellationException CountDownLatch Future)
   (java.util.concurrent.atomic AtomicBoolean AtomicInteger)
   (skein.rt Channel Region Uncaught Uncaught$Report)
   (skein.rt.scope Fork)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(defmacro ^:private caught [& body]
  `(try ~@body (catch Throwable t# t#)))

(defn- await-true [f]
  (while (not (f)) (Thread/yield)))

;;;; Children end before their scope

(deftest a-scope-returns-the-value-of-its-body
  (is (= 6 (s/scope [s]
             (let [a (s/fork s 1) b (s/go s (a/<! (a/timeout 1)) 2) c (s/async s 3)]
               (+ (long @a) (long (a/<?? b)) (long (a/<?? c)))))))
  (is (nil? (s/scope [s] nil)))
  (is (false? (s/scope [s] (s/fork s 1) false))))

(deftest nothing-is-alive-when-the-scope-returns
  (within-deadline
    (dotimes [_ 200]
      (let [ended (AtomicInteger.)
            fork (s/scope [s]
                   (s/go s (a/<! (a/timeout 0)) (.incrementAndGet ended))
                   (s/async s (s/fork s (Thread/sleep 0 1000) (.incrementAndGet ended)) (.incrementAndGet ended))
                   (s/fork s (.incrementAndGet ended)))]
        (is (= 4 (.get ended)))
        (is (not (.isAlive (.thread ^Fork fork))))))))

(deftest a-scope-in-a-block-parks
  (let [gate (a/chan)
        block (a/go (s/scope [s] (s/go s (a/<! gate)) (s/go s (a/<! gate)) :done))]
    (within-deadline (await-true #(= 2 (.takerCount ^Channel gate))))
    (a/close! gate)
    (is (= :done (await-port block)))))

(deftest bindings-are-those-of-the-call
  (is (= [:caller :caller :caller]
         (binding [*who* :caller]
           (s/scope [s]
             (let [children [(s/go s (a/<! (a/timeout 1)) *who*) (s/async s *who*)] fork (s/fork s *who*)]
               (conj (mapv a/<?? children) @fork)))))))

;;;; Failures

(deftest the-first-failure-cancels-the-others-and-is-thrown
  (let [boom (ex-info "boom" {}) late (ex-info "late" {}) waiting (CountDownLatch. 3) ended (AtomicInteger.)
        thrown (within-deadline
                 (caught
                   (s/scope [s]
                     (s/go s (.countDown waiting) (try (a/<! (a/chan)) (finally (.incrementAndGet ended))))
                     (s/fork s (.countDown waiting) (try (Thread/sleep 60000) (finally (.incrementAndGet ended))))
                     (s/fork s (.countDown waiting) (try @(promise) (finally (throw late))))
                     (s/go s (.await waiting) (throw boom))
                     (a/<!! (a/chan)))))]
    (is (identical? boom thrown))
    (is (= 2 (.get ended)))
    (is (= [late] (vec (.getSuppressed ^Throwable thrown))))))

(deftest a-failure-of-the-body-cancels-the-children
  (let [boom (ex-info "boom" {}) waiting (CountDownLatch. 1) seen (promise)]
    (is (identical? boom
                    (within-deadline
                      (caught (s/scope [s]
                                (s/fork s (.countDown waiting) (try @(promise) (catch Throwable t (deliver seen t))))
                                (.await waiting)
                                (throw boom))))))
    (is (instance? InterruptedException @seen))))

(deftest a-failure-is-reported-once
  (let [boom (ex-info "boom" {})]
    (doseq [run [#(s/scope [s] @(s/fork s (throw boom)))
                 #(s/scope [s] (a/<?? (s/go s (throw boom))))
                 #(s/scope [s] (s/scope [t] (s/fork t (throw boom))))
                 #(a/<?? (a/async (s/scope [s] (a/<? (s/async s (a/<! (a/timeout 1)) (throw boom))))))]]
      (let [thrown (within-deadline (caught (run)))]
        (is (identical? boom thrown))
        (is (empty? (.getSuppressed ^Throwable thrown)))))))

(deftest outcomes-are-data-on-demand
  (let [boom (ex-info "boom" {}) begun (CountDownLatch. 1)]
    (is (= [{:value 1} {:error boom} {:value nil} {:cancelled true}]
           (within-deadline
             (s/scope [s {:on-error :collect}]
               (s/fork s 1)
               (s/go s (throw boom))
               (s/async s nil)
               (let [slow (s/fork s (.countDown begun) (Thread/sleep 60000))]
                 (.await begun)
                 (future-cancel slow))
               (s/outcomes s)))))
    (is (identical? boom (caught (s/scope [s {:on-error :collect}] (throw boom)))) "an exception of the body is thrown")
    (is (= :skein/bad-argument (:skein/error (ex-data (caught (s/scope [s] (s/outcomes s)))))))))

(deftest a-collected-failure-that-nobody-reads-is-reported
  (doseq [[what start] {"fork" (fn [s boom] (s/fork s (throw boom)))
                        "go" (fn [s boom] (s/go s (throw boom)))
                        "async" (fn [s boom] (s/async s (throw boom)))
                        "thread" (fn [s boom] (s/in-scope s (a/thread (throw boom))))}
          :let [unread (ex-info "unread" {}), read (ex-info "read" {})
                told (await-uncaught #{unread} (fn [] (s/scope [s {:on-error :collect}] (start s unread) nil)))]]
    (is (identical? unread (second told)) what)
    (when-not (= "thread" what) ; a plain thread's exception goes to the handler at once
      (is (= [{:error read}] (s/scope [s {:on-error :collect}] (start s read) (s/outcomes s))) what)
      (is (not-any? #{read} (map (fn [^Uncaught$Report u] (.thrown u)) (Uncaught/last))) what))))

;;;; Cancelling

(def ^:private ways-to-wait
  "Ways for a child to wait until it is cancelled. Each is called with the scope, a latch to count
  down before it waits, and a function of what it then catches."
  {:take    (fn [s ^CountDownLatch l told] (s/go s (.countDown l) (try (a/<! (a/chan)) (catch Throwable t (told t)))))
   :put     (fn [s ^CountDownLatch l told] (s/go s (.countDown l) (try (a/>! (a/chan) 1) (catch Throwable t (told t)))))
   :alts    (fn [s ^CountDownLatch l told]
              (s/async s (.countDown l) (try (a/alts! [(a/chan) [(a/chan) 1]]) (catch Throwable t (told t)))))
   :sleep   (fn [s ^CountDownLatch l told] (s/go s (.countDown l) (try (Thread/sleep 60000) (catch Throwable t (told t)))))
   :deref   (fn [s ^CountDownLatch l told] (s/fork s (.countDown l) (try @(promise) (catch Throwable t (told t)))))
   :<!!     (fn [s ^CountDownLatch l told] (s/fork s (.countDown l) (try (a/<!! (a/chan)) (catch Throwable t (told t)))))
   :in-go   (fn [s ^CountDownLatch l told] (s/go s (.countDown l) (try (mapv a/<! [(a/chan)]) (catch Throwable t (told t)))))
   :alts!!  (fn [s ^CountDownLatch l told] (s/fork s (.countDown l) (try (a/alts!! [(a/chan)]) (catch Throwable t (told t)))))
   :socket  (fn [s ^CountDownLatch l told]
              (s/fork s
                (with-open [server (ServerSocket. 0 1 (InetAddress/getLoopbackAddress))
                            socket (Socket. (InetAddress/getLoopbackAddress) (.getLocalPort server))]
                  (.countDown l)
                  (try (.read (.getInputStream socket)) (catch Throwable t (told t))))))
   :pipe    (fn [s ^CountDownLatch l told]
              (s/fork s
                (with-open [to (PipedOutputStream.) from (PipedInputStream. to)]
                  (.countDown l)
                  (try (.read from) (catch Throwable t (told t) (throw t))))))})

(deftest a-cancellation-reaches-every-waiter
  ;; Checks S3.
  (doseq [[way start] ways-to-wait]
    (let [latch (CountDownLatch. 1) told (promise)]
      (is (= :body (within-deadline
                     (s/scope [s]
                       (start s latch (fn [t] (deliver told t) nil))
                       (.await latch)
                       (s/cancel! s)
                       :body)))
          (str way))
      (is (instance? Exception (deref told 0 nil)) (str way)))))

(deftest a-withdrawn-operation-is-never-delivered
  ;; Checks S1: puts and takes that are cancelled while they meet.
  (within-deadline
    (dotimes [i 3000]
      (let [c (a/chan) got (atom []) put (atom 0)]
        (s/scope [s]
          (s/go s (when-some [v (a/<! c)] (swap! got conj v)))
          (s/go s (when (a/>! c i) (swap! put inc)))
          (s/fork s (dotimes [_ (rem i 50)] (Thread/onSpinWait)) (s/cancel! s)))
        (let [^Channel ch c]
          (is (= [0 0] [(.takerCount ch) (.putterCount ch)])))
        ;; The block that got the value, or put it, may have been cancelled after that, and before the swap!.
        (is (<= (count @got) 1))
        (is (<= @put 1))
        (is (nil? (a/offer! c :late)) "nobody is left who would take it")))))

(deftest an-alts-that-is-cancelled-leaves-nothing
  (within-deadline
    (dotimes [i 1000]
      (let [^Channel c (a/chan) ^Channel d (a/chan)]
        (s/scope [s]
          (s/go s (a/alts! [c [d 1]]))
          (s/fork s (dotimes [_ (rem i 50)] (Thread/onSpinWait)) (s/cancel! s)))
        (is (= [0 0] [(.takerCount c) (.putterCount d)]))))))

(deftest a-value-that-was-taken-reaches-its-block
  (within-deadline
    (dotimes [i 2000]
      (let [c (a/chan) accepted (atom nil) taken (atom [])]
        (s/scope [s]
          (s/go s (let [v (a/<! c)] (s/shield (swap! taken conj v))))
          (s/fork s (s/shield (dotimes [_ (rem i 40)] (Thread/onSpinWait)) (reset! accepted (true? (a/offer! c i)))))
          (s/fork s (dotimes [_ (rem i 60)] (Thread/onSpinWait)) (s/cancel! s)))
        (is (= (if @accepted [i] []) @taken))))))

(defn- foreign-port
  "A port that is not a channel of ours; its handlers go to the atom `handlers`, or all is done at once."
  [handlers ready?]
  (let [wait (fn wait [h result] (if ready? (do (impl/commit h) (delay result)) (do (swap! handlers conj h) nil)))]
    (reify
      impl/ReadPort (take! [_ h] (wait h :taken))
      impl/WritePort (put! [_ v h] (wait h [:put v])))))

(deftest a-block-in-a-foreign-port-can-be-cancelled
  (let [handlers (atom []) port (foreign-port handlers false)]
    (is (= :body
           (within-deadline
             (s/scope [s]
               (s/go s (a/<! port))
               (s/go s (a/>! port 1))
               (s/go s (a/alts! [port [(a/chan) 1]]))
               (await-true #(= 3 (count @handlers)))
               (s/cancel! s)
               :body))))
    (is (= [false false false] (mapv impl/active? @handlers)) "a port will find nobody there"))
  (let [ready (foreign-port nil true)]
    (is (= [:taken [:put 1] [:taken ready]]
           (within-deadline
             (s/scope [s] (mapv a/<?? [(s/go s (a/<! ready)) (s/go s (a/>! ready 1)) (s/go s (a/alts! [ready]))]))))))
  (let [handlers (atom []) port (foreign-port handlers false)]
    (is (= :later
           (within-deadline
             (s/scope [s]
               (let [child (s/go s (a/<! port))]
                 (await-true #(= 1 (count @handlers)))
                 ((impl/commit (first @handlers)) :later)
                 (a/<?? child)))))
        "a result that comes later is the value itself, in no box")))

(deftest finally-runs-once-and-may-wait
  ;; Checks S2.
  (let [runs (AtomicInteger.) waiting (CountDownLatch. 2) c (a/chan)]
    (within-deadline
      (s/scope [s]
        (s/go s (try (.countDown waiting) (a/<! c)
                     (finally (a/<! (a/timeout 1)) (Thread/sleep 1) (a/alts! [(a/timeout 1)]) (.incrementAndGet runs))))
        (s/fork s (try (.countDown waiting) (Thread/sleep 60000)
                       (finally (a/<!! (a/timeout 1)) (Thread/sleep 1) (.incrementAndGet runs))))
        (.await waiting)
        (await-true #(= 1 (.takerCount ^Channel c)))
        (s/cancel! s)))
    (is (= 2 (.get runs)))))

(deftest a-child-cancelled-before-its-start-does-not-run
  ;; Checks S4.
  (let [ran (atom [])]
    (within-deadline
      (s/scope [s]
        (s/cancel! s)
        (is (instance? CancellationException (caught @(s/fork s (swap! ran conj :fork)))))
        (is (nil? (a/<!! (s/go s (swap! ran conj :go)))))
        (is (instance? CancellationException (caught (a/<?? (s/async s (swap! ran conj :async))))))))
    (is (= [] @ran))))

(deftest a-cancelled-child-that-waits-for-another-has-not-failed
  (dotimes [_ 200]
    (let [begun (CountDownLatch. 40)]
      (is (= :body
             (within-deadline
               (s/scope [s]
                 (let [slow (mapv (fn [_] (s/fork s (.countDown begun) (Thread/sleep 60000))) (range 20))]
                   (run! (fn [f] (s/fork s (.countDown begun) @f)) slow))
                 (.await begun)
                 (s/cancel! s)
                 :body)))))))

(deftest one-fork-can-be-cancelled-alone
  (let [begun (CountDownLatch. 1)]
    (is (= 5 (within-deadline
               (s/scope [s]
                 (let [slow (s/fork s (.countDown begun) (Thread/sleep 60000))
                       other (s/fork s 5)]
                   (.await begun)
                   (is (true? (future-cancel slow)))
                   (is (future-cancelled? slow))
                   @other)))))))

(deftest a-shield-delays-a-cancellation
  (doseq [start [(fn [s ^CountDownLatch l log]
                   (s/go s (s/shield (.countDown l) (a/<! (a/timeout 1)) (Thread/sleep 1) (swap! log conj :shielded))
                           (a/<! (a/timeout 60000)) (swap! log conj :wrong)))
                 (fn [s ^CountDownLatch l log]
                   (s/fork s (s/shield (.countDown l) (Thread/sleep 1) (a/<!! (a/timeout 1)) (swap! log conj :shielded))
                             (Thread/sleep 60000) (swap! log conj :wrong)))]]
    (let [log (atom []) latch (CountDownLatch. 1)]
      (within-deadline (s/scope [s] (start s latch log) (.await latch) (s/cancel! s)))
      (is (= [:shielded] @log)))))

(deftest a-shield-keeps-the-scopes-in-it
  (let [gate (promise) log (atom []) shielded (CountDownLatch. 1)]
    (within-deadline
      (s/scope [s]
        (s/fork s
          (s/shield
            (s/scope [t]
              (s/fork t (.countDown shielded) @gate (swap! log conj :child))
              (s/go t (a/<! (a/timeout 1)) (swap! log conj :block))))
          (swap! log conj :after)
          (Thread/sleep 60000))
        (.await shielded)
        (s/cancel! s)
        (deliver gate true)))
    (is (= #{:child :block :after} (set @log)))))

(deftest a-deadline-counts-inside-a-shield
  (doseq [run [#(s/shield (s/scope [s {:timeout-ms 5}] (Thread/sleep 60000)))
               #(a/<?? (a/async (s/shield (s/scope [s {:timeout-ms 5}] (a/<! (a/chan))))))]]
    (is (= :skein/timeout (:skein/error (ex-data (within-deadline (caught (run)))))))))

(deftest computing-code-can-check-for-cancellation
  (let [begun (CountDownLatch. 1)]
    (is (false? (s/cancelled?)))
    (is (= :stopped
           (within-deadline
             (s/scope [s {:on-error :collect}]
               (let [done (promise)]
                 (s/fork s (.countDown begun) (while (not (s/cancelled?)) (Thread/onSpinWait)) (deliver done :stopped))
                 (.await begun)
                 (s/cancel! s)
                 @done)))))))

(deftest a-cancellation-goes-down-the-tree
  (let [waiting (CountDownLatch. 3) ended (AtomicInteger.)]
    (within-deadline
      (s/scope [s]
        (s/go s (s/scope [t]
                  (s/fork t (s/scope [u]
                              (s/go u (.countDown waiting) (try (a/<! (a/chan)) (finally (.incrementAndGet ended))))
                              (.countDown waiting)
                              (try (a/<!! (a/chan)) (finally (.incrementAndGet ended)))))
                  (.countDown waiting)
                  (try (a/<! (a/chan)) (finally (.incrementAndGet ended)))))
        (.await waiting)
        (s/cancel! s)))
    (is (= 3 (.get ended)))))

(deftest a-cancellation-while-a-scope-is-opened-reaches-its-children
  (let [outer (Region/enter nil)
        swap swap!
        cancelled? (AtomicBoolean.)
        children (AtomicInteger.)
        ;; Cancels when the scope has seen that it is not cancelled, and has not yet stored its region.
        cancelling (fn cancelling [a f & args]
                     (apply swap a (fn update-state [state & more]
                                     (let [changed (apply f state more)]
                                       (when (and (map? changed) (:live changed) (:region changed) (not (:region state))
                                               (.compareAndSet cancelled? false true))
                                         (.cancel outer))
                                       changed))
                       args))]
    (try
      (with-redefs [swap! cancelling]
        (s/scope [s] (s/async s (.incrementAndGet children))))
      (catch CancellationException _))
    (.leave outer)
    (Thread/interrupted)
    (is (.get cancelled?))
    (is (= 0 (.get children)))))

(deftest an-interrupted-wait-cancels-the-scope-and-stays-interrupted
  (let [begun (CountDownLatch. 1) ended (promise) outcome (promise)
        waiter (Thread/startVirtualThread
                 (fn []
                   (deliver outcome [(caught (s/scope [s] (s/fork s (.countDown begun)
                                                                  (try (Thread/sleep 60000) (finally (deliver ended true))))))
                                     (.isInterrupted (Thread/currentThread))])))]
    (within-deadline (.await begun) (await-true #(= Thread$State/WAITING (.getState waiter))))
    (.interrupt waiter)
    (let [[thrown interrupted?] (within-deadline @outcome)]
      (is (instance? CancellationException thrown))
      (is (true? interrupted?))
      (is (realized? ended)))))

;;;; Deadlines

(deftest a-deadline-stays-the-reason
  (let [cleanup (ex-info "cleanup" {})]
    (doseq [run [#(s/scope [s {:timeout-ms 5}] (s/fork s (try (Thread/sleep 60000) (finally (throw cleanup)))))
                 #(s/scope [s {:timeout-ms 5}] (s/go s (try (a/<! (a/chan)) (finally (throw cleanup)))))
                 #(s/scope [s {:timeout-ms 5}] (try (Thread/sleep 60000) (finally (throw cleanup))))]
            :let [thrown (within-deadline (caught (run)))]]
      (is (= [:skein/timeout [cleanup]]
             [(:skein/error (ex-data thrown)) (vec (.getSuppressed ^Throwable thrown))])))))

(deftest the-nearer-deadline-wins
  (doseq [run [#(s/scope [s {:timeout-ms 20}] (s/scope [t {:timeout-ms 60000}] (s/go t (a/<! (a/chan)))))
               #(s/scope [s {:timeout-ms 60000}] (s/scope [t {:timeout-ms 20}] (a/<!! (a/chan))))
               #(s/scope [s {:timeout-ms 20}] (s/fork s (s/scope [t {:timeout-ms 60000}] (Thread/sleep 60000))))
               #(a/<?? (a/async (s/scope [s {:timeout-ms 0}] (a/<! (a/chan)))))]]
    (is (= :skein/timeout (:skein/error (ex-data (within-deadline (caught (run)))))))))

(deftest a-deadline-may-pass-before-the-body-begins
  (is (= :skein/timeout
         (:skein/error (ex-data (caught (with-prompt-timers
                                          (s/scope [s {:timeout-ms 60000}] (deref (promise) 5000 nil)))))))))

(deftest a-scope-within-its-deadline-leaves-no-timer
  (let [before (skein.rt.schedule.Timeout/outstanding)]
    (is (= 1 (s/scope [s {:timeout-ms 60000}] @(s/fork s 1))))
    (is (<= (skein.rt.schedule.Timeout/outstanding) before))))

(deftest remaining-time-is-that-of-the-nearest-deadline
  (is (nil? (s/remaining-ms)))
  (s/scope [s]
    (is (nil? (s/remaining-ms)))
    (s/scope [t {:timeout-ms 50000}]
      (is (<= 1 (long (s/remaining-ms)) 50000))
      (s/scope [u {:timeout-ms 100000}]
        (is (<= 1 (long (s/remaining-ms)) 50000))
        (is (<= 1 (long @(s/fork u (s/remaining-ms))) 50000))))))

;;;; Bad input

(deftest bad-arguments-are-refused
  (are [error form] (= error (:skein/error (ex-data (caught form))))
    :skein/bad-argument (s/scope [s {:timeout-ms "1"}] 1)
    :skein/bad-argument (s/scope [s {:on-error :ignore}] 1)
    :skein/bad-argument (s/scope [s {:deadline 1}] 1)
    :skein/bad-argument (s/scope [s 5] 1)
    :skein/bad-argument (s/scope [s [:timeout-ms 1]] 1)
    :skein/bad-argument (s/fork nil 1)
    :skein/bad-argument (s/go :s 1)
    :skein/bad-argument (s/fork (+ 1 2))
    :skein/bad-argument (s/cancel! nil)
    :skein/bad-argument (s/outcomes 5)
    :skein/bad-argument (s/scope [s] (s/fork [s {:nmae "x"}] 1))
    :skein/bad-argument (s/scope [s] (s/go [s {:daemon? 1}] 1))
    :skein/bad-argument (s/open-scope {:grace 1})
    :skein/bad-argument (s/open-scope {:grace-ms "1"})
    :skein/scope-closed (s/fork (s/scope [s] s) 1)
    :skein/scope-closed (s/async (s/scope [s] s) 1))
  (is (= (str "The first argument, such as s in (fork s ...), must be a scope, but is 3."
              " The vector of scope names it: (scope [s] (fork s ...)). [:skein/bad-argument]")
         (ex-message (caught (s/fork (+ 1 2))))))
  (is (re-find #"in \(cancel! s\), must be a scope" (ex-message (caught (s/cancel! nil)))))
  (testing "a child may have siblings made after the body has ended"
    (let [made (promise)]
      (within-deadline (s/scope [s] (s/fork s (s/go s (deliver made true)))))
      (is (realized? made)))))

;;;; Trees

(deftest random-trees-of-scopes
  (doseq [seed (range 40)]
    (is (= [] (within-deadline (trees/faults (trees/tree seed 1000) 1000))) (str "seed " seed))))

(deftest a-deadline-may-be-nil-or-over
  (is (= 1 (s/scope [s {:timeout-ms nil}] 1)))
  (is (= 1 (s/scope [s {:timeout-ms (s/remaining-ms)}] 1)))
  (doseq [ms [0 -5 -0.5]]
    (is (= :skein/timeout
           (try (s/scope [s {:timeout-ms ms}] (s/go s (a/<! (a/chan))))
                (catch java.util.concurrent.TimeoutException e (:skein/error (ex-data e))))))))

;;;; Names, daemons, and scopes without a body

(deftest errors-name-the-scope-and-its-late-children
  (let [e (caught (s/scope [s {:name "orders" :timeout-ms 5}]
                    (s/fork [s {:name "poller"}] (s/shield (v/sleep 60)))
                    (s/go s (a/<! (a/chan)))))
        {:keys [late site] :as data} (ex-data e)]
    (is (= {:skein/error :skein/timeout :what :scope :ms 5 :name "orders"} (dissoc data :late :site)))
    (is (re-matches #"scope_test\.clj:\d+" site))
    (is (= ["poller" nil] (map :name late)))
    (is (re-find #"The scope orders took longer than 5 ms. Still running: poller, scope_test\.clj:\d+\." (ex-message e)))))

(defmacro ^:private park-for-ever
  "Parks, and delivers the data of the exception that ends it to `seen`."
  [seen]
  `(try (a/<! (a/chan)) (catch Throwable t# (deliver ~seen (ex-data t#)) (throw t#))))

(deftest a-cancellation-says-why
  (let [boom (ex-info "boom" {})
        [failure late closed outside limit] (repeatedly promise)]
    (caught (s/scope [s {:name "orders"}] (s/async s (park-for-ever failure)) (s/go s (throw boom))))
    (is (= {:skein/error :skein/cancelled :why :failure :scope "orders"} (within-deadline @failure)))
    (caught (s/scope [s {:timeout-ms 5}] (s/async s (park-for-ever late))))
    (is (= :timeout (:why (within-deadline @late))))
    (s/scope [s] (s/async s (park-for-ever closed)) (s/cancel! s))
    (is (= :closed (:why (within-deadline @closed))))
    (s/scope [s {:name "outer"}] (s/async s (s/scope [t {:name "inner"}] (park-for-ever outside))) (s/cancel! s))
    (is (= {:skein/error :skein/cancelled :why :closed :scope "outer"} (within-deadline @outside)) "the outermost that was cancelled")
    (caught (a/<?? (a/async (v/with-timeout 5 (park-for-ever limit)))))
    (is (= :timeout (:why (within-deadline @limit))))))

(deftest a-daemon-ends-with-the-others
  (let [ended (promise)]
    (is (= :done (within-deadline
                   (s/scope [s]
                     (s/fork [s {:daemon? true}] (try (a/<!! (a/chan)) (finally (deliver ended :yes))))
                     (s/go s (v/sleep 1))
                     :done))))
    (is (realized? ended)))
  (is (= [1 2] (within-deadline
                 (s/scope [s]
                   (let [source (a/chan) out (a/chan 2)]
                     (s/in-scope [s {:daemon? true}] (a/tap (a/mult source) out))
                     (run! #(a/>!! source %) [1 2])
                     [(a/<!! out) (a/<!! out)])))) "a mult of an open channel holds no scope"))

(deftest threads-have-the-names-of-children
  (let [name-here (fn [] (.getName (Thread/currentThread)))]
    (s/scope [s]
      (is (re-matches #"skein-fork-poller-\d+" @(s/fork [s {:name "poller"}] (name-here))))
      (is (re-matches #"skein-fork-scope_test\.clj:\d+-\d+" @(s/fork s (name-here))))
      (is (re-find #"worker" (pr-str (s/go [s {:name "worker"}] 1)))))
    (is (re-matches #"skein-future-\d+" @(v/future (name-here))))
    (is (re-matches #"skein-pmap-\d+" (first (v/pmap 1 (fn [_] (name-here)) [1]))))
    (is (re-matches #"skein-io-\d+" (a/<!! (a/io-thread (name-here)))))))

(deftest an-open-scope-lives-until-it-is-closed
  (let [s (s/open-scope {:name "workers"})
        ended (promise)
        waiting (promise)
        child (s/fork s (try (deliver waiting true) (a/<!! (a/chan)) (finally (deliver ended true))))]
    (is (= 3 @(s/fork s (+ 1 2))))
    (is (= 7 (a/<!! (s/go s 7))))
    @waiting
    (is (nil? (within-deadline (.close s))))
    (is (realized? ended))
    (is (.isCancelled ^Future child))
    (is (nil? (within-deadline (.close s))) "a second time")
    (is (re-find #"^The scope workers has ended" (ex-message (caught (s/fork s 1)))))
    (is (= {:skein/error :skein/scope-closed :scope "workers"} (ex-data (caught (s/fork s 1)))))))

(deftest the-grace-lets-children-end
  (let [gate (a/chan)
        s (s/open-scope {:grace-ms 60000})
        ported (s/go s (a/<! gate))
        closing (v/future (.close s))]
    (within-deadline (while (not= :skein/scope-closed (:skein/error (ex-data (caught @(s/fork s 1))))) (Thread/yield)))
    (a/>!! gate :ended)
    (is (= :ended (within-deadline (a/<!! ported))))
    (is (nil? (within-deadline @closing)))))

(deftest an-open-scope-treats-failures-as-it-is-told
  (let [boom (ex-info "boom" {})
        s (s/open-scope)
        failing (s/fork s (throw boom))]
    (is (identical? boom (ex-cause (caught @failing))))
    (is (= 1 @(s/fork s 1)) "the others go on")
    (.close s))
  (let [boom (ex-info "boom" {})
        s (s/open-scope {:on-error :throw})
        other (s/async s (a/<! (a/chan)))]
    (s/go s (throw boom))
    (is (identical? boom (within-deadline (caught (a/<?? other)))))
    (is (identical? boom (within-deadline (caught (.close s)))))
    (is (nil? (within-deadline (.close s))) "once"))
  (let [boom (ex-info "boom" {}) told (promise)
        s (s/open-scope {:on-error (fn [e child] (deliver told [e child]))})]
    (s/fork [s {:name "child"}] (throw boom))
    (let [[e {:keys [name site]}] (within-deadline @told)]
      (is (= [boom "child"] [e name]))
      (is (string? site)))
    (.close s)))

(deftest close-refuses-what-would-wait-for-itself
  (let [s (s/open-scope)]
    (is (= :skein/bad-argument (within-deadline @(s/fork s (:skein/error (ex-data (caught (.close s))))))))
    (is (= :skein/bad-argument (within-deadline (a/<!! (s/go s (:skein/error (ex-data (caught (.close s)))))))))
    (.close s))
  (s/scope [s]
    (is (= :skein/bad-argument (:skein/error (ex-data (caught (.close ^java.io.Closeable s))))))))

(deftest an-interrupt-ends-the-grace
  (let [s (s/open-scope {:grace-ms 600000})
        started (promise)
        _ (s/fork s (deliver started true) (a/<!! (a/chan)))
        outcome (promise)
        closer (Thread/startVirtualThread (fn [] (.close s) (deliver outcome (Thread/interrupted))))]
    @started
    (within-deadline (while (not= :skein/scope-closed (:skein/error (ex-data (caught @(s/fork s 1))))) (Thread/yield)))
    (.interrupt closer)
    (is (true? (within-deadline @outcome)))))

(deftest forks-of-many-threads-are-run-or-refused-while-the-scope-closes
  (let [n 10000, s (s/open-scope), begun (AtomicInteger.), ended (AtomicInteger.), half (CountDownLatch. (quot n 2))
        forkers (vec (for [_ (range 4)]
                       (v/future
                         (loop [i 0, forked 0]
                           (.countDown half)
                           (if (= i (quot n 4))
                             forked
                             (recur (inc i)
                                    (if (= :skein/scope-closed
                                           (:skein/error (ex-data (caught (s/fork s (.incrementAndGet begun)
                                                                            (try (a/<!! (a/chan)) (catch InterruptedException _))
                                                                            (.incrementAndGet ended))))))
                                      forked
                                      (inc forked))))))))]
    (.await half)
    (is (nil? (within-deadline (.close s))))
    (is (= (.get begun) (.get ended)) "all that had begun have ended")
    (let [forked (within-deadline (reduce + (map deref forkers)))]
      (is (<= (.get begun) forked n)))
    (is (= (.get begun) (.get ended)) "and none has begun since")))
