;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench virtual
(ns bench.virtual
  "Compares virtual threads, windows and scopes with the plainest code for the same, in one JVM: the
  median of seven rounds after three to warm up, and the ratio."
  (:require
   [skein.async :as a]
   [skein.scope :as s]
   [skein.virtual :as v]
   [skein.virtuoso :as virtuoso])
  (:import
   (java.net InetAddress ServerSocket Socket)
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(load-file "tools/bench/timing.clj")
(refer 'bench.timing :exclude '[whole])

(defn- whole [x] (if (double? x) (Math/round (double x)) x))

(defn- row [what value unit & {:keys [than goal]}]
  (println (format "%-46s %9s %-5s %-34s %s" what (whole value) unit
                   (if-some [[other-what other] than]
                     (format "%-22s %9s x%.2f" other-what (whole other) (/ (double value) (double other)))
                     "")
                   (or goal ""))))

;;;; Starting

(defmacro ^:private starts
  "Starts `n` threads by `start`, a form in which `done!` says that one has run, and waits for them."
  [n start]
  `(fn []
     (let [~'latch (CountDownLatch. ~n)]
       (dotimes [_# ~n] ~start)
       (.await ~'latch))))

(def ^:const ^:private n-starts 100000)

(defn- start-figures []
  (let [plain (per-item n-starts (starts n-starts (Thread/startVirtualThread (fn [] (.countDown latch)))))
        goal (str "<= " (+ 150 (long plain)))]
    (row "thread, to start and run" (per-item n-starts (starts n-starts (virtuoso/thread (.countDown latch)))) "ns"
         :than ["startVirtualThread" plain] :goal goal)
    (row "future, to start and run" (per-item n-starts (starts n-starts (v/future (.countDown latch)))) "ns"
         :than ["startVirtualThread" plain] :goal goal))
  (let [plain (per-item 20000 #(dotimes [_ 20000] (.join (Thread/startVirtualThread (fn [])))))]
    (doseq [[what f] {"future and deref" #(deref (v/future nil))
                      "scope with a fork" #(s/scope [s] (s/fork s nil))
                      "scope with an async block" #(s/scope [s] (s/async s nil))
                      "with-timeout" #(v/with-timeout 60000 nil)}]
      (row what (per-item 20000 #(dotimes [_ 20000] (f))) "ns" :than ["start and join" plain]))))

;;;; Windows

(defn- used-mb ^long []
  (dotimes [_ 3] (System/gc))
  (quot (- (.totalMemory (Runtime/getRuntime)) (.freeMemory (Runtime/getRuntime))) 1000000))

(defn- heap-growth-mb
  "Returns how much more heap is in use after a million results than after one."
  []
  (let [xs (v/pmap 64 identity (range))
        _ (first xs)
        before (used-mb)]
    (loop [xs (seq xs) i 0]
      (if (< i 1000000)
        (recur (next xs) (inc i))
        (let [after (used-mb)]
          (first xs) ; alive up to here
          (- after before))))))

(defn- exhaust [xs] (run! identity xs))

(defn- window-figures []
  (let [n 1000000 items (range n)]
    (row "pmap, window of 4, an item of 10^5" (per-item 100000 #(exhaust (v/pmap 4 identity (range 100000)))) "ns")
    (doseq [window [64 1024]]
      (row (str "pmap, window of " window ", an item of 10^6") (per-item n #(exhaust (v/pmap window identity items))) "ns"
           :goal "<= 1000"))
    (row "the same read on a virtual thread, 64"
         (per-item n #(.join (Thread/startVirtualThread (fn [] (exhaust (v/pmap 64 identity items)))))) "ns")
    (row "the same unordered, 64" (per-item n #(exhaust (v/pmap {:n 64 :ordered? false} identity items))) "ns")
    (row "the same as a transducer, 64" (per-item n #(transduce (v/pmap 64 identity) (constantly nil) items)) "ns")
    (row "prun!, 4" (per-item n #(v/prun! 4 identity items)) "ns")
    (row "prun!, 64" (per-item n #(v/prun! 64 identity items)) "ns"
         :than ["virtuoso/pmap, 64" (per-item 100000 #(exhaust (virtuoso/pmap 64 identity (range 100000))))]))
  (row "heap that a million results add" (heap-growth-mb) "MB" :goal "<= 5")
  (let [sleep (fn [i] (Thread/sleep (if (zero? (rem (long i) 4)) 100 1)) i)
        ms (fn [f] (median (repeatedly 5 #(quot (elapsed-ns (fn [] (exhaust (f 4 sleep (range 16))))) 1000000))))]
    (row "16 items, 4 at once, each fourth 100 ms" (ms v/pmap) "ms" :than ["virtuoso/pmap" (ms virtuoso/pmap)] :goal "<= 150")))

;;;; Cancelling

(def ^:private ways-to-wait
  {"<!" (fn [s begun] (s/go s (begun) (a/<! (a/chan))))
   "alts!" (fn [s begun] (s/go s (begun) (a/alts! [(a/chan) (a/chan)])))
   "sleep" (fn [s begun] (s/fork s (begun) (Thread/sleep 60000)))
   "sleep in a block" (fn [s begun] (s/go s (begun) (Thread/sleep 60000)))
   "deref" (fn [s begun] (s/fork s (begun) @(promise)))
   "<!!" (fn [s begun] (s/fork s (begun) (a/<!! (a/chan))))
   "a socket's read" (fn [s begun]
                       (s/fork s
                         (with-open [server (ServerSocket. 0 1 (InetAddress/getLoopbackAddress))
                                     socket (Socket. (InetAddress/getLoopbackAddress) (.getLocalPort server))]
                           (begun)
                           (.read (.getInputStream socket)))))})

(defn- cancellation-us
  "Returns the time from the cancellation of a scope, whose child waits in this way, to its return."
  [start]
  (let [begun (CountDownLatch. 1) cancelled-at (volatile! 0)]
    (s/scope [s]
      (start s #(.countDown begun))
      (.await begun)
      (Thread/sleep 1) ; so that it does wait
      (vreset! cancelled-at (System/nanoTime))
      (s/cancel! s))
    (quot (- (System/nanoTime) (long @cancelled-at)) 1000)))

(defn- cancellation-figures []
  (doseq [[what start] ways-to-wait]
    (let [times (vec (repeatedly 200 #(cancellation-us start)))]
      (row (str "a child in " what " has ended") (median times) "us"
           :goal (str "<= 50000; worst of 200: " (reduce max times))))))

(println (format "Java %s, %d processors" (System/getProperty "java.version") (.availableProcessors (Runtime/getRuntime))))
(println (format "%-46s %9s %-5s %-34s %s" "" "" "" "beside" "goal"))
(start-figures)
(window-figures)
(cancellation-figures)
(shutdown-agents)
