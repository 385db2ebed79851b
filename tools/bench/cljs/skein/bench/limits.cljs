;; SPDX-License-Identifier: Apache-2.0
(ns skein.bench.limits
  "What `./skein bench cljs --limits` measures: how long others wait for their turn, how late timeouts are, and
  whether the arms that lost in an alts leave anything behind. For a quiet machine."
  (:require
   [skein.async :refer [<! >! alts! chan close! go promise-chan put! timeout]]))

(def ^:private process
  "Node's `process`, or nil in a page. Closure defines a `process` of its own, so this one is looked up by name."
  (unchecked-get js/globalThis "process"))

(defn- spin [ms]
  (let [start (js/performance.now)]
    (while (< (- (js/performance.now) start) ms))))

(defn- longest-gap
  "Returns a port of the longest time in ms between calls that `again` makes of the function it is given, while two
  blocks ping-pong for 3 s and work for `work-ms` a round."
  [again work-ms]
  (let [a (chan) b (chan) stop? (volatile! false) last-ms (volatile! (js/performance.now)) gap (volatile! 0)
        gaps (chan)]
    (go (while (not @stop?) (spin work-ms) (>! a 1) (<! b)) (close! a))
    (go (while (<! a) (>! b 1)) (close! b))
    (again (fn called []
             (let [now (js/performance.now)]
               (vswap! gap max (- now @last-ms))
               (vreset! last-ms now)
               (when-not @stop? (again called)))))
    (js/setTimeout (fn [] (vreset! stop? true) (put! gaps @gap)) 3000)
    gaps))

(defn- in-1-ms [f] (js/setTimeout f 1))
(defn- in-a-frame [f] (js/requestAnimationFrame f))

(defn- latest
  "Returns a port of the longest delay in ms of 200 timeouts of 1 to 50 ms, which run one after the other."
  []
  (go (loop [i 0 late 0]
        (if (< i 200)
          (let [ms (inc (mod i 50)) start (js/performance.now)]
            (<! (timeout ms))
            (recur (inc i) (max late (- (js/performance.now) start ms))))
          late))))

(defn- cpu-ms []
  (let [usage (js-invoke process "cpuUsage")]
    (/ (+ (unchecked-get usage "user") (unchecked-get usage "system")) 1000)))

(defn- timeouts-ms
  "Returns a port of the ms of processor time for 100,000 timeouts that end at about the same time."
  []
  (go (let [start (cpu-ms)
            made (mapv (fn [_] (timeout 100)) (range 100000))]
        (doseq [t made] (<! t))
        (- (cpu-ms) start))))

(defn- heap-mb []
  (js/gc)
  (/ (unchecked-get (js-invoke process "memoryUsage") "heapUsed") 1e6))

(defn- lose
  "Returns a port that closes when `n` arms of alts that take from `never` have lost."
  [never n]
  (let [ask (chan) c (chan)]
    (go (dotimes [_ n] (>! c (<! ask))))
    (go (dotimes [i n]
          (>! ask i)
          (alts! [never c])))))

(defn- heap-growth
  "Returns a port of how many MB the heap has grown after a million lost arms on `never`."
  [never]
  (go (<! (lose never 10000))
      (let [before (heap-mb)]
        (<! (lose never 1000000))
        (- (heap-mb) before))))

(defn- say [name figure unit]
  (str name "\t" (.toFixed figure 1) "\t" unit "\n"))

(defn- figures []
  (go (str (say "longest gap of a timer of 1 ms, 1 ms of work a round" (<! (longest-gap in-1-ms 1)) "ms")
           (say "longest gap of a timer of 1 ms, no work" (<! (longest-gap in-1-ms 0)) "ms")
           (say "latest of 200 timeouts" (<! (latest)) "ms late")
           (if process
             (str (say "100,000 timeouts at once" (<! (timeouts-ms)) "ms of processor time")
                  (say "heap after 10^6 lost arms on a promise" (<! (heap-growth (js/Promise. (fn [])))) "MB more")
                  (say "heap after 10^6 lost arms on a channel" (<! (heap-growth (promise-chan))) "MB more")
                  (say "heap after 10^6 lost arms on a signal" (<! (heap-growth (.-signal (js/AbortController.)))) "MB more"))
             (str (say "longest gap of frames, 1 ms of work a round" (<! (longest-gap in-a-frame 1)) "ms")
                  (say "longest gap of frames, no work" (<! (longest-gap in-a-frame 0)) "ms"))))))

(defn- report [text]
  (if process
    (js/console.log text)
    (js/fetch "/result" #js {:method "POST" :body text})))

(go (report (<! (figures))))
