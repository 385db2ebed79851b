;; SPDX-License-Identifier: Apache-2.0
;; ./skein tour shows this file step by step. A step is a title, with three semicolons, then its text and its code.
(ns examples.tour
  (:require
   [skein.async :refer [<! <!! <? <?? >! >!! async chan go timeout]]
   [skein.fold :as fold]
   [skein.fold.lines :as lines]
   [skein.scope :as s]
   [skein.sim :as sim]
   [skein.trace :as trace])
  (:import
   (java.util.concurrent Callable CountDownLatch ExecutorService Executors)))

(set! *warn-on-reflection* true)

;;; Blocks may block
;; A hundred blocks sleep for 100 ms each, all at the same time, on any number
;; of processors. A pool of eight threads, as core.async has it before version
;; 1.9, needs thirteen rounds of 100 ms.

(defn ms [f]
  (let [start (System/nanoTime)]
    (f)
    (quot (- (System/nanoTime) start) 1000000)))

(defn nap [] (Thread/sleep 100))

(def in-blocks
  (ms #(run! <!! (doall (repeatedly 100 (fn [] (go (nap))))))))

(def on-eight-threads
  (ms #(with-open [^ExecutorService pool (Executors/newFixedThreadPool 8)]
         (.invokeAll pool
                     ^java.util.Collection (repeat 100 ^Callable nap)))))

{:blocks-ms in-blocks, :eight-threads-ms on-eight-threads}

;;; Blocks take in any function
;; `sum-of` is a plain function, and `map` calls `<!`. The block that calls them
;; waits there, and blocks no other. With core.async, `<!` must be in the body
;; of the go block itself.

(defn sum-of [ports] (reduce + (map <! ports)))

(<!! (go (sum-of [(go 1) (go (<! (timeout 20)) 2) (go 3)])))

;;; Errors arrive
;; An exception of a block is thrown again where its result is taken, through
;; any number of blocks. The trace shows your code. It continues with the place
;; where the failed block was started.

(defn page [id]
  (async (if (pos? id) {:id id} (throw (ex-info "no such page" {:id id})))))

(defn titles [ids] (async (mapv #(<? %) (mapv page ids))))

(try (<?? (titles [1 -2 3]))
     (catch Exception e
       (binding [*err* *out*] (trace/pst e 5))
       (ex-data e)))

;;; A deadlock has a name
;; A worker takes from a channel and puts new work on the same channel. When the
;; channel is full, it waits for itself. The simulation says which block waits,
;; in which line, and for what.

(defn crawl [found]
  (sim/check
    (let [pages (chan 2), done (chan)]
      (go (loop [left 15]
            (let [depth (<! pages)]
              (dotimes [_ found] (when (< depth 4) (>! pages (inc depth))))
              (if (= 1 left) (>! done :end) (recur (dec left))))))
      (>!! pages 1)
      (<!! done))))

(try (crawl 2) (catch Exception e (println (ex-message e))))

;;; A race is found, and replayed
;; In some schedules, two withdrawals read the balance before either writes it.
;; The simulation runs the test under many schedules, and shortens the one that
;; fails. It prints the steps, and a token that replays them.

(defn withdraw! [account n audit]
  (go (let [balance @account]
        (>! audit n)
        (reset! account (- balance n)))))

(defn both-count? []
  (let [account (atom 100), audit (chan 10)]
    (run! <!! (mapv #(withdraw! account % audit) [30 50]))
    (when (not= 20 @account) (throw (ex-info "a withdrawal is lost" {})))))

(def token
  (try (sim/check {:seed 1} (both-count?))
       (catch Exception e (println (ex-message e)) (:token (ex-data e)))))

(try (sim/replay token (both-count?))
     (catch Exception e [:again (ex-message (first (.getSuppressed e)))]))

;;; A fold over files
;; One pass over a hundred copies of a log counts the lines and finds the
;; longest. All processors share the work, and the result is that of
;; `transduce`. On a terminal you see the progress.

(defn show-progress [{:keys [done total]}]
  (when (Boolean/getBoolean "skein.stdout.terminal")
    (print (str "\r" (quot (* 100 done) (max 1 total)) " %\r"))
    (flush)))

(fold/fold {:on-progress show-progress}
           (fold/fuse {:lines fold/count
                       :longest (fold/through (map count) fold/max)})
           (lines/lines (repeat 100 "examples/access.log")))

;;; A scope ends what it began
;; One of three children fails. The scope cancels the others, waits until they
;; have ended, and throws that child's exception.

(def ^CountDownLatch begun (CountDownLatch. 2))

(def ended (atom #{}))

(defn child [sc n]
  (s/fork sc (.countDown begun)
          (try (<!! (chan)) (finally (swap! ended conj n)))))

(try (s/scope [sc]
       (child sc 1)
       (child sc 2)
       (s/fork sc (.await begun) (throw (ex-info "the third fails" {}))))
     (catch Exception e [(ex-message e) :ended @ended]))
