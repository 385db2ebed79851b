;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect-test
  (:require
   [clojure.data.json :as json]
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing use-fixtures]]
   [clojure.walk :as walk]
   [skein.async :as a :refer [<! <!! <? >! >!! alts! alts!! async chan go timeout]]
   [skein.async.flow :as flow]
   [skein.deadline :refer [await-port]]
   [skein.fold :as fold]
   [skein.inspect :as inspect]
   [skein.inspect.snapshot :as snapshot]
   [skein.inspect.survivors :as survivors]
   [skein.inspect.watched :as watched]
   [skein.kind :refer [kind-of]]
   [skein.scope :as scope]
   [skein.skip :refer [skip!]])
  (:import
   (java.io File StringWriter)
   (java.lang.management ManagementFactory)
   (java.util.concurrent CountDownLatch)
   (javax.management ObjectName)
   (skein.inspect.rt Bean Entry Packing Registry)
   (skein.rt Result)
   (skein.rt.block Conveyor Frame Hooks)))

(set! *warn-on-reflection* true)

(use-fixtures :each watched/fresh)

(defn- error-of [f]
  (try (f) nil (catch clojure.lang.ExceptionInfo e (kind-of (ex-data e)))))

(defn- parked
  "Waits until `n` blocks of this file are parked. Returns them by form."
  [n]
  (watched/eventually
    #(let [blocks (filter (partial watched/here? "inspect_test.clj") (inspect/blocks {:state :parked}))]
       (when (= n (count blocks)) (into {} (map (juxt (comp :form :site) identity)) blocks)))))

(defn- channel-of [block]
  (let [id (:channel (first (:waits block)))]
    (first (filter (comp #{id} :id) (:channels (inspect/snapshot))))))

(def ^:private here (:line (meta #'channel-of)))

(deftest a-parked-block-has-operation-channel-and-place
  (let [c (chan) full (doto (chan 1) (a/put! 0)), x (chan), y (chan)
        ended (go :v)
        ports [(go (<! c)) (go (>! full 1)) (go (alts! [x [y 1]])) (async (<? (go (<! c))))]
        blocks (parked 5)
        site (fn [form] (select-keys (:site (blocks form)) [:line :op :in-try]))]
    (is (= {:line (+ (long here) 9) :op "<!" :in-try false} (site "(<! c)")))
    (is (= {:line (+ (long here) 9) :op ">!" :in-try false} (site "(>! full 1)")))
    (is (pos-int? (:column (:site (blocks "(<! c)")))))
    (testing "the operations; an alts has several"
      (is (= [:put] (map :op (:waits (blocks "(>! full 1)")))))
      (is (= [:take :put] (map :op (:waits (blocks "(alts! [x [y 1]])")))))
      (is (= {:type 'FixedBuffer :count 1 :capacity 1} (:buffer (channel-of (blocks "(>! full 1)"))))))
    (testing "a result with its block"
      (let [result (channel-of (blocks "(<? (go (<! c)))"))]
        (is (= :result (:kind result)))
        (is (= "(<! c)" (:form (:site (first (inspect/blocks {:id (:block result)}))))))))
    (is (= 2 (count (:takes (channel-of (blocks "(<! c)"))))))
    (run! a/close! [c x y])
    (<!! full)
    (is (= 0 (count (do (run! await-port ports) (await-port ended) (:blocks (inspect/snapshot))))))))

(deftest blocks-of-a-scope-show-as-others-do
  (let [c (chan) d (chan)
        t (a/thread (scope/scope [sc]
                      (scope/fork sc (<!! d))
                      (scope/go sc (<! c))
                      (scope/go sc (alts! [c d]))))
        blocks (watched/eventually
                 #(let [bs (filter (partial watched/here? "inspect_test.clj") (inspect/blocks {:state :parked}))]
                    (when (= 2 (count bs)) bs)))]
    (is (= [[:take] [:take :take]] (sort-by count (map (fn [b] (mapv :op (:waits b))) blocks))))
    (is (= [2 2] (map (comp count :takes channel-of) blocks)) "the other block or the fork beside it")
    (run! a/close! [c d])
    (await-port t)))

(deftest threads-that-wait-show
  (let [c (chan) d (chan) e (chan 1)
        started [(a/thread (<!! c)) (a/thread (>!! d 1)) (a/thread (alts!! [c e]))
                 (let [p (promise)] (Thread/startVirtualThread #(deliver p (<!! c))) (a/go @p))]
        threads (watched/eventually #(let [ts (:threads (inspect/snapshot))] (when (= 4 (count ts)) ts)))]
    (is (= [[:put] [:take] [:take] [:take :take]] (sort-by (juxt count pr-str) (map (fn [t] (mapv :op (:waits t))) threads))))
    (is (every? #(= "inspect_test.clj" (:file (:site %))) threads))
    (is (= 1 (count (filter :virtual? (remove (comp #(str/starts-with? % "skein") str :name) threads)))))
    (a/close! c)
    (<!! d)
    (run! await-port started)
    (is (= [] (:threads (inspect/snapshot))))))

(deftest a-thread-that-has-left-its-channel-does-not-wait
  (let [c (chan), taken (a/thread (<!! c))
        [waiting] (watched/eventually #(seq (.waiting (Registry/get))))
        views (fn [] (snapshot/waits-of (peek (#'snapshot/views-of [] [waiting]))))
        before (views)
        shown (fn [views] (#'snapshot/thread 0 views 0 waiting))]
    (is (= [:take] (map :op (:waits (shown before)))))
    (a/close! c)
    (await-port taken)
    (is (nil? (shown (views))))
    (is (nil? (shown before)) "its place is no longer that of the wait")))

(deftest a-block-that-ends-during-a-snapshot-is-not-shown
  (let [c (chan), block (go (<! c))
        [_ frame] (watched/eventually #(some (fn of-this-test [[_ f :as pair]] (when (identical? block (.port ^Frame f)) pair))
                                             (keep @#'snapshot/asked (.live (Registry/get)))))
        shown (fn [] (#'snapshot/party frame))]
    (is (= [:block] (keys (shown))))
    (a/close! c)
    (await-port block)
    (is (nil? (shown)))))

(deftest every-operation-that-waits-shows
  (let [c (chan), d (chan)
        ports [(go (<! c)) (go (>! d 1)) (go (alts! [c])) (go (a/alt! c :v)) (async (<? c)) (go (a/<? c))
               (a/thread (<!! c)) (a/thread (>!! d 1)) (a/thread (alts!! [c])) (a/thread (a/alt!! c :v)) (a/thread (a/<?? c))]]
    (a/take! c identity)
    (a/put! d 1 identity)
    (let [blocks (watched/eventually #(let [bs (inspect/blocks {:state :parked})] (when (= 6 (count bs)) bs)))
          threads (watched/eventually #(let [ts (:threads (inspect/snapshot))] (when (= 5 (count ts)) ts)))
          with (fn with [op] (channel-of (first (filter (comp #{op} :op first :waits) blocks))))]
      (is (= #{"(<! c)" "(>! d 1)" "(alts! [c])" "(a/alt! c :v)" "(<? c)" "(a/<? c)"} (set (map (comp :form :site) blocks))))
      (doseq [{:keys [site waits]} blocks]
        (is (= ["inspect_test.clj" true true] [(last (str/split (:file site) #"/")) (pos-int? (:line site)) (pos-int? (:column site))]))
        (is (every? int? (map :channel waits))))
      (doseq [{:keys [site waits]} threads]
        (is (= "inspect_test.clj" (:file site)))
        (is (pos-int? (:line site)))
        (is (every? int? (map :channel waits))))
      (testing "callbacks by the name of their function"
        (is (= ["clojure.core/identity"] (keep :callback (:takes (with :take)))))
        (is (= 1 (count (keep :callback (:puts (with :put))))))))
    (dotimes [_ 3] (<!! d))
    (a/close! c)
    (run! await-port ports)))

(deftest a-resumed-block-is-not-parked
  (let [stop (atom false), n 2, entered (CountDownLatch. n), full (doto (chan n) a/close!)
        ports (vec (repeatedly n #(go (<! full) (.countDown entered) (while (not @stop))))) ; an operation that need not wait
        churn (a/thread (while (not @stop) (run! <!! (mapv (fn [i] (go (<! (go i)))) (range 50)))))
        loops (vec (repeatedly 50 #(go (while (not @stop) (<! (timeout 1))))))]
    (.await entered)
    (let [once (fn once [port] (.id ^skein.inspect.rt.Entry (skein.rt.Result/block port)))
          busy (set (map once ports)), living (set (map once loops))]
      (dotimes [_ 20]
        (let [blocks (inspect/blocks), ids (map :id blocks)]
          (is (apply distinct? ids))
          (is (= #{:running} (set (map :state (filter (comp busy :id) blocks)))))
          (is (= 52 (count (filter (some-fn busy living) ids))) "each of those that live, once"))))
    (reset! stop true)
    (run! await-port (concat ports loops [churn]))))

(deftest counts-agree-with-a-model
  (let [programs (for [capacity [0 1 5], puts [0 1 3 20], takes [0 1 4 20]] [capacity puts takes])
        started (vec (for [[capacity puts takes] programs]
                       (let [c (a/label! (if (pos? (long capacity)) (chan capacity) (chan)) (pr-str [capacity puts takes]))]
                         [c (vec (concat (repeatedly puts #(go (>! c 1))) (repeatedly takes #(go (<! c)))))])))
        expected (into {} (for [[capacity puts takes] programs
                                :let [left (- (long puts) (long takes))]]
                            [(pr-str [capacity puts takes])
                             [(max 0 (- left)) (max 0 (- left (long capacity))) (max 0 (min left (long capacity)))]]))
        counts (fn [] (into {} (for [{:keys [label takes puts buffer]} (:channels (inspect/snapshot)) :when (expected label)]
                                 [label [(count takes) (count puts) (:count buffer 0)]])))]
    (watched/eventually #(= expected (counts)))
    (is (= expected (counts)))
    (doseq [[c ports] started]
      (a/close! c)
      (while (some? (<!! c)))
      (run! await-port ports)
      (a/label! c nil))))

(deftest states-of-blocks
  (let [release (CountDownLatch. 1) running (promise)
        port (go (deliver running true) (.await release) (<! (timeout 1)))]
    @running
    (is (= [:running] (map :state (filter (partial watched/here? "inspect_test.clj") (inspect/blocks)))))
    (.countDown release)
    (await-port port)
    (is (= [] (inspect/blocks)))))

(deftest a-block-has-its-parent-and-its-steps
  (let [c (chan) child (promise)
        parent (go (deliver child (go (<! c) (<! c))) (<! c))
        {inner "(<! c)"} (parked 2)
        all (inspect/blocks)
        [[p]] (vals (group-by :parent (filter (comp nil? :parent) all)))]
    (is (some? inner))
    (is (= [(:id p)] (keep :parent all)))
    (is (= [1 1] (map :runs all)))
    (>!! c 1)
    (>!! c 2)
    (>!! c 3)
    (run! await-port [parent @child])))

(deftest blocks-can-be-chosen
  (let [c (chan) d (chan)
        ports [(go (<! c)) (go (<! c)) (go (>! d 1))]]
    (watched/eventually #(= 3 (count (inspect/blocks {:state :parked}))))
    (is (= 1 (count (inspect/blocks {:op :put}))))
    (is (= 3 (count (inspect/blocks {:site "inspect_test.clj"}))))
    (is (= 0 (count (inspect/blocks {:site "test.clj"}))))
    (is (= 2 (count (inspect/blocks {:limit 2 :sort :age}))))
    (is (= 0 (count (inspect/blocks {:older-ms 100000}))))
    (is (= :skein/bad-argument (error-of #(inspect/blocks {:colour 1}))))
    (is (= :skein/bad-argument (error-of #(inspect/blocks {:state :asleep}))))
    (let [[{:keys [id]} :as blocks] (inspect/blocks)]
      (is (= [id] (map :id (inspect/blocks {:id id}))))
      (is (= [] (inspect/blocks {:id 0})))
      (is (= blocks (inspect/blocks {:sort :age :older-ms 0} {:skein/snapshot 1 :blocks blocks})))
      (is (= [[] [{}]] (map #(inspect/blocks % {:skein/snapshot 1 :blocks [{}]}) [{:older-ms 0} {:sort :age}])) "a heap file has no times"))
    (a/close! c)
    (<!! d)
    (run! await-port ports)))

(deftest bad-arguments-are-refused
  (let [snapshot (inspect/snapshot)]
    (doseq [[what f] {"read-snapshot" inspect/read-snapshot
                      "graph" inspect/graph "leaks" inspect/leaks "lints" inspect/lints "metrics" inspect/metrics
                      "blocks" #(inspect/blocks {} %) "why" #(inspect/why 1 %) "deadlocks" #(inspect/deadlocks {} %)
                      "growth" #(inspect/growth {} [%]) "dump!" #(inspect/dump! {} %)}
            x [nil 5 :x [] (long-array 3)]]
      (is (= :skein/bad-argument (error-of #(f x))) [what x]))
    (doseq [options [{:to 5} {:as :xml} {:what :lints} {:to "no.edn" :last-ms 1} {:what :timeline :as :text}]]
      (is (= :skein/bad-argument (error-of #(inspect/dump! options))) options))
    (testing "options that a given snapshot can't follow"
      (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument]
             (map error-of [#(inspect/deadlocks {:prove true} snapshot) #(inspect/growth {:n 3} [snapshot])
                            #(inspect/dump! {:what :timeline} snapshot)]))))
    (testing "a snapshot in the place of options is refused with the right call"
      (doseq [[f call] {#(inspect/blocks snapshot) "(blocks {} snapshot)"
                        #(inspect/blocks snapshot {:state :parked}) "(blocks {} snapshot)"
                        #(inspect/deadlocks snapshot) "(deadlocks {} snapshot)"
                        #(inspect/growth [snapshot]) "(growth {} snapshots)"
                        #(inspect/growth snapshot) "(growth {} snapshots)"
                        #(inspect/dump! snapshot) "(dump! {} snapshot)"
                        #(inspect/dump! snapshot {:as :edn}) "(dump! {} snapshot)"
                        #(inspect/why snapshot 1) "(why x snapshot)"}]
        (is (str/includes? (try (f) (catch clojure.lang.ExceptionInfo e (ex-message e))) call)))))
  (doseq [path ["no/such/x.hprof" (io/file "no/such/x.hprof")]]
    (is (= :skein/bad-argument (error-of #(inspect/dump! {:to path}))) "it writes no heap file"))
  (is (= [:skein/file :unwritable] (error-of #(inspect/dump! {:to "no/such/folder/x.edn"}))))
  (if (.exists (io/file "/dev/full"))
    (is (= [:skein/file :unwritable] (error-of #(inspect/dump! {:to "/dev/full"}))) "a full disk")
    (skip! "there is no /dev/full")))

(deftest a-stopped-inspector-knows-nothing
  (let [c (chan) before (go (<! c))]
    (inspect/stop!)
    (is (= :off (inspect/level)))
    (is (= :skein/inspect-off (error-of inspect/snapshot)))
    (is (= :skein/inspect-off (error-of inspect/deadlocks)))
    (let [older (go (<! c) (<! c))]
      (watched/eventually #(= 2 (.takerCount ^skein.rt.Channel c)))
      (inspect/start!)
      (is (= [] (inspect/blocks)))
      (let [again (go (<! c))]
        (watched/eventually #(= 3 (.takerCount ^skein.rt.Channel c)))
        (testing "a block that is older shows in its channel"
          (is (= 2 (count (keep :older (:takes (first (:channels (inspect/snapshot)))))))))
        (testing "and among the blocks after its next step"
          (dotimes [_ 2] (>!! c 1))
          (watched/eventually #(= 2 (count (inspect/blocks {:state :parked})))))
        (a/close! c)
        (run! await-port [before older again])))))

(deftest a-conveyor-and-the-inspector-together
  (let [context (ThreadLocal.)
        conveyor (reify Conveyor
                   (capture [_] (.get context))
                   (install [_ c] (let [outer (.get context)] (.set context c) outer))
                   (restore [_ outer] (.set context outer)))]
    (Hooks/conveyor conveyor)
    (try
      (.set context :mine)
      (is (= (repeat 50 :mine) (await-port (go (loop [seen []] (if (= 50 (count seen)) seen (do (<! (timeout 0)) (recur (conj seen (.get context))))))))))
      (inspect/stop!)
      (is (= :mine (await-port (go (<! (timeout 0)) (.get context)))))
      (finally (.set context nil) (Hooks/conveyor nil)))))

(defn- instances
  "Returns how many objects of the inspector's registry there are, by the JVM's own count after a collection."
  []
  (let [server (ManagementFactory/getPlatformMBeanServer)
        text (.invoke server (ObjectName. "com.sun.management:type=DiagnosticCommand") "gcClassHistogram"
                      (object-array [(make-array String 0)]) (into-array String ["[Ljava.lang.String;"]))]
    (reduce + (map (comp parse-long second) (re-seq #":\s+(\d+)\s+\d+\s+skein\.inspect\.rt\.(?:Entry|Registry\$Live)\s" text)))))

(deftest a-stopped-inspector-leaves-only-notes-of-live-blocks
  (let [before (long (instances))] ; of blocks that earlier tests have left
    (let [c (chan), ports (vec (repeatedly 1000 #(go (<! c))))]
      (dotimes [_ 1000] (await-port (go 1)))
      (watched/eventually #(= 1000 (count (filter (partial watched/here? "inspect_test.clj") (inspect/blocks {:state :parked})))))
      (inspect/stop!)
      (is (<= 2000 (long (instances))) "a note and its entry each")
      (is (watched/eventually #(<= (long (instances)) (+ before 2000))))
      (a/close! c)
      (run! await-port ports))
    (is (watched/eventually #(<= (long (instances)) before)))))

(deftest survivors-are-newer-blocks-that-live
  (let [c (chan) before (go (<! c)), m (survivors/mark), since (go (>! c 1) (>! c 2)), gone (go 1)]
    (await-port gone)
    (is (= ["(>! c 2)"] (watched/eventually #(let [s (survivors/survivors m)] (when (= 1 (count s)) (watched/forms s))))))
    ((fn [] (go (<! (chan)))))
    (is (watched/eventually #(= 1 (count (survivors/survivors m)))) "what nobody can reach is not a survivor")
    (<!! c)
    (run! await-port [before since])
    (is (= [] (survivors/survivors m)))))

(deftest why-names-what-can-end-an-alts
  (let [release (chan)
        port (go (alts! [((fn [] (go (<! (chan))))) (go (<! release)) (timeout 600000)]))]
    (watched/eventually #(do (inspect/deadlocks {:prove true}) (seq (inspect/leaks))))
    (let [{:keys [says ends]} (inspect/why port)]
      (is (= :timer ends))
      (is (re-find #"go-\d+ was collected before it had ended: it can never continue\. A timer ends that in \d+ min" says)))
    (a/close! release)
    (await-port port))
  (let [release (chan)
        port (go (alts! [((fn [] (go (<! (chan))))) (go (<! release))]))]
    (watched/eventually #(do (inspect/deadlocks {:prove true}) (< 1 (long (:count (:collected (inspect/snapshot)))))))
    (is (= [:nobody 2] ((juxt :ends (comp count :chain)) (inspect/why port))) "it goes on to the block that may end")
    (a/close! release)
    (await-port port)))

;; The collector clears the reference to a block; only later does the inspector's thread learn of that.
(deftest a-block-that-was-just-collected-is-in-the-next-look
  (let [c (chan)
        port (go (>! c 1))]
    (parked 1)
    (.clear ^Entry (Result/block port)) ; as the collector does
    (let [look (inspect/snapshot)]
      (is (= [:put] (map :op (:blocks (:collected look)))))
      (is (= 1 (:count (:collected look))))
      (is (= [[:proven :lost-value]] (map (juxt :verdict :kind) (inspect/deadlocks {} look)))))
    (testing "it continues after all, as a block does that a finalizer has revived"
      (<!! c)
      (await-port port)
      (is (= {:count 0 :blocks []} (select-keys (:collected (inspect/snapshot)) [:count :blocks]))))))

;; Checks RG4.
(deftest all-findings-of-a-collection-are-known-after-it
  (dotimes [_ 3]
    (let [before (.count (.collected (Registry/get)))
          made 20000]
      ((fn [] (dotimes [_ made] (go (<! (chan))))))
      (watched/eventually #(every? (comp #{:parked} :state) (inspect/blocks)))
      (is (.collect (Registry/get) 60000))
      (let [found (- (.count (.collected (Registry/get))) before)]
        (is (<= (- made 100) found) "except for those that a stack still held")))))

(deftest why-follows-the-chain
  (let [requests (a/label! (chan) "requests")
        inner (go (<! requests)), outer (go (<! inner))]
    (parked 2)
    (let [{:keys [says chain ends]} (inspect/why outer)]
      (is (= :nobody ends))
      (is (= ["(<! inner)" "(<! requests)"] (map (comp :form :site) chain)))
      (is (re-find #"^go-\d+, inspect_test.clj:\d+ \(<! inner\), has waited [0-9.]+ s for the result of go-\d+\. go-\d+, .* for requests\. Judging by their locals, no block could end that" says)))
    (is (re-find #"^requests: go-\d+ waits to take, nobody to put\.$" (:says (inspect/why requests))))
    (is (re-find #"^Nobody waits in chan-\d+\.$" (:says (inspect/why (chan)))))
    (is (re-find #"It does not wait" (:says (inspect/why (Thread/currentThread)))))
    (is (= :skein/bad-argument (error-of #(inspect/why 1000000007))))
    (is (= :skein/bad-argument (error-of #(inspect/why :that))))
    (a/close! requests)
    (run! await-port [inner outer])))

(deftest a-block-and-a-scope-are-shown-with-their-names
  (let [never (chan), worker (a/label! (go (<! never)) "worker")
        outer (go (scope/scope [s] (a/label! s "import") (scope/go s (<! worker))))]
    (watched/eventually #(some (comp #{"import"} :label) (:scopes (inspect/snapshot))))
    (parked 3)
    (is (= 1 (count (filter (comp #{"worker"} :label) (inspect/blocks)))))
    (is (re-find #"^go-\d+ \(worker\), inspect_test.clj:\d+ \(<! never\), has waited" (:says (inspect/why "worker"))))
    (is (re-find #", has waited [0-9.]+ s for worker\. go-\d+ \(worker\)," (:says (inspect/why outer))))
    (is (re-find #"^import of go-\d+\. The scope ends when its children have ended: go-\d+\. " (:says (inspect/why "import"))))
    (let [text (with-out-str (inspect/dump!))]
      (is (re-find #" go-\d+ \(worker\) waits for chan-" text))
      (is (re-find #" import of go-\d+, has children: go-\d+" text)))
    (a/close! never)
    (run! await-port [worker outer])))

(def ^:private more
  "What why says last if nobody is known."
  " ./skein ps PID --heap may prove that nothing can. jcmd PID Thread.dump_to_file \"$PWD/threads.txt\" lists all threads.")

(deftest why-follows-a-scope-to-its-children
  (let [snapshot (fn snapshot [& children]
                   {:skein/snapshot 1
                    :blocks [{:id 1 :state :parked :site {:file "orders.clj" :line 4 :form "(s/scope [sc] ...)"} :since-ms 900 :waits [{:op :take :channel 9 :place 1}]}
                             {:id 2 :state :parked :site {:file "orders.clj" :line 5 :form "(<! stock)"} :since-ms 900 :waits [{:op :take :channel 8 :place 1}]}]
                    :channels [{:id 8 :kind :chan :takes [{:block 2}] :puts []} {:id 9 :kind :scope :takes [{:block 1}] :puts []}]
                    :scopes [{:id 9 :body {:block 1} :children (vec children)}]})
        why (fn why [& children] ((juxt :ends (comp (partial mapv :id) :chain) :says) (inspect/why 1 (apply snapshot children))))]
    (is (= [:nobody [1 2] (str "go-1, orders.clj:4 (s/scope [sc] ...), has waited 0.9 s for the end of scope-9."
                               " go-2, orders.clj:5 (<! stock), has waited 0.9 s for chan-8. Judging by their locals, no block could end that. Code that reaches it in another way, such as through a var, still may."
                               more)]
           (why {:block 2})))
    (is (= [:several [1] (str "go-1, orders.clj:4 (s/scope [sc] ...), has waited 0.9 s for the end of scope-9."
                              " The scope ends when its children have ended: go-2, thread worker.")]
           (why {:block 2} {:thread "worker" :tid 30})))
    (is (re-find #"for the end of scope-9\. The scope ends when its children have ended: thread worker\.$" (peek (why {:thread "worker" :tid 30})))
        "the thread does not wait")
    (is (re-find #"for the end of scope-9\. The scope ends when its children have ended\.$" (peek (why {:begun? false}))))
    (is (re-find #"have ended: thread t0, thread t1, thread t2, thread t3, thread t4 and 3 more\.$"
                 (peek (apply why {:begun? false} (for [i (range 7)] {:thread (str "t" i) :tid (+ 30 (long i))})))))
    (is (= [:nobody [1 2]] (take 2 ((juxt :ends (comp (partial mapv :id) :chain)) (inspect/why 1 (assoc-in (snapshot {:block 2}) [:blocks 1 :holds] [9])))))
        "a child that holds the scope's channel counts as a child")
    (is (contains? (:edges (inspect/graph (snapshot {:block 2} {:begun? false}))) [[:channel 9] [:block 2] :child]))))

(defn- watch [in]
  (<!! in))

(deftest a-block-that-blocks-its-thread-in-a-channel-waits-for-it
  (let [in (chan)
        outer (go (scope/scope [sc] (scope/go sc (watch in))))
        {:keys [says chain]} (watched/eventually #(let [w (inspect/why outer)] (when (= :nobody (:ends w)) w)))
        id (:id (peek chain))
        [thread] (filter (comp #{id} :block) (:threads (inspect/snapshot)))]
    (is (= 2 (count chain)))
    (is (re-find (re-pattern (str "for the end of scope-\\d+\\. go-" id ", inspect_test\\.clj:\\d+ skein\\.inspect-test/watch, has waited [0-9.]+ s for chan-\\d+,"
                                  " and blocks thread skein-worker-\\d+\\. Judging by their locals, no block could end that"))
                 says))
    (is (= [:running (:waits thread)] ((juxt :state :waits) (first (inspect/blocks {:id id})))))
    (let [snapshot (inspect/snapshot), says (fn says [x] (:says (inspect/why x snapshot)))]
      (is (= (says id) (says (str "go-" id))) "by name")
      (is (str/includes? (says (:name thread)) (str "thread " (:name thread) ", which runs go-" id ", "))))
    (is (= (:says (inspect/why in)) (:says (inspect/why (re-find #"^chan-\d+" (:says (inspect/why in)))))))
    (is (= :skein/bad-argument (error-of #(inspect/why "chan-0"))))
    (is (re-find (re-pattern (str "^chan-\\d+: go-" id " waits to take, nobody to put\\.$")) (:says (inspect/why in))))
    (a/close! in)
    (await-port outer)))

(deftest blocks-that-block-and-wait-for-each-other-are-suspected
  (let [other (promise), parks (go (<! @other)), blocks (go (watch parks))]
    (deliver other blocks)
    (is (re-find #"go-\d+, inspect_test\.clj:\d+ .*/watch, has waited .* for the result of go-\d+, and blocks thread .* They seem to wait for one another\.$"
                 (watched/eventually (fn said [] (some (fn says [{:keys [verdict says]}] (when (= :suspected verdict) says)) (inspect/deadlocks))))))
    (a/close! parks)
    (run! await-port [parks blocks])))

(deftest why-explains-all-threads-of-a-name
  (let [thread (fn thread [tid channel] {:name "skein-worker-0" :tid tid :waits [{:op :take :channel channel}]})]
    (is (= [(str "thread skein-worker-0, waits for chan-8. Judging by their locals, no block could end that. Code that reaches it in another way, such as through a var, still may."
                 " thread skein-worker-0, waits for chan-9. Judging by their locals, no block could end that. Code that reaches it in another way, such as through a var, still may."
                 more)
            [30]]
           ((juxt :says (comp (partial map :tid) :chain))
            (inspect/why "skein-worker-0"
                         {:skein/snapshot 1 :blocks [] :channels [] :scopes [] :threads [(thread 30 8) (thread 31 9)]}))))))

(deftest why-knows-the-deadline-of-a-scope
  (let [why (fn why [scope]
              ((juxt :ends :says)
               (inspect/why 1 {:skein/snapshot 1
                               :blocks [{:id 1 :state :parked :scope 9 :waits [{:op :take :channel 8}]}]
                               :channels [{:id 8 :kind :chan :takes [{:block 1}] :puts []}]
                               :scopes [(merge {:id 9 :body {:block 1} :children []} scope)]})))]
    (is (= [:timer "go-1, waits for chan-8. The deadline of its scope is in 2.0 s."] (why {:remaining-ms 2000})))
    (doseq [scope [{} {:remaining-ms 0 :cancelled? true}]]
      (is (= [:nobody (str "go-1, waits for chan-8. Judging by their locals, no block could end that. Code that reaches it in another way, such as through a var, still may." more)] (why scope)) scope))))

(deftest the-graph-has-waits-and-results
  (let [c (chan), inner (go (<! c)), outer (go (<! inner))
        blocks (parked 2)
        id (fn [form] [:block (:id (blocks form))])
        {:keys [nodes edges]} (inspect/graph)
        to (fn [from what] (for [[f t w] edges :when (and (= f from) (= w what))] t))]
    (is (= [(id "(<! c)")] (mapcat #(to % :makes) (to (id "(<! inner)") :take))))
    (is (every? (fn [[f t]] (and (nodes f) (nodes t))) edges))
    (a/close! c)
    (run! await-port [inner outer])))

(deftest dumps-are-text-json-and-edn
  (let [c (a/label! (chan) "a \"label\"\n\u0001€😀"), ports (vec (repeatedly 5 #(go (<! c))))]
    (watched/eventually #(= 5 (count (inspect/blocks {:state :parked}))))
    (let [snapshot (inspect/snapshot)
          text (fn [f] (let [out (StringWriter.)] (inspect/dump! {:to out :as f} snapshot) (str out)))]
      (is (re-find #"(?m)^    5  parked   inspect_test.clj:\d+ \(<! c\)  for .* \(least, median, most\)$" (text :text)))
      (is (re-find #"(?m)^       and 2 more$" (text :text)))
      (is (= snapshot (edn/read-string (text :edn))))
      (is (= (walk/postwalk #(if (ident? %) (str (symbol %)) %) snapshot) (json/read-str (text :json)))))
    (testing "another process gets the same through the bean"
      (is (= (set (map :id (inspect/blocks))) (set (map :id (:blocks (Packing/unpack (.snapshot (Bean.) false))))))))
    (let [file (File/createTempFile "dump" ".edn"), path (.getPath file)]
      (try
        (inspect/dump! {:to path})
        (is (= 5 (count (:blocks (inspect/read-snapshot path)))))
        (doseq [broken ["" "{:a" "{:a 1}" "{:skein/snapshot 99}"]]
          (spit file broken)
          (is (= [:skein/file :foreign] (error-of #(inspect/read-snapshot path))) broken))
        (finally (.delete file))))
    (is (= [:skein/file :missing] (error-of #(inspect/read-snapshot "no/such/file.edn"))))
    (is (thrown-with-msg? clojure.lang.ExceptionInfo #"^there is no file no/such/file\.edn, or it can't be read" (inspect/read-snapshot "no/such/file.edn")))
    (is (thrown-with-msg? clojure.lang.ExceptionInfo #"^README\.md is neither a heap file nor a dump of the inspector: it is not EDN\. " (inspect/read-snapshot "README.md")))
    (a/close! c)
    (run! await-port ports)))

(deftest folds-and-flows-are-listed
  (testing "a fold"
    (let [here (CountDownLatch. 1) release (CountDownLatch. 1)
          step (fn [n x]
                 (when (= 3 x) (Thread/sleep 2))
                 (when (= 5000 x) (.countDown here) (.await release))
                 (inc (long n)))
          folding (a/thread (fold/fold {:workers 1} {:identity (constantly 0) :step step :combine +} (vec (range 10000))))
          mine (fn [snapshot] (filter (comp #{10000} :total) (:folds snapshot)))]
      (.await here)
      (let [snapshot (inspect/snapshot), [{:keys [unit done site]}] (mine snapshot)]
        (is (= :elements unit))
        (is (<= 0 (long done) 5000))
        (is (= "inspect_test.clj" (:file site)))
        (is (re-find #"a fold on .* of 10000 elements done in" (with-out-str (inspect/dump! nil snapshot)))))
      (.countDown release)
      (is (= 10000 (await-port folding)))
      (is (= [] (mine (inspect/snapshot))))))
  (testing "a flow: its processes are threads that wait"
    (let [flow (flow/create-flow {:procs {:echo {:proc (flow/process (fn ([] {:ins {:in ""} :outs {:out ""}}) ([a] a) ([s _] s) ([s _ x] [s {:out [x]}])))}} :conns []})]
      (flow/start flow)
      (flow/resume flow)
      (is (watched/eventually #(seq (:threads (inspect/snapshot)))))
      (flow/stop flow)
      (is (watched/eventually #(empty? (:threads (inspect/snapshot))))))))

(deftest a-version-1-dump-opens
  (let [snapshot (inspect/read-snapshot (File. (.toURI (io/resource "skein/inspect/dump-1.edn"))))]
    (is (= [2 1 3 2] (map count ((juxt :blocks :threads :channels inspect/leaks) snapshot))))
    (is (= [] (:scopes snapshot)))
    (is (= nil (:folds snapshot)) "version 1 had no folds")
    (is (= [[:proven :lost-value] [:proven :lost-value]] (map (juxt :verdict :kind) (inspect/deadlocks nil snapshot))))
    (is (re-find #"^go-35, orders.clj:5 \(<! server\), has waited 1\.2 s for the result of go-19\." (:says (inspect/why 35 snapshot))))
    (is (= 6 (count (:nodes (inspect/graph snapshot)))))
    (is (= [] (inspect/lints snapshot)))
    (is (re-find #"skein_blocks\{state=\"parked\"\} 2\n" (inspect/metrics snapshot)))
    (is (re-find #"(?m)^PROVEN  go-51, orders.clj:7 \(>! x 2\)" (with-out-str (inspect/dump! nil snapshot))))))
