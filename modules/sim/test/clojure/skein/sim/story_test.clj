;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.story-test
  "A story tells what has happened, and where."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! >!! chan go timeout]]
   [skein.async.limit :refer [concurrency-limiter with-permit]]
   [skein.scope :as scope]
   [skein.sim :as sim]
   [skein.virtual :as virtual]))

(set! *warn-on-reflection* true)

(defn- busy
  "Takes many steps that have no part in a failure."
  []
  (let [c (chan)]
    (go (dotimes [i 20] (>! c i)) (a/close! c))
    (while (<!! c))))

(defn- loses-an-update []
  (busy)
  (sim/note "the note")
  (busy)
  (let [n (atom 0), add (fn [] (go (let [x @n] (reset! n (inc x))))), ports [(add) (add)]]
    (run! <!! ports)
    (busy)
    (assert (= 2 @n))))

(defn- message-of [f]
  (binding [clojure.test/*testing-vars* nil]
    (try (f) nil (catch clojure.lang.ExceptionInfo e (ex-message e)))))

(deftest a-long-story-keeps-deviations-and-notes
  (let [short (message-of #(sim/check {:seed 1} (loses-an-update)))
        token (second (re-find #"SKEIN_SIM=(\S+)" short))
        whole (message-of #(sim/replay token (loses-an-update)))]
    (is (re-find #"\n +\.\.\. \d+ more\n" short))
    (is (str/includes? short "the note"))
    (is (re-find #"reads atom-1 = 0.*\n !.*reads atom-1 = 0.*sets atom-1 = 1.*deviation.*\n.*sets atom-1 = 1" short))
    (testing "a replay shows all"
      (is (not (re-find #" more\n" whole)))
      (is (< 100 (count (re-seq #"\n[ !]+\d+  " whole)))))))

(deftest a-story-tells-what-was-set-and-what-failed
  (let [{:keys [text]} (sim/run (let [n (atom 0), c (chan 1)]
                                  (swap-vals! n inc)
                                  (reset-vals! n 5)
                                  (compare-and-set! n 5 6)
                                  (compare-and-set! n 5 7)
                                  (a/offer! c 1)
                                  (a/offer! c 2)
                                  (a/poll! c)
                                  (a/poll! c)
                                  (throw (ex-info "end" {}))))]
    (is (= ["sets atom-1 = 1" "sets atom-1 = 5" "sets atom-1 = 6" "compare-and-set! of atom-1 fails"
            "offer! chan-1 1" "offer! chan-1 2, its offer! fails" "poll! chan-1" "poll! chan-1, its poll! gets nothing"]
           (map second (re-seq #"main  (.*?)  +story_test" text))))))

(defn- steps
  "Returns what a story says that the task called `who` does."
  [who text]
  (mapcat (fn [[_ actions]] (str/split actions #", (?!as the )"))
          (re-seq (re-pattern (str "\\d  " who " +(\\S.*?)(?:  +story_test|\n|$)")) text)))

(deftest a-story-tells-what-a-block-has-got-not-what-it-does-next
  (let [{:keys [text]} (sim/run (let [c (chan), d (chan)]
                                  (go (<! (timeout 10)) (>! c 1) (>! d 2))
                                  (<!! (go (<! c) nil))
                                  (<!! (timeout 10))
                                  (<!! d)
                                  (throw (ex-info "end" {}))))]
    (is (= ["<! timeout-1" "has got nil from timeout-1" ">! chan-1 1" ">! chan-2 2" "its put is done"]
           (steps "go-1" text)))
    (is (= ["<! chan-1" "has got 1 from chan-1" "ends"] (steps "go-2" text)))))

(deftest a-story-has-the-names-of-labels
  (let [{:keys [text]} (sim/run (let [c (a/label! (chan) "orders"), n (a/label! (atom 1) "sum")]
                                  (<!! (go (scope/scope [s]
                                             (a/label! s "import")
                                             (a/label! (scope/go s (>! c @n) (<! (timeout 5))) "reader")
                                             (<! c))))
                                  (throw (ex-info "end" {}))))]
    (is (= ["spawns reader" "<! orders" "waits for the end of import" "its scope has ended" "ends"]
           (remove #(re-find #"^has got" %) (steps "go-1" text))))
    (is (= ["reads sum = 1" ">! orders 1"] (take 2 (steps "reader" text))))))

(deftest a-put-on-a-closed-channel-fails-in-the-story
  (let [failing (fn [f] (:text (sim/run (let [c (chan 1)] (a/close! c) (f c) (throw (ex-info "end" {}))))))]
    (is (= ["close! chan-1" ">! chan-1 1" "its put fails, as the channel is closed"] (steps "main" (failing #(>!! % 1)))))
    (is (= ["close! chan-1" ">! chan-1 1" "its put fails, as the channel is closed"] (steps "main" (failing #(a/put! % 1)))))
    (is (= [">! chan-1 1" "its put fails, as the channel is closed" "ends"] (steps "go-1" (failing #(<!! (go (>! % 1)))))))
    (is (= ["close! chan-1" "alts! chan-1" "its put fails, as the channel is closed"] (steps "main" (failing #(a/alts!! [[% 1]])))))
    (testing "another task closes the channel first"
      (is (re-find #"go-1 .*>! chan-1 1 .*\n.*go-2 .*close! chan-1.*\n.*go-1 +its put fails, as the channel is closed"
                   (message-of #(sim/check {:seed 1}
                                  (let [c (chan 1), n (atom 0), port (go (reset! n 1) (>! c 1))]
                                    (go (when (= 1 @n) (a/close! c)))
                                    (assert (<!! port))))))))))

(deftest a-cancelled-take-has-got-nothing
  (let [{:keys [text]} (sim/run (let [c (chan)]
                                  (scope/scope [s] (scope/go s (try (<! c) (catch java.util.concurrent.CancellationException _))) (sim/settle) (scope/cancel! s))
                                  (throw (ex-info "end" {}))))]
    (is (= ["<! chan-1" "is cancelled"] (take 2 (steps "go-1" text))) text)))

(deftest each-task-has-a-name-of-its-own
  (let [{:keys [text]} (sim/run (let [a (go (<! (go (<! (go 1))))), b (virtual/future (<!! (go 2)))]
                                  (<!! a)
                                  @b
                                  (throw (ex-info "end" {}))))]
    (is (= #{"main" "go-1" "go-1.1" "go-1.1.1" "thread-1" "thread-1/go-1"}
           (set (map second (re-seq #"(?m)^[ !]+\d+  (\S+)" text)))))
    (is (re-find #"thread-1 +spawns thread-1/go-1" text))))

(deftest each-deviation-is-marked
  (let [marks (fn [text] [(parse-long (second (re-find #"(?:to|with) (\d+)" text))) (count (re-seq #"(?m)^ !" text))])]
    (testing "a step that does nothing that the story tells"
      (is (= [1 1] (marks (message-of #(sim/check {:seed 1}
                                         (let [q (java.util.ArrayList.)
                                               late (fn [x] (virtual/future (virtual/sleep 10) (.add q x)))
                                               futures [(late 1) (late 2)]]
                                           (run! deref futures)
                                           (assert (= [1 2] (vec q))))))))))
    (testing "a draw"
      (is (= [1 1] (marks (message-of #(sim/check {:seed 1} (assert (= 1 (sim/pick [1 2])))))))))))

(deftest a-story-tells-what-was-delivered-and-cancelled
  (let [{:keys [text]} (sim/run (let [p (promise)]
                                  (deliver p 1)
                                  (deliver p 2)
                                  (future-cancel (virtual/future (<!! (chan))))
                                  (future-cancel (doto (virtual/future 1) deref))
                                  (scope/scope [s] (scope/cancel! s))
                                  (let [one (concurrency-limiter 1)] (with-permit one))
                                  (throw (ex-info "end" {}))))]
    (is (= ["delivers 1" "delivers 2" "it is too late" "spawns thread-1" "cancels a future" "spawns thread-2" "cancels a scope"
            "<! limiter-1" "gives back a permit of limiter-1"]
           (steps "main" text)))))
