;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench fold [--only sums,sources,files,sizes,small,carriers,polluted] [--rounds N] [--figure median|best|busiest]
;; Groups run in the order given, in one process. So `--only polluted,sources,files` measures all sources and files after a hundred other folds.
(ns bench.fold
  "Folds beside transduce, clojure.core.reducers, java.util.stream and loops by hand, in one process, taking turns."
  (:require
   [clojure.core.reducers :as r]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.fold :as fold]
   [skein.fold.lines :as lines]
   [skein.fold.source :as source])
  (:import
   (clojure.lang IReduceInit)
   (java.io BufferedReader File RandomAccessFile)
   (java.lang.management ManagementFactory ThreadMXBean)
   (java.nio ByteBuffer)
   (java.nio.channels FileChannel$MapMode)
   (java.nio.charset StandardCharsets)
   (java.nio.file Files)
   (java.util ArrayList Arrays Collection LinkedList SplittableRandom TreeSet)
   (java.util.concurrent Callable CountDownLatch ExecutorService Executors)
   (java.util.function Function LongFunction LongPredicate LongUnaryOperator Predicate ToLongFunction)
   (java.util.stream LongStream Stream)
   (java.util.zip GZIPInputStream GZIPOutputStream)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(def ^:private ^:const warm-ups 8)
(def ^:dynamic *rounds* 15)
(def ^:dynamic *figure* "median")

;;;; Taking turns

(defn- elapsed ^long [f]
  (let [start (System/nanoTime)]
    (f)
    (- (System/nanoTime) start)))

(def ^:private ^ThreadMXBean threads (ManagementFactory/getThreadMXBean))

(defn- cpu-times []
  (into {} (map (fn [id] [id (.getThreadCpuTime threads (long id))])) (.getAllThreadIds threads)))

(defn- busiest
  "Runs `f`. Returns the processor time of the thread that worked most: the time that `f` would take if each thread had a processor."
  ^long [f]
  (let [before (cpu-times)]
    (f)
    (long (reduce max (map (fn [[id ns]] (- (long ns) (long (get before id 0)))) (cpu-times))))))

(defn- nanos ^long [f]
  (if (= *figure* "busiest") (busiest f) (elapsed f)))

(defn- figure ^double [times]
  (let [times (vec (sort times))]
    (double (times (if (#{"best" "busiest"} *figure*) 0 (quot (count times) 2))))))

(defn- in-turns
  "Returns the times in ns of functions of no argument, each run `rounds` times, in turns."
  [rounds fs]
  (dotimes [_ warm-ups] (run! #(%) fs))
  (let [all (vec (repeatedly rounds (fn round [] (mapv nanos fs))))]
    (mapv (fn [i] (figure (map #(nth % i) all))) (range (count fs)))))

(defn- same-value! [title contestants]
  (let [values (map (fn [[_ f]] (f)) contestants)]
    (when-not (apply = values)
      (throw (ex-info (str title ": the contestants disagree") {:values (zipmap (map first contestants) values)})))))

(defn- row
  "Times contestants, pairs of a name and a function, the first one Skein; prints a line of ratios to it."
  [title contestants]
  (same-value! title contestants)
  (let [[skein & others] (in-turns *rounds* (map second contestants))]
    (println (format "%-22s skein %9.2f ms  %s" title (/ (double skein) 1e6)
                     (str/join "  " (map (fn [[n _] ns] (format "%s x%.2f" n (/ (double ns) (double skein)))) (rest contestants) others))))
    (flush)))

;;;; Sums of numbers

(def ^:private ^:const n-numbers 10000000)

(defn- fork-per [v] (max 1 (quot (count v) 8)))

;; With Clojure's default arithmetic, as in folds and transduce: it throws when a sum is too large.
(set! *unchecked-math* false)

(defn- loop-over-longs ^long [^longs a]
  (let [n (alength a)]
    (loop [i 0, acc 0]
      (if (< i n)
        (let [x (aget a i)]
          (recur (inc i) (if (even? x) (+ acc (inc x)) acc)))
        acc))))

(defn- loop-over-range ^long [^long n]
  (loop [x 0, acc 0]
    (if (< x n)
      (recur (inc x) (if (even? x) (+ acc (inc x)) acc))
      acc)))

(set! *unchecked-math* :warn-on-boxed)

(defn- unchecked-over-longs ^long [^longs a]
  (let [n (alength a)]
    (loop [i 0, acc 0]
      (if (< i n)
        (let [x (aget a i)]
          (recur (inc i) (if (even? x) (+ acc (inc x)) acc)))
        acc))))

(defn- unchecked-over-range ^long [^long n]
  (loop [x 0, acc 0]
    (if (< x n)
      (recur (inc x) (if (even? x) (+ acc (inc x)) acc))
      acc)))

(def ^:private even-long (reify LongPredicate (test [_ x] (even? x))))
(def ^:private inc-long (reify LongUnaryOperator (applyAsLong [_ x] (inc x))))

(defn- stream-of-longs [^LongStream s]
  (.sum (.map (.filter (.parallel s) even-long) inc-long)))

(defn- stream-of-boxed [^Collection c]
  (-> (.parallelStream c)
      (.filter (reify Predicate (test [_ x] (even? (long x)))))
      (.mapToLong (reify ToLongFunction (applyAsLong [_ x] (inc (long x)))))
      .sum))

(defn- in-halves
  "Folds one half on this thread and the other on the thread of `pool`: shows what a second thread gains on this machine."
  [^ExecutorService pool xform [half other]]
  (let [sum (fn [coll] (fold/fold {:workers 1} (fold/through xform +) coll))
        result (.submit pool ^Callable (fn [] (sum other)))]
    (+ (long (sum half)) (long (.get result)))))

(defn- sum-rows []
  (with-open [pool (Executors/newFixedThreadPool 1)]
    (let [xform (comp (filter even?) (map inc))
          v (vec (range n-numbers))
          a (long-array v)
          d (double-array v)
          middle (quot n-numbers 2)
          serial (fn [coll] ["transduce" #(transduce xform + coll)])
          halves (fn [& parts] ["two halves" #(in-halves pool xform parts)])
          by-reducers (fn [coll] (r/map inc (r/filter even? coll)))]
      (row "vector of 10 M" [["skein" #(fold/fold (fold/through xform +) v)]
                             (serial v)
                             ["one thread" #(fold/fold {:workers 1} (fold/through xform +) v)]
                             (halves (vec (range middle)) (vec (range middle n-numbers)))
                             ["r/fold" #(r/fold + (by-reducers v))]
                             ["r/fold N/8" #(r/fold (fork-per v) + + (by-reducers v))]
                             ["stream" #(stream-of-boxed v)]])
      (row "long[] of 10 M" [["skein" #(fold/fold (fold/through xform +) a)]
                             (serial a)
                             ["one thread" #(fold/fold {:workers 1} (fold/through xform +) a)]
                             (halves (Arrays/copyOfRange a 0 middle) (Arrays/copyOfRange a middle n-numbers))
                             ["r/fold" #(r/fold + (by-reducers a))]
                             ["stream" #(stream-of-longs (LongStream/of a))]
                             ["loop" #(loop-over-longs a)]
                             ["unchecked loop" #(unchecked-over-longs a)]])
      (row "range of 10 M" [["skein" #(fold/fold (fold/through xform +) (range n-numbers))]
                            (serial (range n-numbers))
                            ["one thread" #(fold/fold {:workers 1} (fold/through xform +) (range n-numbers))]
                            (halves (range middle) (range middle n-numbers))
                            ["r/fold" #(r/fold + (by-reducers (range n-numbers)))]
                            ["stream" #(stream-of-longs (LongStream/range 0 n-numbers))]
                            ["loop" #(loop-over-range n-numbers)]
                            ["unchecked loop" #(unchecked-over-range n-numbers)]])
      (row "double[], hinted" [["skein" #(fold/fold (fold/through (map (fn ^double [^double x] (* 0.5 x)))
                                                                  {:combine +, :step (fn ^double [^double acc ^double x] (+ acc x))})
                                                    d)]
                               ["transduce" #(transduce (map (fn [x] (* 0.5 (double x)))) + d)]]))))

;;;; The same after a hundred other folds

(def ^:private other-xforms
  "What programs put in front of a step; each takes any number."
  [(map #(+ 1.5 (double %))) (map str) (comp (map inc) (filter number?)) (comp (remove zero?) (map -)) (mapcat list) (keep identity)
   (map-indexed vector) (take-while some?) (comp (map #(* 2 (double %))) (map dec) (filter pos?)) (map #(quot (long %) 7)) (partition-all 3)])

(def ^:private other-steps
  [(fn ([] nil) ([a] a) ([_ b] b)) (fn ([] nil) ([a] a) ([a _] a)) (fn ([] []) ([a] a) ([a x] (if (vector? a) (conj a x) [x])))])

(defn- pollute!
  "Folds and transduces many kinds of things, as a real program does, so that the JIT compiler has seen many functions in each place."
  []
  (let [xs (vec (range 3000))
        sources [xs (apply list xs) (set (take 500 xs)) (long-array xs) (double-array xs) (range 3000)]]
    (dotimes [_ 40]
      (doseq [xform other-xforms, step other-steps, source sources]
        (transduce xform step nil source)
        (fold/fold (fold/through xform {:combine (fn ([] nil) ([_ b] b)), :step step}) source)
        (fold/fold {:grain 300} (fold/through xform {:combine (fn ([] nil) ([_ b] b)), :step step}) source)))))

(defn- polluted-rows []
  (println "after" (* (count other-xforms) (count other-steps)) "kinds of folds over 6 kinds of sources")
  (pollute!)
  (sum-rows))

;;;; Numbers to factorise

(def ^:private composite (* 29 982451653))

(defn- factors [^long n]
  (loop [n n, p 2, found []]
    (cond
      (< n (* p p)) (conj found n)
      (zero? (rem n p)) (recur (quot n p) p (conj found p))
      :else (recur n (inc p) found))))

(defn- factorise-rows []
  (let [ns (vec (repeat 1000 composite))
        n-factors (comp (map factors) (map count))]
    (row "factorise 1000" [["skein" #(fold/fold (fold/through n-factors +) ns)]
                           ["transduce" #(transduce n-factors + ns)]
                           ["pmap" #(reduce + (pmap (comp count factors) ns))]
                           ["r/fold" #(r/fold + (r/map count (r/map factors ns)))]
                           ["stream" #(-> (.parallelStream ^Collection ns)
                                          (.mapToLong (reify ToLongFunction (applyAsLong [_ x] (count (factors x)))))
                                          .sum)]])))

;;;; Steps of a known cost

(defn- spin
  "Returns a number that depends on `x` and takes `n` rounds of a generator."
  ^long [^long x ^long n]
  (loop [x (bit-or x 1), i 0]
    (if (< i n)
      (let [x (bit-xor x (bit-shift-left x 13))
            x (bit-xor x (unsigned-bit-shift-right x 7))]
        (recur (bit-xor x (bit-shift-left x 17)) (inc i)))
      (bit-and x 15))))

(defn- rounds-for
  "Returns how many rounds of `spin` take `ns` nanoseconds."
  ^long [^double ns]
  (dotimes [_ 20] (spin 1 100000))
  (let [per-round (/ (double (apply min (repeatedly 9 (fn [] (elapsed #(spin 1 1000000)))))) 1e6)]
    (max 1 (Math/round (/ ns per-round)))))

;;;; Every source

(def ^:private ^:const n-elements 200000)

(defn- reducible [xs]
  (reify IReduceInit (reduce [_ f init] (reduce f init xs))))

(defn- sources
  "Returns triples of a name, a function that gives a source, and one that gives what transduce takes."
  [v ^File file ^File packed]
  (let [same (fn [title coll] [title (constantly coll) (constantly coll)])
        text-lines (fn [] (line-seq (io/reader file)))
        packed-lines (fn [] (line-seq (io/reader (GZIPInputStream. (io/input-stream packed)))))
        c ^Collection v]
    (concat
      (map (partial apply same)
           {"vector" v, "subvec" (subvec v 1), "vector-of" (apply vector-of :long v), "hash-map" (zipmap v v), "hash-set" (set v)
            "sorted-set" (into (sorted-set) v), "sorted-map" (into (sorted-map) (zipmap v v)), "range" (range n-elements)
            "list" (apply list v), "ArrayList" (ArrayList. c), "LinkedList" (LinkedList. c), "TreeSet" (TreeSet. c)
            "long[]" (long-array v), "double[]" (double-array v), "int[]" (int-array v), "byte[]" (byte-array n-elements)
            "char[]" (char-array n-elements), "short[]" (short-array n-elements), "float[]" (float-array n-elements)
            "boolean[]" (boolean-array n-elements), "Object[]" (object-array v), "string" (apply str (repeat n-elements "x"))
            "eduction" (eduction (map inc) v), "IReduceInit" (reducible v)})
      [["lazy seq" #(map identity v) #(map identity v)]
       ["Iterator" #(.iterator c) #(iterator-seq (.iterator c))]
       ["Spliterator" #(.spliterator c) #(iterator-seq (.iterator c))]
       ["Stream" #(.stream c) #(iterator-seq (.iterator (.stream c)))]
       ["reader" #(let [in ^BufferedReader (io/reader file)] (source/reading (fn [] (.readLine in)))) text-lines]
       ["lines of a file" #(lines/lines file) text-lines]
       ["lines of 4 files" #(lines/lines (repeat 4 file)) #(mapcat (fn [_] (text-lines)) (range 4))]
       ["lines of a .gz" #(lines/lines packed) packed-lines]
       ["lines of 4 .gz" #(lines/lines (repeat 4 packed)) #(mapcat (fn [_] (packed-lines)) (range 4))]])))

(defn- with-temp-files [endings f]
  (let [files (mapv #(File/createTempFile "skein-bench" %) endings)]
    (try (f files)
         (finally (run! #(.delete ^File %) files)))))

(defn- source-rows []
  (with-temp-files [".txt" ".txt.gz"]
    (fn [[^File file ^File packed]]
      (let [v (vec (range n-elements))
            n (rounds-for 200)
            step (fn step ([acc] acc) ([^long acc x] (+ acc (spin (hash x) n))))]
        (with-open [out (io/writer file)] (doseq [x v] (.write out (str x "\n"))))
        (with-open [out (GZIPOutputStream. (io/output-stream packed))] (Files/copy (.toPath file) out))
        (doseq [[title fresh serial] (sources v file packed)]
          (row title [["skein" #(fold/fold {:combine +, :step step} (fresh))]
                      ["transduce" #(transduce identity step 0 (serial))]]))))))

;;;; Files

(def ^:private ^:const n-lines 1600000)

(defn- write-words! [^File file]
  (let [random (SplittableRandom. 7)
        words (vec (repeatedly 50000 #(apply str (repeatedly (+ 2 (.nextInt random 9)) (fn [] (char (+ 97 (.nextInt random 26))))))))]
    (with-open [out (io/writer file)]
      (dotimes [_ n-lines]
        (dotimes [i 9]
          (.write out ^String (words (min (.nextInt random 50000) (.nextInt random 50000))))
          (.write out (if (= i 8) "\n" " ")))))))

(defn- chunk-ends
  "Returns where `n` chunks of a mapped file end, each at the end of a line."
  [^ByteBuffer mapped ^long n]
  (let [size (.limit mapped)]
    (mapv (fn [^long i]
            (loop [at (quot (* (inc i) size) n)]
              (if (or (<= size at) (= 10 (.get mapped (int (dec at))))) (min at size) (recur (inc at)))))
          (range n))))

(defn- reduce-chunk
  "Reduces the lines in [from, to) of a mapped file, as strings."
  [^ByteBuffer mapped step init from to]
  (let [bytes (byte-array (- (long to) (long from)))]
    (.get mapped (int from) bytes)
    (loop [acc init, at 0, i 0]
      (cond
        (= i (alength bytes)) acc
        (= 10 (aget bytes i)) (recur (step acc (String. bytes at (- i at) StandardCharsets/UTF_8)) (inc i) (inc i))
        :else (recur acc at (inc i))))))

(defn- mapped-chunks
  "Combines the reductions of line-aligned chunks of a file by `combine`, on two threads, as a program written by hand does."
  [^File file step fresh combine ^ExecutorService pool]
  (with-open [in (RandomAccessFile. file "r")]
    (let [mapped (.map (.getChannel in) FileChannel$MapMode/READ_ONLY 0 (.length file))
          ends (chunk-ends mapped 32)
          jobs (mapv (fn [from to] ^Callable (fn [] (reduce-chunk mapped step (fresh) from to))) (cons 0 ends) ends)]
      (transduce (map deref) (completing combine) (fresh) (.invokeAll pool jobs)))))

(defn- words-of [^String line] (str/split line #" "))

(defn- count-words [counts line]
  (reduce (fn [m w] (assoc! m w (inc (long (get m w 0))))) counts (words-of line)))

(defn- file-rows []
  (with-temp-files [".txt"]
    (fn [[^File file]]
      (write-words! file)
      (let [pool (Executors/newFixedThreadPool 2)
            with-lines (fn [f] (with-open [in (io/reader file)] (f (line-seq in))))
            length (fn [^String line] (.length line))]
        (row "line lengths, 108 MB"
             [["skein" #(fold/fold (fold/through (map length) +) (lines/lines file))]
              ["transduce" (fn [] (with-lines #(transduce (map length) + %)))]
              ["stream" #(with-open [s (Files/lines (.toPath file))]
                           (.sum (.mapToLong ^Stream (.parallel s) (reify ToLongFunction (applyAsLong [_ x] (length x))))))]
              ["mapped" #(mapped-chunks file (fn [^long acc line] (+ acc (long (length line)))) (constantly 0) + pool)]])
        (row "word count, 108 MB"
             [["skein" #(fold/fold (fold/through (mapcat words-of) fold/frequencies) (lines/lines file))]
              ["transduce" (fn [] (with-lines #(transduce (mapcat words-of) (completing (fn [m w] (assoc m w (inc (long (get m w 0)))))) {} %)))]
              ["mapped" #(persistent!
                           (mapped-chunks file count-words (fn [] (transient {}))
                                          (fn [all part] (reduce (fn [m [w n]] (assoc! m w (+ (long n) (long (get m w 0))))) all (persistent! part)))
                                          pool))]])
        (.shutdown pool)))))

;;;; Every size and cost

(def ^:private ^:const least-ns 2e6)
(def ^:private ^:const most-ns 4e7)
;; After each new size the JIT compiler begins anew, and takes a while.
(def ^:private ^:const warm-up-ns 2e8)

(defn- times-of
  "Returns the time per call of each function in ns; calls that are short are timed many at a time."
  [fs ^double expected-ns]
  (let [batch (max 1 (long (/ (double least-ns) expected-ns)))
        fs (mapv (fn [f] (fn [] (dotimes [_ batch] (f)))) fs)]
    (doseq [f fs, :let [start (System/nanoTime)]]
      (while (< (- (System/nanoTime) start) (double warm-up-ns)) (f)))
    (mapv #(/ (double %) batch) (in-turns (* 2 (long *rounds*)) fs))))

(def ^:private ^:const slice-ns 3e5)

(defn- excess
  "Returns by how many ns per call `skein` exceeds 1.05 times `serial`, as a median. They take turns, in slices of 0.3 ms, so both
  times of a difference are measured under the same load. Each round begins with the other one."
  ^double [skein serial ^double expected-ns]
  (let [batch (max 1 (long (/ (double slice-ns) expected-ns)))
        slice (fn [f] (/ (double (elapsed #(dotimes [_ batch] (f)))) batch))
        warm (+ (System/nanoTime) (* 2 (long warm-up-ns)))]
    (while (< (System/nanoTime) warm) (slice skein) (slice serial))
    (let [differences (for [i (range (* 4 (long *rounds*)))
                            :let [[a b] (if (even? (long i)) [(slice skein) (slice serial)] (rseq [(slice serial) (slice skein)]))]]
                        (- (double a) (* 1.05 (double b))))]
      (double (nth (sort differences) (* 2 (long *rounds*)))))))

(defn- small-rows
  "Prints by how many ns a small fold exceeds transduce plus 5 %. The JIT compiler compiles them differently from process to process,
  so run it in several."
  []
  (println "skein - 1.05 transduce, in ns, median of differences in slices of 0.3 ms")
  (println (apply format "%9s %9s %9s %9s" "size" (map #(str % " ns") [1 10 30])))
  (doseq [size [1 2 3 5 10 12 14 20 40 64 65 128 300 1000 3000 10000]
          :let [v (vec (range size))]]
    (print (format "%9d" size))
    (doseq [cost [1 10 30]
            :let [n (rounds-for cost)
                  xform (if (= 1 (long cost)) (map inc) (map #(spin % n)))
                  f (fold/through xform +)]]
      (print (format " %9.0f" (excess #(fold/fold f v) #(transduce xform + v) (+ 50 (* (double size) (double cost))))))
      (flush))
    (println)))

(defn- size-rows []
  (println "transduce / skein: below 0.95 Skein is slower by more than 5 %")
  (println (apply format "%9s %9s %9s %9s %9s %9s %9s %9s" "size" (map #(str % " ns") [1 10 100 1000 10000 100000 1000000])))
  (doseq [size (take 8 (iterate #(* 10 (long %)) 1))
          :let [v (vec (range size))]]
    (print (format "%9d" size))
    (doseq [cost [1 10 100 1000 10000 100000 1000000]
            :let [n (rounds-for cost)
                  xform (if (= 1 (long cost)) (map inc) (map #(spin % n)))
                  f (fold/through xform +)
                  expected (* (double size) (double cost))]]
      (print (if (< (double most-ns) expected)
               (format " %9s" "")
               (let [[skein serial] (times-of [#(fold/fold f v) #(transduce xform + v)] expected)]
                 (format " %9.2f" (/ (double serial) (double skein))))))
      (flush))
    (println)))

;;;; Beside other virtual threads

(def ^:private ^:const tick-ms 5)

(defn- longest-tick
  "Returns the longest sleep in ns of a virtual thread that should sleep for `tick-ms` each time, while `n` others call `f`."
  ^double [^long n f]
  (let [left (CountDownLatch. n)
        longest (promise)
        ticker (fn [longest-ns]
                 (let [ns (max (double longest-ns) (double (elapsed #(Thread/sleep (long tick-ms)))))]
                   (if (zero? (.getCount left)) (deliver longest ns) (recur ns))))]
    (Thread/startVirtualThread #(ticker 0))
    (dotimes [_ n] (Thread/startVirtualThread (fn [] (f) (.countDown left))))
    (double @longest)))

(defn- carrier-rows []
  (println "the longest sleep of" tick-ms "ms on a virtual thread, beside 1 to 40 others that fold for 100 ms each")
  (let [rounds (rounds-for 10000)
        v (vec (range 10000))
        slow (map #(spin % rounds))]
    (doseq [[title xform f] [["parallel" slow #(fold/fold (fold/through slow +) v)]
                             ["in order" (comp (dedupe) slow) #(fold/fold (fold/through (comp (dedupe) slow) +) v)]
                             ["on one thread" slow #(fold/fold {:workers 1} (fold/through slow +) v)]
                             ["an IReduceInit" slow #(fold/fold (fold/through slow +) (reducible v))]]
            n [1 2 6 40]
            :let [[skein serial] (for [g [f #(transduce xform + v)]] (figure (repeatedly 5 (fn [] (longest-tick n g)))))]]
      (println (format "%-22s skein %9.2f ms  transduce x%.2f" (str n " " title) (/ (double skein) 1e6) (/ (double serial) (double skein)))))))

;;;; What to run

(def ^:private groups
  {"sums" #(do (sum-rows) (factorise-rows)), "sources" source-rows, "files" file-rows, "sizes" size-rows, "small" small-rows, "carriers" carrier-rows
   "polluted" polluted-rows})

(defn- usage! []
  (binding [*out* *err*]
    (println "bench: usage: bench fold [--only sums,sources,files,sizes,small,carriers,polluted] [--rounds N] [--figure median|best|busiest]"))
  (System/exit 2))

(let [options (if (even? (count *command-line-args*)) (apply hash-map *command-line-args*) (usage!))
      wanted (str/split (get options "--only" "sums,sources,files,sizes,small,carriers,polluted") #",")]
  (when-not (and (every? #{"--only" "--rounds" "--figure"} (keys options)) (every? groups wanted)) (usage!))
  (binding [*rounds* (parse-long (get options "--rounds" "15"))
            *figure* (get options "--figure" "median")]
    (println "Java" (System/getProperty "java.version") "," (.availableProcessors (Runtime/getRuntime)) "processors;"
             *figure* "of" *rounds* "rounds; xR: R times as long as Skein")
    (doseq [group wanted] ((groups group))))
  (shutdown-agents))
