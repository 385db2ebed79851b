;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench sim: how fast skein.sim runs schedules, by both of its modes.
(require '[skein.async :as a :refer [<! >! <!! chan go go-loop]]
         '[skein.sim :as sim]
         '[skein.sim.explore :as explore]
         '[skein.sim.runs :as runs]
         '[skein.sim.shrink :as shrink])
(import 'com.sun.management.OperatingSystemMXBean 'java.lang.management.ManagementFactory 'skein.sim.rt.Simulation 'skein.sim.rt.Trace)

(set! *warn-on-reflection* true)

(defn- ping-pong [n]
  (let [there (chan), back (chan)
        ping (go (dotimes [i n] (>! there i) (<! back)) :done)]
    (go (dotimes [_ n] (>! back (<! there))))
    ping))

(defn- small []
  (let [c (chan)] (go (>! c 1)) (go (>! c 2)) (go (<! c) (<! c))))

(defn- hours []
  (<!! (go-loop [n 0] (when (< (long n) 1000) (<! (a/timeout 3600000)) (recur (inc (long n)))))))

(defn- switches
  "Runs two threads that yield to each other, 1000 times each."
  []
  (let [work (fn [] (dotimes [_ 1000] (Thread/yield)))
        t (Thread/startVirtualThread work)]
    (work)
    (.join t)))

(defn- starts []
  (dotimes [_ 1000] (.join (Thread/startVirtualThread (fn [])))))

(defn- loses
  "Runs a ping-pong of 500 rounds beside two blocks, of which one may lose what the other has written."
  []
  (let [n (atom 0), c (chan 10), add (fn [] (go (let [seen @n] (>! c :x) (reset! n (inc (long seen))))))
        game (ping-pong 500), a (add), b (add)]
    (run! <!! [a b game])
    (assert (= 2 @n))))

(def ^:private rows
  "[title, options of the check, its body]"
  [["3 blocks, 1 channel" {} small]
   ["ping-pong of 500 rounds, points" {} #(ping-pong 500)]
   ["ping-pong of 500 rounds, no points" {:points #{}} #(ping-pong 500)]
   ["the body waits for the ping-pong" {} #(<!! (ping-pong 500))]
   ["1000 timers of one hour" {} hours]
   ["2000 switches between 2 threads" {:threads :auto} switches]
   ["1000 threads, one after the other" {:threads :auto} starts]])

(defn- processor-ns
  "Returns the processor time of this process so far."
  []
  (.getProcessCpuTime ^OperatingSystemMXBean (ManagementFactory/getOperatingSystemMXBean)))

(defn- measure
  "Returns [schedules a second, schedules a second of processor time, ns of processor time a step] of a check of `seconds`."
  [options body seconds]
  (let [start (System/nanoTime)
        processor (processor-ns)
        {:keys [schedules steps]} (sim/check* (merge {:strategy :random :seed 1 :for-ms (* 1000 (long seconds))} options) body {})
        used (double (- (long (processor-ns)) (long processor)))]
    [(/ (long schedules) (/ (- (System/nanoTime) start) 1e9)) (/ (long schedules) (/ used 1e9)) (/ used (double steps))]))

(defn- shrinking
  "Finds a failure of `loses` and shrinks it. Returns how long that takes, in ms, its steps, and its deviations before and after:
  {:ms :steps :from :to}."
  [seed]
  (let [options (sim/checked {:strategy :random :seed seed})
        body (runs/bound options loses)]
    (runs/supervised options
      (fn []
        (let [{:keys [schedule ^Simulation simulation]} (:failure (explore/explore options body))
              start (System/nanoTime)
              short (shrink/shrink options schedule simulation body)]
          {:ms (/ (- (System/nanoTime) start) 1e6) :steps (.steps simulation)
           :from (.deviations ^Trace (.-trace simulation)) :to (count (get-in short [:strategy :deviations]))})))))

(println (format "%-38s %-8s %14s %16s %12s" "program" "threads" "schedules/s" "of processor" "ns a step"))
(doseq [[what options body] rows, threads (if (:threads options) [(:threads options)] [:none :auto])]
  (let [options (assoc options :threads threads)]
    (measure options body 3)
    (let [[rate of-processor ns] (measure options body 2)]
      (println (format "%-38s %-8s %14.0f %16.0f %12.0f" what (name threads) rate of-processor ns)))))
(doseq [seed [1 2 3]]
  (let [{:keys [ms steps from to]} (shrinking seed)]
    (println (format "shrinks a failure of %d steps from %d deviations to %d in %.0f ms" steps from to ms))))
(shutdown-agents)
