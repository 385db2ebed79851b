;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.story-test
  "Reports on deadlocks and leaks name what each task waits in, not what it did before."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! >!! chan go timeout]]
   [skein.sim :as sim]
   [skein.virtual :as virtual])
  (:import
   (java.util.concurrent.locks Lock ReentrantLock)
   (skein.sim.rt Trace$Event)))

(set! *warn-on-reflection* true)

(defmacro ^:private told
  "Evaluates to the failure of one run of the body, and the lines of its report on waiting tasks, as [error [line]]."
  [& body]
  `(let [{failure# :failure text# :text} (sim/run ~@body)]
     [failure# (filterv #(re-find #"^  (main|go-\d+|thread-\d+) +waits" %) (str/split-lines (str text#)))]))

(defn- all-outside?
  "Returns whether each of the `n` tasks of a deadlock waits outside of channels."
  [n [error lines]]
  (and (= :skein/sim-deadlock error)
       (= n (count lines))
       (every? #(re-find #"waits +story_test.clj:\d+ +in java.util.concurrent or a lock$" %) lines)))

(deftest a-wait-outside-of-channels-is-not-reported-by-an-earlier-port
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
  "Returns what the last line of `told` says after the place."
  [[_ lines]]
  (second (re-find #"story_test.clj:\d+ +(.*)$" (str (peek lines)))))

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
    (is (= "needs go-2"
           (reason (told (let [c (chan 2)]
                           (go (>! c 1))
                           (go (>! c 2) (<! (chan)))
                           (<!! (go (<! c) (<! c) (<! c))))))))))

(deftest threads-in-each-others-locks-wait-outside-of-channels
  (is (all-outside? 3 (told (let [x (ReentrantLock.), y (ReentrantLock.)
                                  cross (fn [^Lock a ^Lock b]
                                          (virtual/future (.lock a) (<!! (timeout 1)) (.lock b)))
                                  p (cross x y), q (cross y x)]
                              [@p @q]))))
  (when (<= 24 (.feature (Runtime/version))) ; before, a thread that waits for a monitor keeps its carrier
    (is (all-outside? 3 (told (let [x (Object.), y (Object.)
                                    cross (fn [a b] (virtual/future (locking a (<!! (timeout 1)) (locking b 1))))
                                    p (cross x y), q (cross y x)]
                                [@p @q]))))))

(deftest a-block-that-blocks-after-its-put-leaves-no-value-behind
  (is (= [nil []] (told (let [c (chan 1), p (promise)] (go (>! c 1) @p) nil))))
  (let [[error _ :as all] (told {:leaks :all} (let [c (chan 1), p (promise)] (go (>! c 1) @p) nil))]
    (is (= :skein/sim-leak error))
    (is (all-outside? 1 (assoc all 0 :skein/sim-deadlock)))))

(deftest a-leak-names-the-value-only-of-a-put
  (is (str/starts-with? (:text (sim/run {:leaks :all} (let [c (chan 1), p (promise)] (go (>! c 1) @p) nil)))
                        "go-1 is left behind when the body has ended. main has spawned it.")))

(deftest a-deadlock-of-semaphores-shows-who-has-taken-which
  (let [{:keys [text]} (sim/run (let [s (virtual/semaphore 1)]
                                  (virtual/with-permit s (virtual/with-permit s 1))))]
    (is (re-find #"main +takes a permit of semaphore-1, takes a permit of semaphore-1 +story_test.clj" (str text))))
  (is (some #(= "release" (.what ^Trace$Event %))
            (:events (sim/run (virtual/with-permit (virtual/semaphore 1) 1))))))
