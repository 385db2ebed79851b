;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.operations-test
  (:require-macros
   [skein.cljs.testing :refer [defblock]])
  (:require
   [cljs.test :refer-macros [is]]
   [skein.async :as a :refer [<! >! alt! alts! chan close! go go-loop offer! poll! put! take! timeout]]
   [skein.async.spi :as spi]))

(defn- error-of [f]
  (try (f) nil (catch :default e (:skein/error (ex-data e)))))

;;;; Channels

(defblock a-value-put-is-taken-whoever-comes-first
  (let [c (chan)]
    (put! c 1)
    (is (= 1 (<! c)))
    (let [taken (go (<! c))]
      (>! c 2)
      (is (= 2 (<! taken))))))

(defblock a-buffer-holds-n-values-in-order
  (let [c (chan 2)]
    (is (= [true true nil] [(offer! c 1) (offer! c 2) (offer! c 3)]))
    (is (= [1 2 nil] [(poll! c) (poll! c) (poll! c)]))))

(defblock zero-means-no-buffer
  (is (nil? (offer! (chan 0) 1))))

(defblock dropping-and-sliding-buffers-never-make-a-put-wait
  (let [d (chan (a/dropping-buffer 2)) s (chan (a/sliding-buffer 2))]
    (dotimes [i 4] (>! d i) (>! s i))
    (close! d) (close! s)
    (is (= [0 1] (<! (a/into [] d))))
    (is (= [2 3] (<! (a/into [] s))))))

(defblock a-closed-channel-gives-what-it-holds-and-then-nil
  (let [c (chan 1)]
    (>! c 1)
    (put! c 2)
    (close! c)
    (is (= [1 2 nil nil] [(<! c) (<! c) (<! c) (<! c)]))
    (is (false? (>! c 3)))
    (is (false? (put! c 3)))))

(defblock nil-cannot-be-put
  (is (= :skein/nil-put (error-of (fn [] (put! (chan 1) nil))))))

(defblock what-is-no-port-is-refused
  (is (= :skein/bad-argument (error-of (fn [] (take! 1 identity)))))
  (is (= :skein/bad-argument (error-of (fn [] (put! nil 1)))))
  (is (= :skein/bad-argument (try (<! "port") (catch :default e (:skein/error (ex-data e)))))))

(defblock non-buffers-are-refused
  (is (= :skein/bad-argument (error-of (fn [] (chan "1"))))))

(defblock the-1025th-waiter-is-refused
  (let [c (chan)]
    (dotimes [i 1024] (put! c i))
    (is (= :skein/too-many-pending (error-of (fn [] (put! c 1024)))))
    (is (= 0 (<! c)))))

(defblock a-promise-channel-gives-its-value-for-ever
  (let [p (a/promise-chan) early (go (<! p))]
    (>! p 1)
    (>! p 2)
    (is (= [1 1 1] [(<! early) (<! p) (<! p)]))))

;;;; Transducers

(defblock a-transducer-works-on-values-on-their-way-in
  (let [c (chan 1 (comp (filter even?) (mapcat (fn [x] [x x]))))]
    (a/onto-chan! c (range 5))
    (is (= [0 0 2 2 4 4] (<! (a/into [] c))))))

(defblock a-transducer-that-has-enough-closes-the-channel
  (let [c (chan 10 (clojure.core/take 2))]
    (is (= [true true false] [(>! c 1) (>! c 2) (>! c 3)]))
    (is (= [1 2 nil] [(<! c) (<! c) (<! c)]))))

(defblock what-a-transducer-holds-back-comes-at-the-end
  (let [c (chan 1 (partition-all 2))]
    (a/onto-chan! c [1 2 3])
    (is (= [[1 2] [3]] (<! (a/into [] c))))))

(defblock what-a-transducer-throws-goes-to-the-handler
  (let [c (chan 1 (map (fn [x] (if (= 1 x) (throw (js/Error. "one")) x))) (fn [e] [:failed (ex-message e)]))]
    (a/onto-chan! c [0 1 2])
    (is (= [0 [:failed "one"] 2] (<! (a/into [] c))))))

;;;; alts

(defblock alts-does-one-operation
  (let [a (chan 1) b (chan 1)]
    (>! b :value)
    (is (= [:value b] (alts! [a b])))
    (is (= [true a] (alts! [b [a 1]])))
    (is (= 1 (poll! a)))))

(defblock alts-waits-until-one-is-ready
  (let [a (chan) b (chan) chosen (go (alts! [a [b :b]]))]
    (<! (timeout 1))
    (is (= :b (<! b)))
    (is (= [true b] (<! chosen)))
    (is (nil? (offer! a 1)) "the arm that lost takes nothing")))

(defblock alts-with-a-default-never-waits
  (is (= [1 :default] (alts! [(chan)] :default 1)))
  (is (= [nil :default] (alts! [(chan)] {:default nil}))))

(defblock alts-in-order-of-priority
  (let [a (chan 9) b (chan 9)]
    (dotimes [_ 9] (>! a :a) (>! b :b))
    (dotimes [_ 9] (is (= :a (first (alts! [a b] :priority true)))))))

(defblock alts-is-fair
  (let [a (chan 1000) b (chan 1000) c (chan)]
    (dotimes [_ 1000] (>! a :a) (>! b :b))
    (let [chosen (loop [i 0 n {}] (if (< i 1000) (recur (inc i) (update n (first (alts! [c a b])) inc)) n))]
      (is (< 300 (:a chosen) 700)))))

(defblock alts-of-nothing-is-refused
  (is (= :skein/bad-argument (try (alts! []) (catch :default e (:skein/error (ex-data e)))))))

(defblock an-unknown-option-of-alts-is-refused
  (let [ready (chan 1)]
    (is (= :defalt (try (alts! [(chan)] :defalt 1) (catch :default e (:option (ex-data e))))))
    (is (= :skein/bad-argument (error-of #(spi/do-alts identity [(chan)] {:prio true}))))
    (>! ready 1)
    (is (= 1 (first (alts! [ready] {:priority true :default nil}))))))

(defblock alt-evaluates-the-clause-of-the-operation
  (let [a (chan 1)]
    (>! a 1)
    (is (= [:a 1] (alt! (chan) :never a ([v] [:a v]))))
    (is (= :none (alt! a ([v] v) :default :none)))
    (is (= :put (alt! [[a 2]] :put)))))

(defn- lose
  "Makes `n` arms on `port` wait and lose. Returns a port that then gives `n`."
  [port n]
  (go (dotimes [i n]
        (let [other (chan)]
          (js/queueMicrotask (fn [] (put! other i)))
          (alts! [port other])))
      n))

(defblock lost-arms-do-not-pile-up
  (let [c (chan) settle (volatile! nil) promise (js/Promise. (fn [fulfil _] (vreset! settle fulfil)))]
    (is (= 5000 (<! (lose c 5000))))
    (put! c :value)
    (is (= :value (<! c)) "no lost arm has taken it")
    (is (= 5000 (<! (lose promise 5000))))
    (@settle :value)
    (is (= :value (<! promise)))))

(defblock do-alts-calls-back-later
  (let [a (chan) got (chan 1)]
    (is (nil? (spi/do-alts (fn [chosen] (put! got chosen)) [a] {})))
    (>! a 1)
    (is (= [1 a] (<! got)))
    (put! a 2)
    (is (= [2 a] @(spi/do-alts identity [a] {})))))

;;;; Callbacks and blocks

(defblock callbacks-get-outcomes
  (let [c (chan) got (chan 3)]
    (take! c (fn [v] (put! got [:taken v])))
    (put! c 1 (fn [accepted?] (put! got [:put accepted?])))
    (is (= #{[:taken 1] [:put true]} (hash-set (<! got) (<! got))))
    (close! c)
    (take! c (fn [v] (put! got [:closed v])))
    (is (= [:closed nil] (<! got)))))

(defblock a-block-gives-its-value-once
  (let [b (go 1)]
    (is (= [1 nil nil] [(<! b) (<! b) (<! b)]))
    (is (false? (>! b 2)))))

(defblock several-takers-of-a-block
  (let [b (go (<! (timeout 1)) 1) takers [(go (<! b)) (go (<! b)) (go (<! b))]]
    (is (= [1 nil nil] [(<! (takers 0)) (<! (takers 1)) (<! (takers 2))]))))

(defblock a-block-whose-port-is-closed-continues
  (let [c (chan) done (chan)
        b (go (<! c) (>! done :continued) :result)]
    (<! (timeout 0))
    (close! b)
    (>! c 1)
    (is (= :continued (<! done)))
    (is (nil? (<! b)))))

(defblock a-lost-arm-on-a-block-leaves-its-value
  (let [b (go (<! (timeout 5)) 1) other (chan 1)]
    (put! other :other)
    (is (= :other (first (alts! [b other] :priority true))))
    (is (= :late (alt! b :block (timeout 0) :late)))
    (is (= 1 (<! b)))))

(defblock arms-that-lost-together-leave-the-value-of-a-block
  (let [end (chan) b (go (<! end)) other (a/promise-chan)
        choose (fn [] (go (first (alts! [b other]))))
        choices [(choose) (choose)]]
    (<! (timeout 0)) ; both wait
    (put! other :other)
    (is (= [:other :other] [(<! (choices 0)) (<! (choices 1))]))
    (put! end 1)
    (<! (timeout 0)) ; the block ends
    (is (= 1 (<! b)))))

(defblock takers-of-a-block-keep-their-order-when-an-arm-loses
  (let [end (chan) b (go (<! end)) other (chan)
        choice (go (first (alts! [b other])))
        early (go (<! b))]
    (<! (timeout 0)) ; both wait
    (put! other :other)
    (let [late (go (<! b))]
      (<! (timeout 0)) ; it waits too
      (put! end 1)
      (is (= [:other 1 nil] [(<! choice) (<! early) (<! late)])))))

(defblock a-block-starts-later-and-an-async-block-at-once
  (let [order #js []]
    (go (.push order :go))
    (a/async (.push order :async))
    (.push order :here)
    (<! (timeout 0))
    (is (= [:async :here :go] (vec order)))))

(defblock go-loop-loops
  (is (= 10 (<! (go-loop [i 0 s 0] (if (< i 5) (recur (inc i) (+ s i)) s))))))

;;;; Timeouts

(defblock a-timeout-never-closes-early
  (let [start (js/performance.now)]
    (is (nil? (<! (timeout 20))))
    (is (<= 20 (- (js/performance.now) start)))))

(defblock closing-a-timeout-leaves-those-of-the-same-time
  (let [timeouts (vec (repeatedly 100 (fn [] (timeout 60000))))
        [closed left] [(take-nth 2 timeouts) (take-nth 2 (rest timeouts))]]
    (run! close! closed)
    (doseq [t closed] (is (nil? (<! t))))
    (doseq [t left] (is (= :waits (first (alts! [t] :default :waits)))))
    (run! close! left)))

(defn- made-at-once
  "Returns a timeout for each of the times `mss`. Makes them anew if the environment paused meanwhile."
  [mss]
  (let [begin (js/performance.now)
        timeouts (mapv timeout mss)]
    (if (< (- (js/performance.now) begin) 5) timeouts (recur mss))))

(defblock a-timeout-refuses-what-is-not-a-number
  (doseq [wrong [nil js/NaN js/undefined "soon" "1"]]
    (is (= :skein/bad-argument (error-of (fn [] (timeout wrong)))) wrong))
  (is (= "msecs of timeout must be a number of milliseconds, but is nil. [:skein/bad-argument]" (try (timeout nil) (catch :default e (ex-message e)))))
  (is (nil? (<! (timeout 1)))))

(defblock timeouts-end-in-order
  (let [order (chan 10) mss [30 10 20 0]]
    (doseq [[ms t] (map vector mss (made-at-once mss))] (go (<! t) (>! order ms)))
    (is (= [0 10 20 30] [(<! order) (<! order) (<! order) (<! order)]))))

(defblock closing-a-timeout-touches-no-other
  (let [a (timeout 10) b (timeout 10) deadline (timeout 60000)]
    (close! a)
    (is (nil? (<! a)))
    (is (not (identical? a b)))
    (is (= b (second (alts! [b deadline]))))
    ;; Otherwise its timer keeps Node alive.
    (close! deadline)))

;;;; Between channels

(defblock values-go-from-channel-to-channel
  (is (= [1 2 3] (<! (a/into [] (a/pipe (a/to-chan! [1 2 3]) (chan))))))
  (is (= [1 2] (<! (a/into [] (a/take 2 (a/to-chan! (range 1 9)))))))
  (is (= [11 22] (<! (a/into [] (a/map + [(a/to-chan! [1 2]) (a/to-chan! [10 20])])))))
  (is (= #{1 2 3 4} (<! (a/into #{} (a/merge [(a/to-chan! [1 2]) (a/to-chan! [3 4])])))))
  (let [[odd even] (a/split odd? (a/to-chan! (range 6)) 9 9)]
    (is (= [[1 3 5] [0 2 4]] [(<! (a/into [] odd)) (<! (a/into [] even))])))
  (is (= 6 (<! (a/reduce + 0 (a/to-chan! [1 2 3])))))
  (is (= 9 (<! (a/transduce (map inc) + 0 (a/to-chan! [1 2 3])))))
  (is (= [] (<! (a/into [] (a/to-chan! []))))))

(defblock pipelines-keep-order
  (let [out (chan)]
    (a/pipeline 3 out (comp (filter odd?) (mapcat (fn [x] [x x]))) (a/to-chan! (range 6)))
    (is (= [1 1 3 3 5 5] (<! (a/into [] out)))))
  (let [out (chan)
        work (fn [v item] (go (<! (timeout (- 5 v))) (>! item v) (close! item)))]
    (a/pipeline-async 3 out work (a/to-chan! (range 5)))
    (is (= [0 1 2 3 4] (<! (a/into [] out))))))

(defblock hubs-pass-values-on
  (let [source (chan) m (a/mult source) x (a/tap m (chan 9)) y (a/tap m (chan 9))]
    (a/onto-chan! source [1 2])
    (is (= [[1 2] [1 2]] [(<! (a/into [] x)) (<! (a/into [] y))])))
  (let [source (chan) p (a/pub source odd?) odds (a/sub p true (chan 9))]
    (a/onto-chan! source (range 4))
    (is (= [1 3] (<! (a/into [] odds)))))
  (let [out (chan 9) m (a/mix out) x (chan) y (chan)]
    (a/admix m x)
    (a/toggle m {y {:mute true}})
    (<! (timeout 0))
    (>! y :muted)
    (>! x 1)
    (is (= 1 (<! out)))))

(defblock late-taps-and-subscriptions-close
  (let [source (chan) m (a/mult source) before (a/tap m (chan))]
    (a/close! source)
    (is (nil? (<! before)))
    (is (nil? (<! (a/tap m (chan)))))
    (is (= [:open :default] (a/alts! [(a/tap m (chan) false)] :default :open))))
  (let [source (chan) p (a/pub source identity) before (a/sub p 1 (chan))]
    (a/close! source)
    (is (nil? (<! before)))
    (is (nil? (<! (a/sub p 1 (chan)))) "to a topic that was there")
    (is (nil? (<! (a/sub p 2 (chan)))) "to a new topic")))
