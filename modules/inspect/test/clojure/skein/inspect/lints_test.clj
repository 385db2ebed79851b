;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.lints-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.async :as a :refer [<! <!! >! >!! alts! async chan go timeout]]
   [skein.deadline :refer [await-port]]
   [skein.inspect :as inspect]
   [skein.inspect.watched :as watched]
   [skein.scope :as scope])
  (:import
   (java.util.concurrent CountDownLatch)
   (skein.inspect Pinning)))

(set! *warn-on-reflection* true)

(use-fixtures :each watched/fresh)

(defn- told
  "Waits until the lint `lint` reports on the program, and returns the sentence."
  [lint]
  (watched/eventually #(some (fn of [l] (when (= lint (:lint l)) (:says l))) (inspect/lints))))

(deftest loops-on-a-closed-channel
  (let [closed (doto (chan) a/close!), stop (atom false)
        ports [(go (while (not @stop) (<! closed))) (go (while (not @stop) (>! closed 1)))]]
    (is (re-find #"lints_test\.clj:\d+ \(<! closed\), has found the same channel closed \d+ times in a row" (told :nil-loop)))
    (is (re-find #"\(>! closed 1\), has found" (told :put-after-close)))
    (reset! stop true)
    (run! await-port ports))
  (testing "results that are nil are no such loop"
    (let [stop (atom false), n (atom 0)
          port (go (while (not @stop) (<! (go (swap! n inc) nil))))]
      (watched/eventually #(< 5000 (long @n)))
      (is (= [] (filter (comp #{:nil-loop} :lint) (inspect/lints))))
      (reset! stop true)
      (await-port port))))

(deftest takes-that-pile-up
  (let [c (chan), ports (vec (repeatedly 800 #(go (<! c))))]
    (watched/eventually #(= 800 (count (inspect/blocks {:state :parked}))))
    (is (re-find #"800 takes wait, of at most 1024: 800 at lints_test\.clj:\d+ \(<! c\)" (told :pending)))
    (a/close! c)
    (run! await-port ports)))

(deftest blocks-that-a-timer-holds
  (let [day (timeout 86400000), ports (vec (repeatedly 500 #(go (alts! [day (chan)]))))]
    (watched/eventually #(= 500 (count (inspect/blocks {:state :parked}))))
    (is (re-find #"holds 500 blocks for \d+ min .*: 500 at lints_test\.clj:\d+ \(alts! \[day \(chan\)\]\)" (told :retained-by-timer)))
    (testing "not in a heap, which has no times"
      (is (= [] (inspect/lints (update (inspect/snapshot) :channels #(mapv (fn timeless [c] (dissoc c :remaining-ms)) %))))))
    (a/close! day)
    (run! await-port ports))
  (testing "and those of one place, even if the oldest one waits for a timer of less than a minute"
    (let [due-soon (timeout 50000), timeouts (vec (repeatedly 1001 #(timeout 86400000)))
          wait (fn wait [t] (go (<! t)))
          ports (mapv wait (cons due-soon timeouts))]
      (watched/eventually #(= 1002 (count (inspect/blocks {:state :parked}))))
      (is (some #(re-find #"and 1000 more, lints_test\.clj:\d+ \(<! t\), each wait for a timer of more than a minute" (:says %)) (inspect/lints)))
      (run! a/close! (cons due-soon timeouts))
      (run! await-port ports))))

(deftest uncaught-exceptions
  (let [handler (Thread/getDefaultUncaughtExceptionHandler)]
    (Thread/setDefaultUncaughtExceptionHandler (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ _])))
    (try
      (testing "of a consumer whose producer still waits"
        (let [c (chan), producer (go (>! c 1) (>! c 2))]
          (go (throw (IllegalStateException. (str "after " (<! c)))))
          (is (re-find #"java\.lang\.IllegalStateException on thread .*, at lints_test\.clj:\d+" (told :dropped-error)))
          (a/close! c)
          (<!! c)
          (await-port producer)))
      (testing "of an async block whose port was dropped"
        ((fn [] (async (throw (UnsupportedOperationException.)))))
        (is (watched/eventually #(do (System/gc)
                                     (some (fn [{:keys [says]}] (str/includes? says "UnsupportedOperation")) (inspect/lints))))))
      (finally (Thread/setDefaultUncaughtExceptionHandler handler)))))

(deftest exceptions-of-one-place-are-one-report
  (let [failure (fn failure [line] {:at-ms 0 :thread "t" :exception "E" :site {:file "a.clj" :line line}})
        snapshot {:skein/snapshot 1 :blocks [] :threads [] :channels [] :failures (map failure [3 4 3 3])}]
    (is (= [[3 "A E on thread t, at a.clj:3, and 2 more of that place were neither caught nor taken."]
            [1 "A E on thread t, at a.clj:4, was neither caught nor taken."]]
           (map (juxt :count :says) (inspect/lints snapshot))))))

(deftest steps-that-block-or-compute
  (let [in (chan), waits (go ((fn take-it [] (<!! in))))]
    (is (re-find #"^go-\d+, .* has blocked its thread for .*, at lints_test\.clj:\d+ .*/take-it.*, waiting for chan-\d+\. Other blocks run meanwhile\. A block keeps its thread unless it waits with `<!`, `>!` or `alts!` in its own body\.$"
                 (told :blocked)))
    (a/close! in)
    (await-port waits))
  (let [release (CountDownLatch. 1), stop (atom false)
        blocked (go (.await release))
        _ (is (re-find #"has blocked its thread for \d+\.\d s, at lints_test\.clj:\d+[^,]*\. Other blocks" (told :blocked)))
        computing (vec (repeatedly 1000 #(go (while (not @stop)))))]
    (is (re-find #"(?:has|have) computed for .* in one step, at lints_test\.clj:\d+ .*, while \d+ blocks? wants? to run" (told :hog)))
    (reset! stop true)
    (.countDown release)
    (run! await-port (cons blocked computing))))

(deftest a-step-that-waits-for-the-lock-of-a-channel-computes
  (let [locked (CountDownLatch. 1), release (CountDownLatch. 1)
        c (chan 1 (map (fn keep-lock [x] (.countDown locked) (.await release) x)))
        holds (doto (Thread. (fn [] (>!! c 1))) .start)
        polls (do (.await locked) (go (a/poll! c) :polled))
        on (watched/eventually #(some :on (inspect/blocks)))]
    (is (= [:runnable "lints_test.clj"] [(:state on) (:file (:site on))]))
    (.countDown release)
    (.join holds)
    (is (= :polled (await-port polls)))))

(defn- awaited?
  "Waits until the latch is down or the thread is interrupted. Returns whether the latch is down."
  [^CountDownLatch latch]
  (try (.await latch) true (catch InterruptedException _ false)))

(deftest slow-steps
  (let [full (chan 1), putter (go (>! full 1) (>! full 2))
        release (CountDownLatch. 1), begun (promise)
        scoped (a/thread (try (scope/scope [s]
                                (scope/go s (deliver begun true) (while (not (awaited? release))))
                                (scope/fork s (while (not (awaited? release))))
                                (scope/fork s @begun (throw (ex-info "ends the scope" {})))
                                (<!! (chan)))
                              (catch clojure.lang.ExceptionInfo e (ex-message e))))]
    (testing "a full buffer without takes"
      (is (re-find #"\(1/1 full\): nobody has taken from it for \d\.\d s: .*\(>! full 2\), waits to put" (told :full))))
    (testing "where a thread waits to put"
      (let [filled (doto (chan 1) (>!! 1))
            thread (a/thread (>!! filled 2))]
        (is (watched/eventually
              #(some (fn by-thread [{:keys [lint says]}]
                       (and (= :full lint) (re-find #"nobody has taken from it for .*: thread .*lints_test\.clj:\d+.*, waits to put\." says)))
                     (inspect/lints))))
        (a/close! filled)
        (is (watched/eventually #(some (comp (partial re-find #"\(1/1 full\), closed: nobody has taken") :says) (inspect/lints))))
        (<!! filled)
        (await-port thread)))
    (testing "a child that ignores its cancellation; it shows in the tree of scopes"
      (is (re-find #"Scope \d+ was cancelled .* ago\. go-\d+ at lints_test\.clj:\d+ .*, thread skein-fork-lints_test\.clj:\d+-\d+ at lints_test\.clj:\d+ .* have not ended\. A child gets its cancellation once" (told :ignores-cancel)))
      (let [[{:keys [children cancelled? reason]} & more] (:scopes (inspect/snapshot))]
        (is (= [nil 2 true :failure] [more (count children) cancelled? reason]))))
    (.countDown release)
    (is (= "ends the scope" (await-port scoped)))
    (is (= [] (:scopes (inspect/snapshot))))
    (<!! full)
    (await-port putter)))

(deftest starved-carriers
  (let [n (* 2 (.availableProcessors (Runtime/getRuntime)))
        threads (vec (repeatedly n #(Thread/startVirtualThread (fn [] (Pinning/touch)))))
        says (told :starved)]
    (is (re-find #"^No virtual thread has got a carrier for \d+\.\d s\. The carriers are held by .*thread \d+, Pinning\.java:\d+ skein\.inspect\.Pinning/Slow\.<clinit>" says))
    (is (= :ran (await-port (go (<! (timeout 1)) :ran))) "blocks go on, on threads of the platform")
    (.countDown Pinning/RELEASE)
    (run! (fn [^Thread t] (.join t)) threads)
    (is (watched/eventually #(nil? (:starved (inspect/snapshot)))))))

(deftest scopes-are-a-tree
  (let [c (chan)
        t (a/thread (scope/scope [outer {:timeout-ms 600000}]
                      (scope/go outer (<! c))
                      (scope/fork outer (scope/scope [inner] (scope/fork inner (<!! c)) (scope/go inner (<! c))))
                      (<!! c)))
        [outer inner] (watched/eventually #(let [ss (sort-by (comp some? :parent) (:scopes (inspect/snapshot)))]
                                             (when (and (= [2 2] (map (comp count :children) ss))
                                                        ;; a child is known before its block is
                                                        (= [1 1] (map (fn [s] (count (keep :block (:children s)))) ss)))
                                               ss)))]
    (is (= (:id outer) (:parent inner)))
    (is (< 0 (long (:remaining-ms outer)) 600001))
    (is (= (set (map :id [outer inner])) (set (map :scope (inspect/blocks)))))
    (is (watched/eventually
          (fn waits? [] (some #(= (:body outer) (select-keys (assoc % :thread (:name %)) [:thread :tid])) (:threads (inspect/snapshot))))))
    (a/close! c)
    (await-port t)))

(deftest sites-with-more-and-more-blocks
  (let [c (chan), d (chan)
        steady (vec (repeatedly 300 #(go (<! d))))
        ports (atom [])
        look (fn [_]
               (dotimes [_ 100] (swap! ports conj (go (<! c))))
               (watched/eventually #(every? (comp #{:parked} :state) (inspect/blocks)))
               (inspect/snapshot))
        looks (mapv look (range 6))]
    (is (= [[100 600 "(<! c)"]] (map (juxt :from :to (comp :form :site)) (inspect/growth {} looks))))
    (is (= [] (inspect/growth {} (conj looks (inspect/snapshot)))) "it stands still in the end")
    (is (= [] (inspect/growth {:n 2 :every-ms 1})))
    (run! a/close! [c d])
    (run! await-port (concat steady @ports))))

(deftest verbs-agree-with-the-number-of-blocks
  (let [block (fn block [id more] (merge {:id id :state :running :site {:file "a.clj" :line 3 :op "<!"} :since-ms 2000 :age-ms 6000} more))
        says (fn says [lint n more]
               (let [snapshot {:skein/snapshot 1 :channels [] :threads [] :collected {:count 0}
                               :blocks (conj (mapv (fn b [i] (block (inc (long i)) more)) (range n)) (block 99 {:state :ready}))}]
                 (some (fn its [l] (when (= lint (:lint l)) (:says l))) (inspect/lints snapshot))))
        verb (fn verb [& args] (re-find #"\.clj:3,.* (?:has|have) \w+(?: \w+ threads?)?" (apply says args)))]
    (doseq [[lint of-one of-two more] [[:blocked "has blocked its thread" "have blocked their threads" {:on {:state :waiting}}]
                                       [:hog "has computed" "have computed" {:on {:state :runnable}}]
                                       [:never-started "made 6.0 s ago, has not" "made 6.0 s ago, have not" {:state :new}]
                                       [:nil-loop "has found" "have found" {:refused 1000}]]]
      (is (= [(str ".clj:3, " of-one) (str ".clj:3, " of-two)] [(verb lint 1 more) (verb lint 2 more)])))
    (is (re-find #", while 1 block wants to run\." (says :hog 1 {:on {:state :runnable}})))))

(deftest many-blocks-that-find-a-channel-closed-once-are-no-loop
  (let [block (fn block [refused] (fn at [i] {:id i :state :running :runs 1 :waits [] :refused refused :site {:file "a.clj" :line 3 :op "<!"}}))
        says (fn says [blocks]
               (map :says (filter (comp #{:nil-loop} :lint)
                                  (inspect/lints {:skein/snapshot 1 :at-ms 0 :threads [] :channels [] :scopes [] :folds [] :failures []
                                                  :collected {:count 0 :blocks []} :blocks blocks}))))]
    (is (= [] (says (map (block 3) (range 1000)))))
    (is (re-find #"have found one closed channel each, up to 1000 times in a row" (str (first (says (map (block 1000) (range 2)))))))))

(deftest abandoned-blocks-are-those-of-one-place
  (let [gone (fn gone [op] (mapv (fn [i] {:id i :op op :site {:file "a.clj" :line 3} :runs 1}) (range 101)))
        says (fn says [snapshot]
               (map :says (filter (comp #{:abandoned} :lint)
                                  (inspect/lints (merge {:skein/snapshot 1 :at-ms 0 :blocks [] :threads [] :channels [] :scopes [] :folds [] :failures []} snapshot)))))]
    (is (= ["101 blocks were collected while they waited at a.clj:3: no code could put a value for them."]
           (says {:collected {:count 101 :blocks (gone :take)}})))
    (is (= ["at least 101 blocks were collected while they waited at a.clj:3: no code could put a value for them."]
           (says {:collected {:count 5000 :blocks (gone :take)}})))
    (testing "those of a heap file were not collected"
      (is (= ["101 blocks wait at a.clj:3: no code can put a value for them."]
             (says {:heap "x.hprof" :collected {:count 101 :blocks (gone :take)}}))))
    (is (= [] (says {:collected {:count 101 :blocks (gone :put)}})))))
