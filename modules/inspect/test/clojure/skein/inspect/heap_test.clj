;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.heap-test
  "Heap files of a process without the inspector: only blocks that can never continue are named."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.inspect :as inspect]
   [skein.inspect.heap :as heap]
   [skein.inspect.process :refer [class-path lines-of run start without-inspect]]
   [skein.inspect.watched :as watched]
   [skein.skip :refer [skip!]])
  (:import
   (java.io File RandomAccessFile)
   (java.util List)))

(set! *warn-on-reflection* true)

(def ^:private program
  "A program with blocks that must be named and blocks that must not. It prints when all of them wait."
  '(do
     (require '[skein.async :as a :refer [<! <!! >! alts! alts!! chan go go-loop timeout]])
     (defn crossed []
       (let [x (chan 1) y (chan 1)]
         (go (>! x 1) (>! x 2) (<! y))
         (go (>! y 1) (>! y 2) (<! x))))
     (defn daemon [name f] (doto (Thread. ^Runnable f ^String name) (.setDaemon true) .start))
     (def started (atom []))
     (def entered (java.util.concurrent.CountDownLatch. 5))
     ;; Blocks that wait for one another, for themselves, or for channels that nobody else has.
     (crossed)
     (doseq [n [3 5]]
       (let [cs (vec (repeatedly n chan))]
         (dotimes [i n] (let [mine (cs i), other (cs (mod (inc i) n))] (go (>! mine :ring) (<! other))))))
     (let [own (promise)] (deliver own (go (<! @own))))
     (let [x (chan) y (chan)] (go (alts! [x y])))
     ;; Threads and blocked blocks that wait for ever.
     (do (daemon "awaits-a-deadlock" (fn [] (<!! (crossed)))) nil)
     (do (Thread/startVirtualThread (fn [] (.countDown entered) (<!! (chan)))) nil)
     (go (let [p (promise)] (.countDown entered) @p (deliver p 1)))
     (do (daemon "awaits-a-block-that-blocks" (fn [] (<!! (go (.countDown entered) @(promise))))) nil)
     ;; Two virtual threads in each other's locks.
     (let [a (java.util.concurrent.locks.ReentrantLock.), b (java.util.concurrent.locks.ReentrantLock.)
           cross (fn [mine other] (Thread/startVirtualThread (fn []
                                                               (java.util.concurrent.locks.LockSupport/parkNanos 1) ; the limit of the last timed wait stays in the heap
                                                               (.lock mine)
                                                               (.countDown entered)
                                                               (.await entered)
                                                               (.lock other))))]
       (cross a b)
       (cross b a))
     ;; A virtual thread that waits for no channel, promise or lock.
     (def sleeper (Thread/startVirtualThread (fn [] (Thread/sleep 600000))))
     (while (not= Thread$State/TIMED_WAITING (.getState sleeper)) (Thread/onSpinWait))
     ;; Two platform threads in each other's monitors.
     (let [a (Object.), b (Object.), both (java.util.concurrent.CountDownLatch. 2)
           cross (fn [name mine other] (daemon name (fn [] (locking mine (.countDown both) (.await both) (locking other)))))]
       (cross "locks-ab" a b)
       (cross "locks-ba" b a))
     ;; Nothing may be reported on these.
     (def idle (chan))
     (def server (go-loop [] (when (<! idle) (recur))))
     (def awaits-the-server (daemon "awaits-the-server" (fn [] (<!! server))))
     (def many (vec (repeatedly 500 (fn [] (let [c (chan)] (go (<! c)) c)))))
     (go (<! (timeout 600000)))
     (go (alts! [(chan) (timeout 600000)]))
     (do (daemon "has-a-timer" (fn [] (alts!! [(chan) (timeout 600000)]))) nil)
     (def could-be-interrupted
       (daemon "could-be-interrupted"
               (fn [] (let [c (chan)] (go (<! c)) (try (<!! (chan)) (finally (a/close! c)))))))
     (def weak (java.util.WeakHashMap.))
     (let [c (chan)] (.put weak "key" c) (go (<! c)))
     (def future-of-mine (future (<!! (chan))))
     (do (daemon "works" (fn [] (let [c (chan)] (go (<! c)) (.await (java.util.concurrent.CountDownLatch. 1) 10 java.util.concurrent.TimeUnit/MINUTES) (a/close! c)))) nil)
     (.await entered)
     (loop [before nil] ; until nothing moves
       (let [now (skein.rt.schedule.Scheduler/describe)]
         (Thread/sleep 500)
         (when-not (= before now) (recur now))))
     (println "hung")
     @(promise))) ; keeps the program alive

(def ^:private roomy
  "Options that keep the program's own collector from running, because a heap file lacks the blocks that were collected."
  ["-XX:NewSize=250m" "-XX:MetaspaceSize=250m"])

(def ^:private named
  "The proven blocks: {place count}."
  {"(>! x 2)" 2, "(>! y 2)" 2, "(>! mine :ring)" 8})

(defn- proven [text]
  (reduce (fn count-in [n [_ form more]] (update n form (fnil + 0) (inc (long (or (some-> more parse-long) 0)))))
          {} (re-seq #"PROVEN  go-\d+, NO_SOURCE_FILE:\d+ (\(.*?\)), waits.*?(?:The same goes for (\d+) more|\n)" text)))

(defn- threads [text]
  (mapv second (re-seq #"PROVEN  thread (\S+?),? " text)))

(defn- temporary ^File [ending]
  (doto (File/createTempFile "heap" ending) .delete))

(def ^:private stacks?
  "Whether a heap file has the stacks of virtual threads."
  (< 21 (.feature (Runtime/version))))

(defn- check-proofs
  "Asserts what is proven about `program`: in `text`, which ps printed, in its snapshot, and by why on the file `edn`."
  [edn text snapshot]
  (is (= named (proven text)))
  (testing "four threads wait for ever, and one for such a block"
    (is (= 4 (count (threads text))))
    (is (= 2 (count (filter #(str/starts-with? % "skein-worker") (threads text)))) "promises of blocks")
    (is (some #{"awaits-a-block-that-blocks"} (threads text)))
    (is (not (str/includes? text "collected before")))
    (is (re-find #"thread awaits-a-deadlock waits for its result only, which will never come\.\n" text)))
  (testing "two virtual threads hold each other's locks"
    (is (re-find #"CERTAIN  thread \d+, NO_SOURCE_FILE:1 .*, waits for java\.util\.concurrent\.locks\.ReentrantLock, which thread \d+ holds\. thread \d+, " text)))
  (testing "two platform threads hold each other's monitors"
    (is (re-find #"CERTAIN  .*thread locks-ab, .*, waits for java\.lang\.Object@\S+, which thread locks-ba holds\." text)))
  (testing "a wait for a promise is named so"
    (is (re-find #"PROVEN  thread skein-worker\S*, .*, waits for a promise\. No running code" text)))
  (testing "threads that are not listed are counted"
    (is (= 2 (:elsewhere snapshot)) "one sleeps, one waits with a time limit")
    (is (re-find #"\n2 other threads wait; jcmd \d+ Thread\.dump_to_file \"\$PWD/threads\.txt\" shows where\.\n" text)))
  (testing "stuck blocks are listed by place"
    (is (re-find #"\n    1  stuck    NO_SOURCE_FILE:1 \(alts! \[x y\]\)\n       go-\d+ waits for chan-\d+ or for chan-\d+\n" text)))
  (testing "unservable takes are counted"
    (is (= {"(<! (clojure.core/deref own))" 1, "(alts! [x y])" 1}
           (into {} (map (juxt (comp :form :site) :count)) (filter (comp #{:abandoned} :kind) (inspect/leaks snapshot))))))
  (testing "nothing is reported on the others"
    (is (= {:parked 506, :running 2} (frequencies (map :state (:blocks snapshot)))) "two blocks have blocked their threads")
    (is (= #{"awaits-the-server" "has-a-timer" "could-be-interrupted"}
           (into #{} (comp (remove :stuck?) (remove (comp :lock first :waits)) (map :name) (remove #(re-find #"pool|awaits-a-deadlock" %)))
                 (:threads snapshot)))))
  (testing "why follows a thread to a block that no code can reach"
    (is (re-find #"waits for the result of go-\d+\. go-\d+, NO_SOURCE_FILE:\d+ \(>! y 2\), waits to put on chan-\d+ \(1/1 full\)\. go-\d+, .* one another\. No running code can reach them\.$"
                 (str/trim (nth (run "why" (str edn) "awaits-a-deadlock") 1)))))
  (testing "why explains a block"
    (let [id (some #(when (= "(<! idle)" (:form (:site %))) (:id %)) (:blocks snapshot))]
      (is (re-find #"\(<! idle\), waits for chan-\d+\. Judging by their locals, no (?:parked )?block could end that" (nth (run "why" (str edn) (str "go-" id)) 1))))
    (is (re-find #"can never continue" (:says (inspect/why (:id (:block (first (inspect/deadlocks nil snapshot)))) snapshot))))))

;; Checks RE1 and RE2.
(deftest deadlocks-are-proven-with-the-inspector-off
  (let [process (start class-path program roomy), pid (str (.pid process)), edn (temporary ".edn")]
    (try
      (is (= "hung" (.readLine (lines-of process))))
      (let [[code _ err] (run "dump" pid (str edn) "--heap")
            snapshot (inspect/read-snapshot (str edn))
            [_ text] (run "ps" (str edn))]
        (is (= 0 code))
        (is (= (parse-long pid) (:pid snapshot)))
        (is (re-find #"^skein: process \d+ is paused while it writes its heap of \d+ MB to a file\.\n$" err))
        (if stacks?
          (check-proofs edn text snapshot)
          (do (is (re-find #"lacks the stacks of virtual threads, .* nothing is proven" text))
              (is (= [{} []] [(proven text) (threads text)])))))
      (finally (.destroy process) (.delete edn)))))

(deftest a-heap-file-that-can-not-be-written
  (let [written (fn written [path] (spit path "x") (throw (ex-info "The disk is full." {})))]
    (is (thrown-with-msg? clojure.lang.ExceptionInfo #"disk is full" (heap/in-temporary-file written identity))))
  (let [program '(println (try (skein.inspect.heap/in-temporary-file identity identity)
                               (catch clojure.lang.ExceptionInfo e (ex-message e))))
        process (start class-path (list 'do '(require 'skein.inspect.heap) program) ["-Djava.io.tmpdir=/no/such/folder"])]
    (try
      (is (re-find #"^No heap file can be written: the temporary folder can't be used \(/no/such/folder" (.readLine (lines-of process))))
      (finally (.destroy process)))))

(deftest a-heap-file-that-is-broken-off-is-deleted
  (let [folder (volatile! nil)
        parts (fn parts [path] (vreset! folder (.getParentFile (io/file path))) (spit path "x") (spit (str path ".p0") "x") (throw (ex-info "It ended." {})))]
    (is (thrown-with-msg? clojure.lang.ExceptionInfo #"It ended" (heap/in-temporary-file parts identity)))
    (is (not (.exists ^File @folder))))
  (doseq [step [:write :read]]
    (let [program (list 'do '(require 'skein.inspect.heap)
                        (list 'let ['wait '(fn [path] (spit path "x") (println path) (read-line))]
                              (if (= :write step)
                                '(skein.inspect.heap/in-temporary-file wait identity)
                                '(skein.inspect.heap/in-temporary-file identity wait))))
          process (start class-path program [])]
      (try
        (let [file (io/file (.readLine (lines-of process)))]
          (is (.exists file))
          (.destroy process) ; by SIGTERM
          (.waitFor process)
          (is (not (.exists (.getParentFile file))) step))
        (finally (.destroy process))))))

(deftest heap-of-a-program-without-skein
  (let [process (start class-path '(do (println "up") (read-line)) []), pid (str (.pid process))]
    (try
      (is (= "up" (.readLine (lines-of process))))
      (let [[code out _] (run "ps" pid "--heap")]
        (is (= 0 code))
        (is (str/includes? out "\nThe program has not loaded Skein, so there are no blocks and channels.\n")))
      (finally (.destroy process)))))

(deftest other-threads-that-wait-are-counted
  (let [program '(do
                   (require '[skein.async :as a])
                   (import '(java.util.concurrent CompletableFuture CountDownLatch Executors Semaphore) '(java.net ServerSocket Socket))
                   (def permits (Semaphore. 0))
                   (def server (ServerSocket. 0))
                   (def entered (CountDownLatch. 2))
                   (def pool (Executors/newFixedThreadPool 2)) ; one thread in a task, the other idle
                   (.get (.submit pool ^Callable (fn [] :done)))
                   (.submit pool ^Callable (fn [] (.countDown entered) (.acquire permits)))
                   (def reply (a/go (with-open [s (Socket. "127.0.0.1" (.getLocalPort server))] ; its thread is shown with the block
                                      (.countDown entered)
                                      (.read (.getInputStream s)))))
                   (def reads (Thread/startVirtualThread ; makes the JDK start virtual threads of its own
                                (fn [] (with-open [s (Socket. "127.0.0.1" (.getLocalPort server))] (.read (.getInputStream s))))))
                   (.await entered)
                   (def waits [(doto (Thread. (fn [] (.acquire permits))) .start)
                               reads])
                   (while (not (every? (fn [^Thread t] (= Thread$State/WAITING (.getState t))) waits)) (Thread/onSpinWait))
                   (while (< (.getQueueLength permits) 2) (Thread/onSpinWait))
                   (println "hung")
                   (while true (Thread/onSpinWait)))
        process (start without-inspect program []), pid (str (.pid process))]
    (try
      (is (= "hung" (.readLine (lines-of process))))
      (let [[_ text] (run "ps" pid "--heap")]
        (is (re-find #"^1 block, 0 threads wait, " text))
        (is (re-find #"The snapshot shows no \"main\"\. .* jcmd \d+ Thread\.dump_to_file \"\$PWD/threads\.txt\" lists all threads\.\n$"
                     (peek (run "why" pid "main" "--heap"))) "the next step")
        (is (= (if (< 23 (.feature (Runtime/version))) "3" "2") (second (re-find #"\n(\d+) other threads wait; jcmd \S+ Thread\.dump_to_file" text)))))
      (finally (.destroy process)))))

(deftest heap-of-a-program-whose-scopes-never-end
  (let [program '(do
                   (require '[skein.async :as a] '[skein.scope :as s])
                   (defn watch [in] (a/<!! in))
                   (defn daemon [name f] (doto (Thread. ^Runnable f ^String name) (.setDaemon true) .start))
                   (let [begun (promise)]
                     (a/go (deliver begun true) (while (not (Thread/interrupted))))
                     @begun)
                   (do (daemon "awaits-a-block-that-blocks" (fn [] (s/scope [sc] (s/go sc (watch (a/chan)))))) nil)
                   (do (daemon "awaits-a-reader" (fn [] (s/scope [sc] (let [lines (a/chan)] (s/go sc (a/<! lines)))))) nil)
                   (println "hung")
                   @(promise))
        process (start without-inspect program roomy), pid (str (.pid process)), edn (temporary ".edn")]
    (try
      (is (= "hung" (.readLine (lines-of process))))
      (when-not stacks? (skip! "heap files of JDK 21 lack the stacks of virtual threads"))
      (when stacks?
        (watched/eventually #(do (is (= 0 (first (run "dump" pid (str edn) "--heap")))) ; perhaps the threads do not wait yet
                                 (re-find #"3 blocks \(2 stuck\), 4 threads wait" (nth (run "ps" (str edn)) 1))))
        (let [why (fn why [waiter] (nth (run "why" (str edn) waiter) 1)), text (nth (run "ps" (str edn)) 1)
              never "No running code can reach that, so it waits for ever\\."]
          (is (re-find (re-pattern (str "PROVEN  thread awaits-a-reader, .*, waits for the end of scope-\\d+\\. " never " The scope ends when its children have ended: go-\\d+\\.")) text))
          (is (re-find (re-pattern (str "PROVEN  thread skein-worker-\\d, which runs go-\\d+, NO_SOURCE_FILE:1 user/watch, waits for chan-\\d+\\. " never)) text))
          (is (re-find #"(?m)^3 blocks \(2 stuck\), 4 threads wait, at " text))
          (is (= [:runnable :waiting] (sort (map (comp :state :on) (inspect/blocks {:state :running} (inspect/read-snapshot (str edn)))))))
          (is (= 2 (count (re-seq #"(?m)^    1  stuck    NO_SOURCE_FILE" text))))
          (is (= 2 (count (re-seq #"scope-\d+ of thread awaits-.*, has children: go-\d+" text))))
          (is (re-find (re-pattern (str "^thread awaits-a-block-that-blocks, .*, waits for the end of scope-\\d+\\. go-\\d+, NO_SOURCE_FILE:1 user/watch, waits for chan-\\d+, and blocks thread skein-worker-\\d\\. " never))
                       (why "awaits-a-block-that-blocks")))))
      (finally (.destroy process) (.delete edn)))))

(deftest heap-of-a-program-whose-main-thread-joins-the-one-that-hangs
  (let [program '(do
                   (require '[skein.async :as a])
                   (let [hangs (doto (Thread. (fn [] (a/<!! (a/chan))) "hangs") .start)]
                     (while (not= Thread$State/WAITING (.getState hangs)) (Thread/onSpinWait))
                     (println "hung")
                     (.join hangs)))
        process (start class-path program []), pid (str (.pid process))]
    (try
      (is (= "hung" (.readLine (lines-of process))))
      (let [[code out _] (run "ps" pid "--heap")]
        (is (= 0 code))
        (is (re-find #"thread hangs, .*waits for chan-\d+" out))
        (is (not (str/includes? out "PROVEN")) "the main thread could interrupt it"))
      (finally (.destroy process)))))

(deftest a-process-without-the-module-and-a-file-cut-short
  (let [process (start without-inspect program roomy), pid (str (.pid process)), file (temporary ".hprof"), path (str file)]
    (try
      (is (= "hung" (.readLine (lines-of process))))
      (let [[code out _] (run "ps" pid "--heap")]
        (is (= 0 code))
        (is (= (if stacks? named {}) (proven out)) "the file has the places"))
      (.waitFor (.start (ProcessBuilder. ^List (list (str (System/getProperty "java.home") "/bin/jcmd") pid "GC.heap_dump" "-all" path))))
      (is (= (if stacks? named {}) (proven (nth (run "ps" path) 1))))
      (testing "a file that is cut short anywhere is reported"
        (let [size (.length file)]
          (doseq [length [(dec size) (- size 9) (quot size 2) 40]]
            (with-open [f (RandomAccessFile. file "rw")] (.setLength f length))
            (is (= [1 "" (str "skein: " path " can't be read as a heap file: it is cut short at byte " length ".\n")]
                   (run "ps" path))))))
      (doseq [[text why] {"" "is neither a heap file nor a dump of the inspector: it is not EDN. A dump"
                          "no heap file, but some text" "is neither a heap file nor a dump of the inspector: it holds no snapshot. A dump"
                          "JAVA PROFILE" "can't be read as a heap file: it does not begin like a heap file."}]
        (spit file text)
        (let [[code _ err] (run "ps" path)]
          (is (= 1 code))
          (is (str/starts-with? err (str "skein: " path " " why)))))
      (finally (.destroy process) (.waitFor process) (io/delete-file file true)))
    (is (re-find #"there is no such process" (peek (run "ps" pid "--heap"))))))
