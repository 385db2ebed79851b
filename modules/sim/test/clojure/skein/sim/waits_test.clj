;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.waits-test
  "Reports on deadlocks and leaks name what each task waits in, not what it did before."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! >!! chan go timeout]]
   [skein.async.limit :refer [concurrency-limiter with-permit]]
   [skein.async.streams :as st]
   [skein.inspect :as inspect]
   [skein.scope :as scope]
   [skein.sim :as sim]
   [skein.skip :refer [skip!]]
   [skein.virtual :as virtual])
  (:import
   (java.util.concurrent CompletableFuture Semaphore)
   (java.util.concurrent.locks Lock ReentrantLock)))

(set! *warn-on-reflection* true)

(defmacro ^:private told
  "Evaluates to the failure of one run of the body, and the lines of its report on waiting tasks, as [error [line]]."
  [& body]
  `(let [{failure# :failure text# :text} (sim/run ~@body)]
     [failure# (filterv #(re-find #"^  (main|go-\d+|thread-\d+), waits_test.*, waits" %) (str/split-lines (str text#)))]))

(defn- all-outside?
  "Returns whether each of the `n` tasks of a deadlock waits outside of channels."
  [n [error lines]]
  (and (= :skein/sim-deadlock error)
       (= n (count lines))
       (every? #(re-find #"waits_test.clj:\d+(?: \([^,]*\))?, waits for (?:a |the result |something )" %) lines)))

(deftest the-inspector-shows-a-failed-simulation
  (let [file (doto (java.io.File/createTempFile "failure" ".edn") .deleteOnExit)
        {:keys [text snapshot]} (sim/run (let [x (chan 1), y (chan 1)
                                               p (go (>! x 1) (<! y) (>! x 2) (>! x 3))]
                                           (go (>! y 1) (<! x) (>! y 2) (>! y 3))
                                           (<!! p)))]
    (inspect/dump! {:to file} snapshot)
    (let [shown (inspect/read-snapshot file), why (inspect/why "main" shown)]
      (is (= [:cycle ["main" "go-1" "go-2"]] [(:ends why) (map (some-fn :id :tid) (:chain why))]))
      (is (= [[:proven :deadlock 2 1]]
             (map (juxt :verdict :kind (comp count :blocks) (comp count :threads)) (inspect/deadlocks {} shown))))
      (testing "in the same sentences"
        (doseq [sentence (re-seq #"(?m)^  (\S+, .*?, waits .*?\.)(?: |$)" text)]
          (is (str/includes? (with-out-str (inspect/dump! nil shown)) (second sentence))))))))

(deftest a-wait-outside-of-channels-names-no-earlier-port
  (testing "two threads that have put, and wait for a promise"
    (is (all-outside? 3 (told (let [c (chan 2), p (promise)
                                    wait (fn [] (virtual/future (>!! c 1) @p))
                                    x (wait), y (wait)]
                                [@x @y])))))
  (testing "a thread that has put and taken"
    (is (all-outside? 2 (told (let [c (chan 2), p (promise)] @(virtual/future (>!! c 1) (<!! c) @p))))))
  (testing "a thread that has changed an atom"
    (is (all-outside? 2 (told (let [n (atom 0), p (promise)] @(virtual/future (swap! n inc) @p))))))
  (testing "a block that has put, and blocks"
    (is (all-outside? 2 (told (let [c (chan 1), p (promise), q (promise)] (go (>! c 1) @p) @q)))))
  (testing "a thread whose take was interrupted"
    (is (all-outside? 2 (told (let [c (chan), p (promise)
                                    t (virtual/future (try (<!! c) (catch InterruptedException _)) @p)]
                                (sim/settle)
                                (future-cancel t)
                                @p))))))

(defn- reason
  "Returns what the last line of `told` says after what the task waits for."
  [[_ lines]]
  (second (re-find #", waits .*?\. (.*)\.$" (str (peek lines)))))

(deftest a-wait-for-tasks-that-have-ended-says-so
  (testing "a channel that was not closed"
    (is (= "go-1 has ended, and nobody has closed it"
           (reason (told (let [c (chan 2)]
                           (go (>! c 1))
                           (<!! (go (<! c) (<! c))))))))
    (is (= "go-1 and go-2 have ended, and nobody has closed it"
           (reason (told (let [c (chan 2)]
                           (go (>! c 1))
                           (go (>! c 2))
                           (<!! (go (<! c) (<! c) (<! c)))))))))
  (testing "a taker that has ended"
    (is (= "go-1 has ended, and nobody else takes from it"
           (reason (told (let [c (chan)]
                           (go (<! c))
                           (>!! c 1)
                           (<!! (go (>! c 2)))))))))
  (testing "a task that needs itself and tasks that have ended is in no cycle"
    (is (= "go-1 has ended, and nobody has closed it"
           (reason (told (let [c (chan 1)]
                           (go (>! c 1))
                           (<!! (go (<! c) (a/alts! [c])))))))))
  (testing "of two, one is left"
    (is (= "go-2 has put on it"
           (reason (told (let [c (chan 2)]
                           (go (>! c 1))
                           (go (>! c 2) (<! (chan)))
                           (<!! (go (<! c) (<! c) (<! c))))))))))

(defn- reasons
  "Returns {task text} of all lines of `told`, with what each says after the place."
  [[_ lines]]
  (into {} (map #(vec (rest (re-find #"^  (\S+), .*?, waits (.*)$" %)))) lines))

(deftest who-has-used-a-channel-is-told-not-who-will
  (testing "a pool: the body has put the connection there once, and go-1 has it"
    (let [borrow (fn [pool jobs wait]
                   (>!! pool :conn)
                   (wait [(go (let [c (<! pool)] (dotimes [i 3] (>! jobs i)) (>! pool c)))
                          (go (dotimes [_ 3] (let [c (<! pool)] (<! jobs) (>! pool c))))]))
          expected {"go-1" "to put on chan-2 (1/1 full). Nobody has taken from it."
                    "go-2" "for chan-1 (0/1). main has put on it. go-1 has taken from it."}]
      (is (= (assoc expected "main" "for the result of go-1.")
             (reasons (told (borrow (chan 1) (chan 1) (fn [[p q]] (<!! p) (<!! q)))))))
      (is (= (assoc expected "main" "for the result of go-2.")
             (reasons (told (borrow (chan 1) (chan 1) (fn [[p q]] (<!! q) (<!! p)))))))))
  (testing "a limiter: who has taken its permit may give it back"
    (is (= {"main" "for the result of go-2.", "go-1" "for chan-1. Nobody has put on it, and nobody has closed it."
            "go-2" "for a permit of limiter-1 (1 of 1 in use). go-1 has taken from it."}
           (reasons (told (let [one (concurrency-limiter 1)]
                            (go (<! one) (<! (chan)))
                            (<!! (go (<! one)))))))))
  (testing "a permit that was given back earlier does not count as free; the limiter's name is shown"
    (let [[_ [_ _ line]] (told (let [db (concurrency-limiter {:n 1 :name "db"})]
                                 (go (with-permit db) (with-permit db (<! (chan))))
                                 (<!! (go (with-permit db)))))]
      (is (re-find #"go-2, .* waits for a permit of db \(1 of 1 in use\)\. go-1 has taken from it\.$" line))))
  (testing "a permit whose task has ended, but not one that was given back"
    (is (= "go-2 has taken from it and has ended"
           (reason (told (let [one (concurrency-limiter 1)]
                           (<!! (go (with-permit one)))
                           (<!! (go (<! one)))
                           (<!! (go (with-permit one)))))))))
  (testing "a permit of the task itself"
    (is (= "go-1 has taken from it"
           (reason (told (let [one (concurrency-limiter 1)]
                           (<!! (go (with-permit one (with-permit one))))))))))
  (testing "an alts! with other ports does not need the block"
    (is (= {"main" "for the result of go-1 or for chan-1. Nobody has put on it, and nobody has closed it."
            "go-1" "for chan-2. Nobody has put on it, and nobody has closed it."}
           (reasons (told (a/alts!! [(go (<! (chan))) (chan)]))))))
  (testing "an alts! may have chosen another port"
    (is (= "go-1 has put on it or tried to"
           (reason (told (let [c (chan), d (chan 1)]
                           (go (a/alts! [[c 1] [d 1]] :priority true) (<! (chan)))
                           (<!! (go (<! c)))))))))
  (testing "an alts! that has taken from a channel has not put on it"
    (is (= {"main" "to put on chan-1. Nobody has taken from it."
            "go-1" "for chan-2 or to put on chan-3. Nobody has served any of them, and nobody has closed any of them."}
           (reasons (told (let [c (chan), d (chan)]
                            (go (a/alts! [c [d 1]]))
                            (>!! (chan) 1))))))))

(deftest tasks-that-only-each-other-has-served-are-in-a-cycle
  (testing "each fills the other's channel"
    (is (= {"main" "for the result of go-1.", "go-1" "to put on chan-1 (1/1 full). go-2 has taken from it.   <- cycle"
            "go-2" "to put on chan-2 (1/1 full). go-1 has taken from it.   <- cycle"}
           (reasons (told (let [x (chan 1), y (chan 1)
                                swap (fn [to from] (go (>! to 1) (<! from) (>! to 2) (>! to 3) (<! from)))
                                p (swap x y)]
                            (swap y x)
                            (<!! p)))))))
  (testing "the body waits for a worker, which waits for a job; other workers are in no cycle"
    (is (= {"main" "for the result of go-1.   <- cycle", "go-1" "for chan-1. main has put on it.   <- cycle"
            "go-2" "for chan-1. main has put on it."}
           (reasons (told (let [jobs (chan)
                                work (fn [] (go (while (<! jobs))))
                                p (work)]
                            (work)
                            (>!! jobs 1)
                            (>!! jobs 2)
                            (<!! p))))))))

(deftest a-task-of-skeins-own-code-has-the-line-that-started-it
  (let [{:keys [text]} (sim/run (let [in (chan), out (st/pmap 3 (fn [x] (virtual/sleep 5) x) in)]
                                  (a/onto-chan! in (range 40))
                                  (dotimes [_ 3] (<!! out))
                                  (<!! (a/into [] (chan)))))]
    (is (every? #(re-find #" waits_test.clj:\d+" %) (filter #(re-find #"^  (main|go-\d+|thread-[\d.]+), |[<>]!|spawns" %)
                                                            (str/split-lines text))))
    (is (not (str/includes? text "see the option :outside")) "no other thread can end a wait in Skein's own code")
    (is (re-find #"\.\.\. \d+ more" text)))
  (testing "the word spawns is written once for tasks that are spawned in a row"
    (is (re-find #"main +spawns go-1, go-2, >! chan-1 1, spawns go-3"
                 (:text (sim/run (let [c (chan 1)] (go 1) (go 2) (>!! c 1) (go 3) (<!! (chan)))))))))

(deftest a-channel-on-which-a-callback-waits-is-named
  (let [stopped (fn []
                  (let [source (chan 1), m (a/mult source), unread (a/label! (chan 1) "unread"), sum (chan 1)]
                    (a/tap m unread)
                    (a/tap m sum)
                    (a/onto-chan! source (range 5))
                    (<!! (a/reduce + 0 sum))))]
    (doseq [threads [:auto :none]]
      (is (re-find #"\n  unread \(1/1 full\): nobody waits to take, callback \S*mult\S* to put\. Nobody has taken from it\.\n"
                   (:text (sim/run {:threads threads} (stopped)))))))
  (testing "a put by a block or a thread is none"
    (is (not (str/includes? (:text (sim/run {:threads :none} (let [c (chan)] (go (>! c 1)) (>!! c 2)))) "callback")))))

(deftest threads-in-each-others-locks-wait-outside-of-channels
  (is (all-outside? 3 (told (let [x (ReentrantLock.), y (ReentrantLock.)
                                  cross (fn [^Lock a ^Lock b]
                                          (virtual/future (.lock a) (<!! (timeout 1)) (.lock b)))
                                  p (cross x y), q (cross y x)]
                              [@p @q]))))
  (if (< (.feature (Runtime/version)) 24)
    (skip! "before JDK 24 a thread that waits for a monitor keeps its carrier")
    (is (all-outside? 3 (told (let [x (Object.), y (Object.)
                                    cross (fn [a b] (virtual/future (locking a (<!! (timeout 1)) (locking b 1))))
                                    p (cross x y), q (cross y x)]
                                [@p @q]))))))

(deftest a-report-says-what-a-thread-waits-for-outside-of-channels
  (testing "results and promises"
    (doseq [start [(fn [f] (virtual/future (f))) (fn [f] (future (f)))]]
      (is (= {"main" "for the result of thread-1.", "thread-1" "for a promise."}
             (reasons (told (let [p (promise)] @(start (fn [] @p)))))))))
  (testing "monitors"
    (if (< (.feature (Runtime/version)) 25)
      (skip! "before JDK 25 the dump of threads has no monitors")
      (is (= {"main" "for the result of thread-1.", "thread-1" "for a monitor, which thread-2 holds.   <- cycle"
              "thread-2" "for a monitor, which thread-1 holds.   <- cycle"}
             (reasons (told (let [x (Object.), y (Object.)
                                  cross (fn [a b] (virtual/future (locking a (<!! (timeout 1)) (locking b 1))))
                                  p (cross x y), q (cross y x)]
                              [@p @q])))))))
  (testing "only for a wait that a thread outside could end is the option :outside named"
    (let [hint? (fn [{:keys [text]}] (str/includes? text "see the option :outside"))]
      (is (hint? (sim/run (.get (CompletableFuture.)))))
      (is (re-find #"main, waits_test.clj:\d+, waits for a CompletableFuture\." (:text (sim/run (.get (CompletableFuture.))))))
      (is (not (hint? (sim/run (<!! (chan))))))
      (is (not (hint? (sim/run (.acquire (Semaphore. 0))))))
      (is (not (hint? (sim/run @(virtual/future (<!! (chan))))))))))

(deftest a-wait-for-the-end-of-a-scope-names-the-children
  (let [stopped (fn [run] (let [{:keys [text] :as result} (run)]
                            (is (= :skein/sim-deadlock (:failure result)))
                            (is (not (str/includes? text "see the option :outside")))
                            text))]
    (testing "of a thread"
      (is (re-find #"main, waits_test.clj:\d+, waits for the end of scope-1\. The scope ends when its children have ended: go-1\.\n"
                   (stopped #(sim/run (scope/scope [s] (scope/go s (<! (chan)))))))))
    (testing "with several children"
      (is (re-find #"main, waits_test.clj:\d+, waits for the end of scope-1\. The scope ends when its children have ended: go-1, thread-1\.\n"
                   (stopped #(sim/run (scope/scope [s] (scope/go s (<! (chan))) (scope/fork s (<!! (chan)))))))))
    (testing "of a block, after a scope that has ended"
      (let [text (stopped #(sim/run (<!! (go (scope/scope [s] (scope/go s (<! (timeout 1))))
                                             (scope/scope [s] (scope/go s (<! (chan))))))))]
        (is (re-find #"go-1, waits_test.clj:\d+ .*, waits for the end of scope-2\. .*: go-1.2\.\n" text))
        (is (re-find #" go-1 .*spawns go-1.1, waits for the end of scope-1" text))
        (is (re-find #" go-1 .*its scope has ended" text))
        (is (re-find #"go-1.2, .*, waits for chan-1\. " text))))
    (testing "the body of a scope waits as other code does"
      (is (re-find #"main, .*, waits for chan-1\. " (stopped #(sim/run (scope/scope [_] (<!! (chan))))))))
    (testing "in Skein's own code, or for a thread"
      (is (re-find #"main, waits_test.clj:\d+, waits for something in Skein's own code\.\n" (stopped #(sim/run (virtual/race (fn [] (<!! (chan))))))))
      (is (re-find #"main, waits_test.clj:\d+, waits for the result of thread-1\.\n" (stopped #(sim/run (virtual/all (fn [] (<!! (chan))))))))
      (is (re-find #"main, waits_test.clj:\d+, waits for the end of a thread\."
                   (stopped #(sim/run (.join (Thread/startVirtualThread (fn [] (<!! (chan))))))))))))

(deftest a-block-that-blocks-after-its-put-leaves-no-value-behind
  (is (= [nil []] (told (let [c (chan 1), p (promise)] (go (>! c 1) @p) nil))))
  (let [[error _ :as all] (told {:leaks :all} (let [c (chan 1), p (promise)] (go (>! c 1) @p) nil))]
    (is (= :skein/sim-leak error))
    (is (all-outside? 1 (assoc all 0 :skein/sim-deadlock)))))

(deftest a-leak-names-the-value-only-of-a-put
  (is (str/starts-with? (:text (sim/run {:leaks :all} (let [c (chan 1), p (promise)] (go (>! c 1) @p) nil)))
                        "go-1 is left behind when the body has ended. main has spawned it.")))

(defn- scope-in-a-function []
  (scope/scope [s]
    (scope/go s (<! (timeout 1)))
    2))

(deftest a-scope-that-would-block-a-block-needs-opens
  (is (= :skein/sim-unsupported (:failure (sim/run {:threads :none} (<!! (go (scope-in-a-function))))))))
