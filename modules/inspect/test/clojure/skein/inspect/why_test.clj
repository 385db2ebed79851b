;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.why-test
  "Chains of waits through the blocks of Skein itself."
  (:require
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.async :as a :refer [<! <!! >! chan go go-loop]]
   [skein.async.limit :as limit]
   [skein.deadline :refer [await-port]]
   [skein.inspect :as inspect]
   [skein.inspect.watched :as watched]
   [skein.scope :as scope])
  (:import
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(use-fixtures :each watched/fresh)

(defn- said-of-chain
  "Waits until `why` leads from `port` to another block, which nobody is known to serve, and returns what it says."
  [port]
  (watched/eventually #(let [{:keys [chain ends says]} (inspect/why port)] (when (and (next chain) (= :nobody ends)) says))))

(deftest why-follows-a-mix-to-its-output
  (let [in (chan), out (a/label! (chan) "out")
        _ (a/admix (a/mix out) in)
        putter (go (>! in 1) (>! in 2))]
    (is (re-find #"mix\.clj:\d+ \(>! out v\), has waited [0-9.]+ s to put on out\. Judging" (said-of-chain putter)))
    (dotimes [_ 2] (await-port out))
    (await-port putter)
    (run! a/close! [out in])))

(deftest why-follows-a-mult-to-the-tap-that-nobody-reads
  (let [in (chan), read (a/label! (chan) "read"), audit (chan 1)
        m (a/mult in)
        _ (run! (partial a/tap m) [read audit])
        reader (go-loop [] (when (<! read) (recur)))
        putter (go (dotimes [i 3] (>! in i)))]
    (is (re-find #"mult\.clj:\d+ .*, has waited [0-9.]+ s to put on chan-\d+ \(1/1 full\)\. Judging by their locals" (said-of-chain putter)))
    (is (= [[{:op :put :place 1}]]
           (for [{:keys [site waits]} (inspect/blocks {:state :parked}) :when (re-find #"mult\.clj" (:form site))] (map (fn wait [w] (dissoc w :channel)) waits))))
    (is (re-find #"^chan-\d+ \(1/1 full\): nobody has taken from it for \d+\.\d s: go-\d+, .* in mult\.clj:\d+ .*, waits to put\."
                 (watched/eventually (fn told [] (some (fn full [l] (when (= :full (:lint l)) (:says l))) (inspect/lints))))))
    (a/close! in)
    (a/untap m audit)
    (a/close! audit)
    (while (a/poll! audit))
    (run! await-port [putter reader])))

(deftest why-takes-the-name-of-a-scope
  (let [c (chan)
        body (a/thread (scope/scope [s] (scope/go s (<! c)) :done))
        {:keys [says ends]} (watched/eventually #(when-some [{:keys [id]} (first (:scopes (inspect/snapshot)))]
                                                   (let [w (inspect/why (str "scope-" id))] (when (re-find #"has waited" (:says w)) w))))]
    (is (= :several ends))
    (is (re-find #"^scope-\d+ of .*\. The scope ends when its children have ended: go-\d+\. go-\d+, why_test\.clj:\d+ \(<! c\), has waited" says))
    (a/close! c)
    (await-port body)))

(deftest why-names-running-blocks-whose-locals-are-not-seen
  (let [stop (CountDownLatch. 1), jobs (chan), out (chan)
        ports [(go (while (pos? (.getCount stop))) (a/close! out))
               (go-loop [] (when-some [j (<! jobs)] (>! out j) (recur)))]
        waits (go (<! out))
        {:keys [says ends]} (watched/eventually #(let [w (inspect/why waits)] (when (re-find #"runs, at why_test" (:says w)) w)))]
    (is (= :nobody ends))
    (is (re-find #"\. Judging by their locals, no parked block could end that\. 1 other block runs, at why_test\.clj[^.]*\. The inspector does not see its locals, so it could end any of these waits\. Code that .*, still may\. \./skein ps \d+ --heap may prove"
                 says))
    (let [holder {:id 1 :state :parked :holds (vec (keep (comp :channel first :waits) (inspect/blocks)))}
          says (:says (inspect/why waits (update (inspect/snapshot) :blocks conj holder)))]
      (is (re-find #"Judging by their locals, go-1, go-\d+ could end that\. 1 other block runs" says) says))
    (.countDown stop)
    (run! a/close! [jobs out])
    (run! await-port (conj ports waits))))

(deftest a-block-that-waits-for-a-lock-of-the-chain-can-not-end-it
  (let [lock {:op :lock :lock "a lock" :held-by {:thread "holder" :tid 1}}
        snapshot {:skein/snapshot 1 :at-ms 0 :scopes [] :folds [] :failures [] :collected {:count 0 :blocks []}
                  :channels [{:id 1 :kind :chan :closed? false :takes [{:thread "holder" :tid 1}] :puts []}]
                  :threads [{:name "holder" :tid 1 :waits [{:op :take :channel 1}]}
                            {:name "worker" :tid 2 :block 7 :waits [lock] :site {:file "a.clj" :line 3}}]
                  :blocks [{:id 7 :state :running :site {:file "a.clj"} :waits [] :runs 1}]}
        says (:says (inspect/why "holder" snapshot))]
    (is (re-find #"no block could end that\. thread worker, which runs go-7, a\.clj:3, waits for a lock, which thread holder holds\." says) says)
    (is (not (re-find #"other block runs" says)))
    (testing "which is said once"
      (is (= 1 (count (re-seq #"thread worker," (:says (inspect/why "worker" snapshot)))))))))

(deftest why-follows-the-result-of-a-thread
  (let [gate (CountDownLatch. 1), c (chan)
        ports [(a/thread (.await gate) 1) (a/io-thread (<!! c))]
        waits (mapv (fn wait [port] (go (<! port))) ports)
        said (fn said [port pattern] (is (watched/eventually #(re-find pattern (:says (inspect/why port))))))]
    (said (waits 0) #" for the result of thread async-mixed-\d+\. thread async-mixed-\d+, why_test\.clj:\d+ [^,]*, is waiting\. \./skein ps \d+ --heap may show for what\. jcmd \d+ Thread")
    (said (waits 1) #" for the result of (thread \S+)\. \1, why_test\.clj:\d+ [^,]*, has waited \d\.\d s for chan-\d+\. Judging")
    (is (some (fn made [[_ [to] what]] (= [:thread :makes] [to what])) (:edges (inspect/graph))))
    (.countDown gate)
    (a/close! c)
    (run! await-port waits)
    (is (= [] (filter :thread (:channels (inspect/snapshot)))))))

(deftest why-names-the-limiter-whose-permit-is-missing
  (let [two (limit/concurrency-limiter {:n 2 :name "acme at once"}), rate (limit/rate-limiter {:rate 1e-9 :name "acme"})
        permits [(<!! two) (<!! two)], _ (<!! rate)
        ports [(a/thread (limit/release! (<!! two))) (go (<! rate))]]
    (watched/eventually #(and (seq (:threads (inspect/snapshot))) (some (comp seq :waits) (inspect/blocks {:op :take}))))
    (is (re-find #"waits for a permit of acme at once \(2 of 2 in use\) for" (with-out-str (inspect/dump!))))
    (is (re-find #", has waited \d\.\d s for a permit of acme\. " (watched/eventually #(re-find #".* for a permit of acme\. .*" (:says (inspect/why (peek ports)))))))
    (is (re-find #"^acme at once \(2 of 2 in use\): thread \S+ waits to take" (:says (inspect/why "acme at once (2 of 2 in use)"))))
    (run! limit/release! permits)
    (a/close! rate)
    (run! await-port ports)))

(deftest a-block-that-waits-for-a-promise-is-blocked
  (let [p (promise), port (go (inc (long @p)))
        block (watched/eventually (fn blocks? [] (first (filter :on (inspect/blocks)))))
        snapshot (inspect/snapshot)]
    (is (= [:running :waiting] [(:state block) (:state (:on block))]))
    (is (re-find #"(?m)^    1  blocked  why_test\.clj" (with-out-str (inspect/dump! nil snapshot))))
    (is (re-find #"^go-\d+, why_test\.clj:\d+ .*, blocks thread (skein-worker-\d+) outside of channels\. \./skein ps \d+ --heap may show for what\. "
                 (:says (inspect/why port snapshot))))
    (testing "by the name of its thread"
      (is (= (:says (inspect/why port snapshot)) (:says (inspect/why (:name (:on block)) snapshot)))))
    (testing "a thread that waits for a lock that the block's thread holds"
      (let [lock {:op :lock :lock "a lock" :held-by {:thread (:name (:on block)) :tid (:tid (:on block))}}]
        (is (re-find #"^thread waiter, .* for a lock, which thread skein-worker-\d+ holds\. go-\d+, why_test\.clj:\d+ .*, blocks thread skein-worker"
                     (:says (inspect/why "waiter" (update snapshot :threads conj {:name "waiter" :tid -1 :waits [lock] :site (:site block)})))))))
    (deliver p 1)
    (is (= 2 (await-port port)))))
