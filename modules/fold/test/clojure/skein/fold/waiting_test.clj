;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.waiting-test
  "Sources that make the fold wait, some of them for ever: it ends where transduce does. Checks FR3."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold]
   [skein.fold.input :as input]
   [skein.fold.lines :as lines]
   [skein.fold.source :as source])
  (:import
   (clojure.lang ExceptionInfo IReduceInit ISeq)
   (com.github.luben.zstd ZstdOutputStream)
   (java.io File FileOutputStream OutputStream PipedInputStream PipedOutputStream)
   (java.nio.charset StandardCharsets)
   (java.util Collection Iterator List)
   (java.util.concurrent CountDownLatch Executor LinkedBlockingQueue TimeUnit)
   (java.util.concurrent.locks LockSupport)
   (java.util.zip GZIPOutputStream)
   (skein.fold.files RecordFormat StreamFeed)
   (skein.fold.memory Spans)
   (skein.fold.spi Feed)))

(set! *warn-on-reflection* true)

(defn- data-of [f] (try (f) nil (catch ExceptionInfo e (ex-data e))))

(defn- await-latch [^CountDownLatch latch]
  (when-not (.await latch 20 TimeUnit/SECONDS) (throw (ex-info "nobody came" {}))))

(defn- spend
  "Computes for about `micros` microseconds; returns `x`."
  [^long micros x]
  (let [end (+ (System/nanoTime) (* 1000 micros))]
    (while (and (pos? micros) (< (System/nanoTime) end)))
    x))

(defn- silent-after
  "A function of no argument that gives the elements of `coll`, then waits for ever."
  [coll]
  (let [queue (LinkedBlockingQueue. ^Collection coll)]
    #(.take queue)))

(def ^:private ^Executor nobody (reify Executor (execute [_ _])))

(def ^:private sources
  {:reading source/reading
   :iterator (fn [next!] (reify Iterator (hasNext [_] true) (next [_] (next!))))
   :reducible (fn [next!] (reify IReduceInit
                            (reduce [_ f init] (loop [acc init]
                                                 (let [acc (f acc (next!))]
                                                   (if (reduced? acc) @acc (recur acc)))))))
   :lazy-seq (fn lazy [next!] (lazy-seq (cons (next!) (lazy next!))))})

(def ^:private folds
  "Transducer and step that end the fold at :end; both take `micros` us for an element."
  {:take-while (fn [micros _] [(comp (map #(spend micros %)) (take-while #(not= :end %))) conj])
   :reduced (fn [micros _] [identity (fn step [acc x] (if (= :end x) (reduced acc) (conj acc (spend micros x))))])
   :take (fn [micros n] [(comp (map #(spend micros %)) (take n)) conj])
   :in-order-after-take-while (fn [micros _] [(comp (map #(spend micros %)) (take-while #(not= :end %)) (map-indexed (fn [_ x] x))) conj])})

(deftest silent-source-is-folded-as-far-as-transduce-goes
  (doseq [[kind fold-of] folds
          n [0 1 100 5000]
          micros (if (= 5000 n) [0 1 10] [0 1 100])
          opts [{:workers 1} {:workers 2} {:workers 8} {:workers 2, :pool nobody} {:workers 8, :grain 7}
                {:workers 2, :grain 4096, :pool nobody}]
          :let [[xform step] (fold-of micros n)
                wanted (vec (range n))
                given (cond-> wanted (or (not= :take kind) (zero? n)) (conj :end))]]
    (testing [kind n micros opts]
      (is (= wanted (within-deadline (fold/fold opts
                                                (fold/through xform {:combine into, :step step})
                                                (source/reading (silent-after given)))))))))

(deftest every-kind-of-source-that-reads-on-may-fall-silent
  (doseq [[kind source] sources
          [_ fold-of] folds
          n [50 3000]
          opts [{} {:workers 3, :grain 10} {:workers 2, :pool nobody}]
          :let [[xform step] (fold-of (quot 1000 (long n)) n)]]
    (testing [kind n opts]
      (is (= (range n) (take n (within-deadline (fold/fold opts
                                                           (fold/through xform {:combine into, :step step})
                                                           (source (silent-after (concat (range n) [:end])))))))))))

(defn- read-by-another
  "Returns a source of what (next!) gives, and a function that returns its argument, an element. For the first element, 0, it waits
  until 5 is being read. Then another thread must be the reader, and its block is not yet full."
  [next!]
  (let [reading (CountDownLatch. 1)]
    {:source (source/reading #(let [x (next!)]
                                (when (= 5 x) (.countDown reading))
                                x))
     :meet (fn [x]
             (when (= 0 x) (await-latch reading))
             x)}))

(deftest other-threads-reduce-what-a-waiting-reader-has-read
  (doseq [[_ fold-of] folds
          workers [2 5]
          coll [(concat (range 30) [:end]) (concat (range 30) [:end :never :never])]
          :let [[xform step] (fold-of 0 30)
                {:keys [source meet]} (read-by-another (silent-after coll))]]
    (is (= (range 30)
           (take 30 (within-deadline (fold/fold {:workers workers, :grain 1000}
                                                (fold/through (comp (map meet) xform) {:combine into, :step step}) source)))))))

(deftest late-exception-of-a-waiting-reader-counts-in-order
  (doseq [xform [(map identity) (comp (map identity) (map-indexed (fn [_ x] x)))]
          [last-one wanted] {29 (range 30), 99 {:boom true}}
          :let [next! (silent-after (concat (range 30) [:boom]))
                seen (CountDownLatch. 30)
                {:keys [source meet]} (read-by-another (fn []
                                                         (let [x (next!)]
                                                           (when (= :boom x) (await-latch seen) (throw (ex-info "boom" {:boom true})))
                                                           x)))
                step (fn step [acc x] (.countDown seen) (if (= last-one x) (reduced (conj acc x)) (conj acc x)))
                value (atom nil)
                data (data-of #(reset! value (within-deadline (fold/fold {:workers 2, :grain 1000}
                                                                         (fold/through (comp (map meet) xform) {:combine into
                                                                                                                :step step})
                                                                         source))))]]
    (is (= wanted (or data @value)))))

(deftest rest-of-a-seq-is-not-realized-before-its-first-is-used
  (doseq [opts [{:workers 1} {:workers 2} {:workers 2, :grain 3}]
          :let [next! (silent-after [1 2 :end])
                eager (fn eager [x] (reify ISeq (seq [this] this) (first [_] x) (more [_] (eager (next!))) (next [this] (.more this))))]]
    (is (= [1 2] (within-deadline (fold/fold opts
                                             (fold/through (take-while #(not= :end %)) (fold/into [])) (eager (next!))))))))

(defn- with-empty-blocks
  "A feed of the elements of `coll` of which every other block is empty; it counts them, if `counts?`."
  ^Feed [coll counts?]
  (let [left (atom coll)
        turn (atom 0)
        taken (atom 0)]
    (reify Feed
      (exhausted [_] (empty? @left))
      (taken [_] (if counts? @taken -1))
      (next [_ n]
        (when (seq @left)
          (let [block (when (even? (swap! turn inc)) (take n @left))]
            (swap! left #(drop (count block) %))
            (swap! taken + (count block))
            (Spans/ofArray (object-array block))))))))

(deftest a-block-may-be-empty
  (doseq [opts [{} {:workers 1} {:workers 2, :grain 10} {:workers 4, :grain 10} {:workers 2, :pool nobody}]
          xform [(map #(spend 10 %)) (comp (map #(spend 10 %)) (map-indexed (fn [_ x] x)))]
          counts? [true false]]
    (is (= (range 500) (within-deadline (fold/fold opts
                                                   (fold/through xform (fold/into []))
                                                   (with-empty-blocks (range 500) counts?)))) [opts counts?])))

;;;; Sources that pause now and then

(defn- pausing
  "A function of no argument that gives the numbers below `n`, then nil; it pauses before those in `pauses`, and throws at `boom`."
  [n pauses boom]
  (let [at (volatile! -1)]
    (fn []
      (let [x (long (vswap! at inc))]
        (when (contains? pauses x) (LockSupport/parkNanos 1500000))
        (when (= boom x) (throw (ex-info "boom" {:boom x})))
        (when (< x (long n)) x)))))

(def ^:private until-nil
  {:reading source/reading
   :lazy-seq (fn lazy [next!] (lazy-seq (when-some [x (next!)] (cons x (lazy next!)))))
   :reducible (fn [next!] (reify IReduceInit
                            (reduce [_ f init] (loop [acc init]
                                                 (let [x (next!)
                                                       acc (if (nil? x) (reduced acc) (f acc x))]
                                                   (if (reduced? acc) @acc (recur acc)))))))})

(def ^:private stages {:none identity, :indexed (map-indexed (fn [_ x] x)), :grouped (comp (partition-all 3) cat)})

(def ^:private case-gen
  (gen/hash-map :n (gen/choose 0 400), :stop (gen/choose 0 800), :boom (gen/choose 0 1200), :source (gen/elements (keys until-nil))
                :pauses (gen/set (gen/choose 0 400) {:max-elements 5}), :slow (gen/set (gen/choose 0 400) {:max-elements 3})
                :stage (gen/elements (keys stages)), :workers (gen/choose 1 6)
                :grain (gen/one-of [(gen/return nil) (gen/choose 1 300)])))

(defn- outcome [f] (try (f) (catch ExceptionInfo e (ex-data e))))

(defn- agrees? [{:keys [n stop boom pauses slow source stage workers grain]}]
  (let [xform (comp (map (fn [x] (when (contains? slow x) (LockSupport/parkNanos 800000)) (spend 1 x))) (stages stage))
        step (fn ([acc] acc) ([acc x] (if (= x stop) (reduced (conj acc :stop)) (conj acc x))))
        opts (cond-> {:workers workers} grain (assoc :grain grain))]
    (= (outcome #(transduce xform step [] ((until-nil :reducible) (pausing n pauses boom))))
       (outcome #(fold/fold opts
                            (fold/through xform {:combine into, :step step}) ((until-nil source) (pausing n pauses boom)))))))

(deftest a-source-that-pauses-agrees-with-transduce
  (let [{:keys [pass? shrunk seed result]} (within-deadline (check/quick-check 200 (prop/for-all [c case-gen] (agrees? c))))]
    (is pass? (pr-str seed (:smallest shrunk) result))))

;;;; Streams

(defn- named-pipe!
  "Makes a named pipe and a thread that writes `parts` to it, by (write-to stream part), and keeps it open until `done`."
  [^File file parts write-to ^CountDownLatch done]
  (.delete file)
  (is (zero? (.waitFor (.start (ProcessBuilder. ^List (list "mkfifo" (str file)))))))
  (doto (Thread. (fn write []
                   (with-open [out (FileOutputStream. file)]
                     (write-to out parts)
                     (await-latch done))))
    (.setDaemon true) .start))

(defn- write-parts! [^OutputStream out parts]
  (doseq [part parts] (.write out (.getBytes ^String part)) (.flush out)))

(defn- write-packed! [^OutputStream out parts]
  (write-parts! (GZIPOutputStream. out 512 true) parts))

(defn- write-zstd! [^OutputStream out parts]
  (write-parts! (doto (ZstdOutputStream. out) (.setCloseFrameOnFlush true)) parts))

(def ^:private until-end (take-while #(not= "end" %)))

(deftest a-pipe-that-stays-open-is-folded-as-far-as-its-lines-go
  (doseq [[ending write-to] {".fifo" write-parts!, ".gz" write-packed!, ".zst" write-zstd!}
          opts [{:workers 1} {:workers 2} {:workers 3, :grain 10} {:workers 2, :pool nobody}]
          lines [["a" "b"] (mapv str (range 1000)) (mapv str (range 100000)) [(apply str (repeat 300000 "x")) "y"]]
          :let [file (File/createTempFile "skein-fold" ending)
                done (CountDownLatch. 1)
                text (str (str/join "\n" lines) "\nend\nnot")]]
    (try
      (named-pipe! file (map str/join (partition-all 3001 text)) write-to done)
      (is (= lines (within-deadline (fold/fold opts
                                               (fold/through until-end (fold/into []))
                                               (lines/lines file)))) [ending opts (count lines)])
      (finally (.countDown done) (.delete file)))))

(deftest any-stream-may-stay-open
  (doseq [opts [{:workers 1} {:workers 2} {:workers 2, :pool nobody}]
          :let [out (PipedOutputStream.)
                in (PipedInputStream. out 4096)]]
    (write-parts! out ["a\nb" "\r\nend\r\n" "not"])
    (is (= ["a" "b"] (within-deadline (fold/fold opts
                                                 (fold/through until-end (fold/into []))
                                                 (StreamFeed. (input/stream "pipe" in) (RecordFormat/lines StandardCharsets/UTF_8))))))))
