;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.engine-test
  "The engine's classes one by one; what they do together is tested by skein.fold-test and others."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold]
   [skein.fold.source :as source])
  (:import
   (clojure.lang IReduceInit)
   (java.io File)
   (java.lang.ref WeakReference)
   (java.util.concurrent ConcurrentLinkedQueue CountDownLatch TimeUnit)
   (java.util.concurrent.locks LockSupport)
   (skein.fold.engine ClaimCheck CrewCheck RunCheck Stages)
   (skein.fold.memory Spans)
   (skein.fold.spi Feed Span)))

(set! *warn-on-reflection* true)

;;;; Crew: threads between folds

(deftest idle-threads-end-and-new-ones-start
  (is (CrewCheck/idleThreadsGo)))

(deftest idle-threads-stay-for-a-while
  (is (CrewCheck/idleThreadsStayForAWhile)))

(deftest an-interrupt-of-one-fold-reaches-no-other
  (is (CrewCheck/interruptsEndWithTheirRun)))

(deftest threads-inherit-nothing
  (is (CrewCheck/threadsInheritNothing)))

(deftest a-finished-fold-is-released
  (is (CrewCheck/runsAreForgotten)))

(deftest a-task-of-a-finished-fold-holds-nothing
  (is (CrewCheck/lateTasksAreEmpty)))

;;;; Claim: interrupts

(deftest dropping-a-claim-interrupts-until-its-release
  (is (within-deadline (ClaimCheck/interruptEndsWithClaim)))
  (is (within-deadline (ClaimCheck/droppedClaimIsNotEntered))))

(deftest interrupts-of-others-are-kept
  (is (within-deadline (ClaimCheck/earlierInterruptIsKept)))
  (is (within-deadline (ClaimCheck/answeredInterruptIsOver))))

;;;; Run: neighbours combine. Checks RN1 and RN2.

(deftest parts-that-end-in-any-order-give-the-serial-value
  (let [seed (System/nanoTime)]
    (is (nil? (within-deadline (RunCheck/difference seed 3000))) (str "seed " seed))))

;;;; Part and Batch: where two threads meet

(def ^:private jvm-flags
  "What Lincheck needs to look into classes."
  ["-XX:+EnableDynamicAgentLoading" "-Xlog:disable"
   "--add-opens" "java.base/java.lang=ALL-UNNAMED"
   "--add-opens" "java.base/java.util=ALL-UNNAMED"
   "--add-opens" "java.base/jdk.internal.misc=ALL-UNNAMED"
   "--add-exports" "java.base/jdk.internal.util=ALL-UNNAMED"])

(deftest every-schedule-of-parts-and-batches-is-linearizable
  (let [java (str (System/getProperty "java.home") File/separator "bin" File/separator "java")
        log (File/createTempFile "lincheck" ".log")
        command (concat [java] jvm-flags ["-Xmx1g" "-cp" (System/getProperty "java.class.path") "skein.fold.engine.LincheckMain" "300"])
        process (.start (doto (ProcessBuilder. ^java.util.List (vec command)) (.redirectErrorStream true) (.redirectOutput log)))]
    (try
      (is (.waitFor process 5 TimeUnit/MINUTES) "too long")
      (is (str/includes? (slurp log) "held") (slurp log))
      (finally
        (.destroyForcibly process)
        (.delete log)))))

;;;; Stages

(deftest compositions-are-taken-apart
  (let [[a b c d] [(map inc) (filter odd?) (take 3) (dedupe)]]
    (is (= [a] (seq (Stages/of a))))
    (is (= [a b c d] (seq (Stages/of (comp a b c d))) (seq (Stages/of (comp (comp a b) (comp c d))))))))

(deftest arities-are-the-callable-ones
  (let [arities (fn [f] (set (filter #(bit-test (Stages/arities f) %) (range 3))))]
    (is (= #{0 1 2} (arities +) (arities #'+) (arities (fn [& _])) (arities (partial + 1))))
    (is (= #{2} (arities (fn [_ _]))))
    (is (= #{1 2} (arities max)) "by its rest arguments, too")
    (is (not (contains? (arities :k) 1)) "a lookup completes nothing")))

(deftest stateful-stages-are-recognised
  (let [paths (fn [xform] (:path (fold/explain {:grain 10, :workers 2} (fold/through (comp (map inc) xform) (fold/into [])) (range 100))))]
    (doseq [xform [(take 5) (drop 5) (distinct) (dedupe) (partition-all 3) (partition-by odd?) (map-indexed vector) (interpose 0) (take-nth 2)
                   (halt-when neg?) (drop-while neg?) (keep-indexed vector)]]
      (is (= :in-order (paths xform))))
    (doseq [xform [(map dec) (filter odd?) (remove odd?) (mapcat list) (keep identity) cat (random-sample 1)]]
      (when-not (identical? cat xform)
        (is (= :parallel (paths xform)))))))

;;;; FeedRun: one thread reads, the others work. Checks FR1 and FR2; skein.fold.waiting-test checks FR3.

(defn- await-latch [^CountDownLatch latch]
  (when-not (.await latch 20 TimeUnit/SECONDS) (throw (IllegalStateException. "nobody came"))))

(defn- counting
  "Returns a source of the numbers below `n`, and an atom of how many have been read."
  [n]
  (let [n-read (atom 0)]
    [(source/reading #(let [x (long @n-read)] (when (< x (long n)) (swap! n-read inc) x))) n-read]))

(deftest reading-waits-for-the-part-that-is-first
  (let [[source n-read] (counting 10000)
        window (* 4 2 10)
        full (CountDownLatch. (- window 20))
        most (atom 0)
        look (fn [x]
               (if (zero? (long x))
                 (do (await-latch full) (swap! most max @n-read))
                 (.countDown full))
               x)]
    (is (= (range 10000) (within-deadline (fold/fold {:workers 2, :grain 10}
                                                     (fold/through (comp (map look) (map-indexed (fn [_ x] x))) (fold/into []))
                                                     source))))
    (is (<= (- window 20) (long @most) (+ window 10)) "four blocks for each thread")))

(deftest blocks-keep-the-feed-s-order
  (doseq [workers [2 3 5], grain [1 7]
          :let [[source] (counting 3000)]]
    (is (= (range 3000) (within-deadline (fold/fold {:workers workers, :grain grain} (fold/into []) source))))))

(deftype ^:private Broken [^long n ^:unsynchronized-mutable ^long at closed]
  Feed
  (next [_ m]
    (if (<= n at)
      (throw (ex-info "broken" {:at at}))
      (let [from at]
        (set! at (min n (+ at m)))
        (Spans/ofRange from 1 (- at from)))))
  (exhausted [_] false)
  (close [_] (deliver closed true)))

(deftest a-feed-that-throws-ends-the-fold-and-is-closed
  (doseq [workers [1 2 4], xform [identity (comp (map identity) (dedupe))]
          :let [closed (promise)]]
    (is (= {:at 100} (try (within-deadline (fold/fold {:workers workers, :grain 7}
                                                      (fold/through xform +) (->Broken 100 0 closed)))
                          (catch clojure.lang.ExceptionInfo e (ex-data e)))))
    (is (true? (deref closed 0 false)))))

(deftest a-result-hides-a-later-exception-of-the-feed
  (doseq [workers [1 2 4], xform [identity (comp (map identity) (dedupe))]]
    (is (= 50 (within-deadline (fold/fold {:workers workers, :grain 7}
                                          (fold/through xform {:combine (fn ([] nil) ([a b] (or a b)))
                                                               :step (fn step [_ x] (when (= 50 x) (reduced x)))})
                                          (->Broken 100 0 (promise))))))))

;;;; SpanRun: helpers split

(deftype ^:private Watched [^long n seen closed]
  Span
  (size [_] n)
  (reduce [_ step acc from to]
    (swap! seen conj [from to])
    (.reduce (Spans/ofRange 0 1 n) step acc from to))
  (close [_] (deliver closed true)))

(deftest each-unit-of-a-span-is-reduced-once
  (doseq [workers [1 2 4], grain [1 13 5000], opts [{} {:ordered? false}]
          :let [seen (atom []), closed (promise)]]
    (is (= 499500 (within-deadline (fold/fold (assoc opts :workers workers, :grain grain) + (->Watched 1000 seen closed)))))
    (is (= (range 1000) (mapcat #(apply range %) (sort @seen))))
    (is (every? (fn [[from to]] (<= (- (long to) (long from)) (long grain))) @seen))
    (is (true? (deref closed 0 false)))))

;;;; Start: small folds, and sources on the caller's stack

(defn- spin-us [^long micros x]
  (let [end (+ (System/nanoTime) (* 1000 micros))]
    (while (< (System/nanoTime) end))
    x))

(deftest a-small-fold-may-become-expensive-at-any-element
  (doseq [size [3 4 5 11 12 64 65 129 300]
          dear-from [0 1 2 8 9 40 250]
          :when (< (long dear-from) (long size))
          :let [dear? #(<= (long dear-from) (long %) (+ 20 (long dear-from)))
                xform (map #(if (dear? %) (spin-us 50 %) %))
                xs (vec (range size))]]
    (is (= xs (within-deadline (fold/fold (fold/through xform (fold/into [])) xs))) [size dear-from])
    (is (= (subvec xs 0 (inc (long dear-from)))
           (within-deadline (fold/fold (fold/through xform {:combine into
                                                            :step (fn [acc x] (if (= x dear-from) (reduced (conj acc x)) (conj acc x)))})
                                       xs)))
        [size dear-from])))

(deftest a-few-elements-that-wait-for-each-other-are-shared
  (doseq [size [5 12 100]
          :let [met (CountDownLatch. 2)
                threads (atom #{})
                meet (fn [x]
                       (when (= (- (long size) 1) x) (.countDown met))
                       (when (= 2 x) (.countDown met) (.await met 20 TimeUnit/SECONDS))
                       (swap! threads conj (Thread/currentThread))
                       (spin-us 200 x))]]
    (is (= (range size) (within-deadline (fold/fold {:workers 2} (fold/through (map meet) (fold/into [])) (vec (range size))))))
    (is (= [0 2] [(.getCount met) (count @threads)]) size)))

(defn- reducible [n]
  (reify IReduceInit (reduce [_ f init] (reduce f init (range n)))))

(deftest a-source-may-call-the-completion-of-its-step
  (let [source (reify IReduceInit (reduce [_ f init] (transduce (map inc) f init [1 2])))]
    (is (= [2 3] (fold/fold (fold/into []) source)))
    (is (= 5 (within-deadline (fold/fold {:grain 1, :workers 2} + source))))))

(deftest pushed-elements-stay-on-their-thread
  (doseq [xform [(map inc) (comp (map inc) (take 300))]
          :let [threads (atom #{})
                step (fn [acc x] (swap! threads conj (Thread/currentThread)) (LockSupport/parkNanos 20000) (conj acc x))
                {:keys [value path reason]} (fold/explain {:workers 2, :grain 1} {:xform xform, :combine into, :step step} (reducible 500))]]
    (is (= [(into [] xform (range 500)) :serial "the source reduces itself, on one thread"] [value path reason]))
    (is (= #{(Thread/currentThread)} @threads))))

(deftest accumulators-that-are-combined-are-released
  (doseq [run [fold/fold fold/explain]
          :let [made (ConcurrentLinkedQueue.)
                living (fn living [] (System/gc) (count (filter #(.get ^WeakReference %) made)))
                fresh (fn fresh [& _] (let [acc (Object.)] (.add made (WeakReference. acc)) acc))
                most (atom 0)
                step (fn [acc x] (LockSupport/parkNanos 100000) (when (= 290 x) (reset! most (living))) acc)]]
    (within-deadline (run {:workers 2, :grain 1} {:identity fresh, :combine fresh, :step step} (map identity (range 300))))
    (is (< 0 @most 20) (str (count made) " were made"))))
