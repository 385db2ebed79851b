;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench inspect: what the inspector costs at each level, by turns in one process, in processor time; and how long a look at
;; 100,000 parked blocks takes. "Off" has the seams of the runtime, which are a null check each.
(require '[skein.async :as a :refer [<! >! <!! chan go]]
         '[skein.inspect :as inspect])
(import '(com.sun.management OperatingSystemMXBean)
        '(java.io Writer)
        '(java.lang.management ManagementFactory))

(set! *warn-on-reflection* true)

(def ^:private ^OperatingSystemMXBean os (ManagementFactory/getPlatformMXBean OperatingSystemMXBean))

(def ^:private rounds 11)

(defn- ping-pong [n]
  (let [there (chan), back (chan)]
    (go (dotimes [_ n] (>! back (<! there))))
    (<!! (go (dotimes [i n] (>! there i) (<! back)) :done))))

(defn- buffered [n]
  (let [c (chan 1024)]
    (go (dotimes [i n] (>! c i)))
    (<!! (go (dotimes [_ n] (<! c)) :done))))

(defn- spawn-join [n]
  (<!! (go (dotimes [i n] (<! (go i))) :done)))

(defn- nanos-each [f n]
  (let [start (.getProcessCpuTime os)]
    (f n)
    (/ (- (.getProcessCpuTime os) start) (double n))))

(defn- median [xs] (nth (sort xs) (quot (count xs) 2)))

(defn- switch [level]
  (if (= :off level) (inspect/stop!) (inspect/start! {:level level})))

(def ^:private levels [:off :registry :events])

(defn- at-levels
  "Returns the medians of a step in ns of processor time at each level, by turns."
  [f n]
  (let [look (fn look [] (mapv (fn at [level] (switch level) (nanos-each f n)) levels))]
    (dotimes [_ 2] (look))
    (let [looks (vec (repeatedly rounds look))]
      (inspect/stop!)
      (mapv (fn middle [i] (median (map (fn at [l] (nth l i)) looks))) (range (count levels))))))

(defn- used []
  (dotimes [_ 3] (System/gc) (Thread/sleep 50))
  (let [r (Runtime/getRuntime)] (- (.totalMemory r) (.freeMemory r))))

(defn- parked [n]
  (let [cs (vec (repeatedly n chan)), ports (mapv (fn [c] (go (<! c))) cs)]
    (while (pos? (long (count (remove (fn waits? [c] (= 1 (.takerCount ^skein.rt.Channel c))) cs)))) (Thread/sleep 10))
    [cs ports])) ; as long as the caller holds these, the blocks are not collected

(defn- bytes-each [n on?]
  (if on? (inspect/start!) (inspect/stop!))
  (let [before (long (used)), held (parked n), after (long (used))]
    (run! a/close! (first held))
    (/ (- after before) (double n))))

(defn- millis
  "Returns how many ms of this thread's processor time `f` takes."
  [f]
  (let [bean (ManagementFactory/getThreadMXBean)]
    (median (repeatedly 9 (fn [] (let [start (.getCurrentThreadCpuTime bean)] (f) (/ (- (.getCurrentThreadCpuTime bean) start) 1e6)))))))

(println (format "%-34s %10s %10s %10s" "ns of processor time a step" "off" "registry" "events"))
(doseq [[what f n] [["ping-pong" ping-pong 1000000] ["buffered-1024" buffered 3000000] ["spawn-join" spawn-join 500000]]]
  (println (apply format "%-34s %10.1f %10.1f %10.1f" what (at-levels f n)))
  (flush))
(bytes-each 20000 false)
(bytes-each 20000 true)
(println (format "%-34s %10.1f %10.1f" "bytes a parked block" (bytes-each 100000 false) (bytes-each 100000 true)))
(inspect/start!)
(let [held (parked 100000), nowhere (Writer/nullWriter)]
  (println (format "%-34s %21.1f" "ms a snapshot of 100,000 blocks" (millis inspect/snapshot)))
  (println (format "%-34s %21.1f" "ms its text" (millis #(inspect/dump! {:to nowhere}))))
  (println (format "%-34s %21.1f" "ms its JSON" (millis #(inspect/dump! {:to nowhere :as :json}))))
  (run! a/close! (first held)))
(shutdown-agents)
(System/exit 0)
