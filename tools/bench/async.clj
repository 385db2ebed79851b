;; SPDX-License-Identifier: Apache-2.0
;; One contestant: the same programs on the namespace that -Dlib names. Writes {program {:ns 39.2}} as EDN to
;; the file that -Dout names. Run by run.clj, one JVM per contestant; -Donly=a,b limits the programs.
(ns bench.async
  "Programs of channels and blocks, timed: the median of five rounds after three to warm up."
  (:require
   [clojure.string :as str]))

(set! *warn-on-reflection* true)

(load-file "tools/bench/timing.clj")
(refer 'bench.timing :only '[median])

(def ^:private lib (symbol (System/getProperty "lib" "skein.async")))
(def ^:private only (some-> (System/getProperty "only") (str/split #",") set))
(def ^:private results (atom {}))

(defn- now-ms ^double [] (/ (double (System/nanoTime)) 1e6))

(defn- record! [program figure]
  (swap! results assoc program figure)
  (binding [*out* *err*] (println " " lib program (pr-str figure))))

(defmacro ^:private timed [& body]
  `(let [start# (now-ms)] ~@body (- (now-ms) start#)))

(defn- wanted? [program] (or (nil? only) (only program)))

(defn- bench* [program n run]
  (when (wanted? program)
    (dotimes [_ 3] (run))
    (record! program {:ns (/ (* 1e6 (median (repeatedly 5 #(timed (run))))) (double n))})))

(defmacro ^:private bench
  "Times the body, which does `n` operations."
  [program n & body]
  `(bench* ~program ~n (fn [] ~@body)))

(record! "load" {:ms (timed (require lib))})
(alias 'a lib)
(eval '(a/go (a/<! (a/timeout 1))))
(let [form '(a/go (loop [i 0] (when (< i 10) (a/<! (a/timeout 1)) (recur (inc i)))))]
  (record! "compile-go" {:ms (/ (timed (dotimes [_ 20] (eval form))) 20)}))

(defn- sum-of [c] (a/go-loop [s 0] (if-some [v (a/<! c)] (recur (+ s (long v))) s)))

(defn- ping-pong [n]
  (let [there (a/chan) back (a/chan)
        first-player (a/go (dotimes [i n] (a/>! there i) (a/<! back)) :done)]
    (a/go (dotimes [i n] (a/<! there) (a/>! back i)))
    (a/<!! first-player)))

(defn- one-to-one [n size]
  (let [c (a/chan size) sum (sum-of c)]
    (a/go (dotimes [i n] (a/>! c i)) (a/close! c))
    (assert (= (quot (* n (dec n)) 2) (a/<!! sum)))))

(defn- many-to-many [m n]
  (let [c (a/chan 64)
        sums (vec (repeatedly m #(sum-of c)))
        producers (vec (repeatedly m #(a/go (dotimes [_ n] (a/>! c 1)) true)))]
    (run! a/<!! producers)
    (a/close! c)
    (assert (= (* m n) (reduce + (map a/<!! sums))))))

(defn- ring [k rounds]
  (let [chs (vec (repeatedly (inc k) a/chan))]
    (dotimes [i k]
      (let [in (chs i) out (chs (inc i))]
        (a/go (dotimes [_ rounds] (a/>! out (a/<! in))))))
    (dotimes [r rounds] (a/>!! (chs 0) r) (a/<!! (chs k)))))

(defn- sieve
  "Returns the nth prime, by a filter for each prime before it (after McIlroy)."
  [n]
  (let [numbers (a/chan)]
    (a/go (loop [i 2] (when (a/>! numbers i) (recur (inc i)))))
    (loop [in numbers k 1]
      (let [p (long (a/<!! in))]
        (if (= k n)
          (do (a/close! in) p)
          (let [out (a/chan)]
            (a/go (loop []
                    (let [v (a/<! in)]
                      (cond (nil? v) (a/close! out)
                            (zero? (rem (long v) p)) (recur)
                            (a/>! out v) (recur)
                            :else (a/close! in)))))
            (recur out (inc k))))))))

(defn- ready [] (doto (a/chan 1) (a/put! :done) a/close!))
(defn- go-nested [n] (a/go (if (pos? n) (a/<! (go-nested (dec n))) (a/<! (ready)))))

(defn- choose-among [k n]
  (let [chs (vec (repeatedly k a/chan))]
    (doseq [c chs] (a/go (dotimes [i n] (a/>! c i)) (a/close! c)))
    (a/<!! (a/go-loop [open chs s 0]
             (if (seq open)
               (let [[v c] (a/alts! open)]
                 (if (nil? v)
                   (recur (filterv #(not= c %) open) s)
                   (recur open (+ s (long v)))))
               s)))))

(bench "ping-pong" 100000 (ping-pong 100000))
(bench "buffered-1024" 500000 (one-to-one 500000 1024))
(bench "buffered-1" 200000 (one-to-one 200000 1))
(bench "8-to-8" 400000 (many-to-many 8 50000))
(bench "ring-1000" 100000 (ring 1000 100))
(bench "prime-sieve-300" 1 (assert (= 1987 (sieve 300))))
(bench "go-nested-20" 400000 (dotimes [_ 20000] (a/<!! (go-nested 20))))
(when (ns-resolve lib 'async)
  (eval '(defn- async-nested [n] (a/async (if (pos? n) (a/<! (async-nested (dec n))) (a/<! (ready))))))
  (let [f (resolve 'async-nested)]
    (bench "async-nested-20" 400000 (dotimes [_ 20000] (a/<!! (f 20))))))
(bench "spawn-join" 100000 (run! a/<!! (mapv (fn [i] (a/go i)) (range 100000))))
(bench "alts-4" 100000 (choose-among 4 25000))
(bench "callbacks" 300000
  (let [c (a/chan 1024)]
    (dotimes [_ 300] (dotimes [j 1000] (a/put! c j)) (dotimes [_ 1000] (a/take! c (fn [_] nil))))))
(bench "offer-poll" 1000000 (let [c (a/chan 16)] (dotimes [i 1000000] (a/offer! c i) (a/poll! c))))
(bench "transducer-channel" 300000
  (let [c (a/chan 64 (comp (filter even?) (map inc))) sum (sum-of c)]
    (a/go (dotimes [i 300000] (a/>! c i)) (a/close! c))
    (a/<!! sum)))
(bench "mult-4" 50000
  (let [source (a/chan 64)
        m (a/mult source)
        sums (mapv (fn [_] (sum-of (a/tap m (a/chan 64)))) (range 4))]
    (a/go (dotimes [i 50000] (a/>! source i)) (a/close! source))
    (run! a/<!! sums)))
(bench "pipeline-2" 20000
  (let [out (a/chan 64)]
    (a/pipeline 2 out (map inc) (a/to-chan! (range 20000)))
    (a/<!! (a/reduce + 0 out))))
(bench "threads-ping-pong" 20000
  (let [there (a/chan) back (a/chan)
        other (a/thread (dotimes [i 20000] (a/<!! there) (a/>!! back i)))]
    (dotimes [i 20000] (a/>!! there i) (a/<!! back))
    (a/<!! other)))
(bench "timeout-create" 50000
  (let [random (java.util.Random. 7)]
    (dotimes [_ 50000] (a/timeout (+ 20000 (.nextInt random 40000))))))

(defn- platform-threads []
  (.getThreadCount (java.lang.management.ManagementFactory/getThreadMXBean)))

(defn- sleepers [n ms]
  (let [c (a/chan n) peak (atom 0)]
    (dotimes [i n] (a/go (Thread/sleep (long ms)) (a/>! c i)))
    (swap! peak max (platform-threads))
    (dotimes [_ n] (a/<!! c))
    (max @peak (platform-threads))))

(doseq [[n ms] [[64 10] [1000 100] [10000 250]]
        :let [program (str n "-sleeps-" ms)]
        ;; on a fixed pool of eight the last would take minutes
        :when (and (wanted? program) (< (:ms (@results "1000-sleeps-100") 0) 2000))]
  (let [before (platform-threads) peak (atom 0)
        ms (median (repeatedly 3 #(timed (swap! peak max (sleepers n ms)))))]
    (record! program {:ms ms :threads (- @peak before)})))

;; The longest pause of a game of ping-pong while a thousand blocks block for 100 ms.

(defn- play-until [stop]
  (let [there (a/chan) back (a/chan)]
    (a/go-loop [] (when (some? (a/<! there)) (a/>! back 1) (recur)))
    (a/go-loop [last-round (now-ms) longest 0.0]
      (if @stop
        (do (a/close! there) longest)
        (do (a/>! there 1)
            (a/<! back)
            (let [now (now-ms)] (recur now (max longest (- now last-round)))))))))

(defn- longest-pause [block]
  (let [stop (atom false) game (play-until stop)
        ports (mapv (fn [_] (a/go (block) 1)) (range 1000))]
    (run! a/<!! ports)
    (reset! stop true)
    (a/<!! game)))

(defn- in-100-ms [f] (a/take! (a/timeout 100) (fn [_] (f))))

(def ^:private blockers
  "A map from a name to a function that returns a function that blocks."
  {"sleep" (fn [] #(Thread/sleep 100))
   "deref" (fn [] (let [p (promise)] (in-100-ms #(deliver p 1)) #(deref p)))
   "take" (fn [] #(a/<!! (a/timeout 100)))
   "semaphore" (fn [] (let [s (java.util.concurrent.Semaphore. 0)] (in-100-ms #(.release s 1000)) #(.acquire s)))
   "monitor" (fn [] (let [o (Object.)] (a/thread (locking o (Thread/sleep 100))) #(locking o 1)))})

(doseq [[how blocker] blockers
        :let [program (str "pause-beside-" how)]
        :when (and (wanted? program) (< (:ms (@results "1000-sleeps-100") 0) 2000))]
  (longest-pause (blocker))
  (record! program {:ms (median (repeatedly 5 #(longest-pause (blocker))))}))

(defn- compute
  "Works for some 40 ms: xorshift numbers (Marsaglia 2003)."
  []
  (loop [i 0 x 88172645463325252]
    (if (< i 20000000)
      (let [x (bit-xor x (bit-shift-left x 13)) x (bit-xor x (unsigned-bit-shift-right x 7))]
        (recur (inc i) (bit-xor x (bit-shift-left x 17))))
      x)))

(when (and (wanted? "16-compute-10000-sleep") (< (:ms (@results "1000-sleeps-100") 0) 2000))
  (let [computing #(mapv (fn [_] (a/go (compute))) (range 16))
        sleeping #(mapv (fn [_] (a/go (Thread/sleep 250) 1)) (range 10000))
        together #(run! a/<!! (into (computing) (sleeping)))]
    (together)
    (record! "16-compute" {:ms (median (repeatedly 3 #(timed (run! a/<!! (computing)))))})
    (record! "16-compute-10000-sleep" {:ms (median (repeatedly 3 #(timed (together))))})))

(when (wanted? "bytes-per-parked")
  (let [used #(do (dotimes [_ 4] (System/gc) (Thread/sleep 50))
                  (let [r (Runtime/getRuntime)] (- (.totalMemory r) (.freeMemory r))))
        n 200000 before (used)
        held (mapv (fn [_] (let [c (a/chan)] (a/go (a/<! c)) c)) (range n))]
    (Thread/sleep 500)
    (record! "bytes-per-parked" {:bytes (quot (- (used) before) (count held))})))

(spit (System/getProperty "out") (pr-str @results))
(System/exit 0)
