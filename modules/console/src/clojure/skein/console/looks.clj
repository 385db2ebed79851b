;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.looks
  "The looks at a target. A look is a snapshot with its index and its findings.

  * `looks` makes the state, `look!` takes a look if one is due, `latest` returns the last one
  * `cached` keeps a value that is computed from a look for as long as the look is kept

  A look is taken on request only, so a console without an open page costs its target nothing. After a look there is a pause
  32 times as long as the target took for it."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.inspect :as inspect]
   [skein.inspect.lints :as lints]
   [skein.inspect.shape :as shape])
  (:import
   (java.util.concurrent.locks ReentrantLock)))

(set! *warn-on-reflection* true)

(def ^:const ^:private pause-ms 1000)
(def ^:const ^:private pause-factor "Limits the target's cost to 3 % of one processor." 32)
(def ^:const ^:private max-history "The number of looks whose block counts are kept." 120)
(def ^:const ^:private growth-every-ms 10000)
(def ^:const ^:private growth-looks 6)

(defn looks
  "Returns the state for the looks at `target`, see `skein.console.target`."
  [target]
  {:target target :lock (ReentrantLock.) :state (atom {:rev 0 :due-ns (System/nanoTime) :history [] :sites []})})

(defn- prepared
  "Returns a snapshot with the index and the findings that all views need."
  [rev snapshot]
  (let [snapshot (shape/indexed snapshot)]
    {:rev rev :snapshot snapshot
     :index (shape/index snapshot)
     :deadlocks (inspect/deadlocks nil snapshot)
     :lints (inspect/lints snapshot)
     :cache (atom {})}))

(defn- with-sites
  "Adds the counts of blocks by site, every ten seconds."
  [sites {:keys [at-ms blocks]}]
  (if (< (long at-ms) (+ (long growth-every-ms) (long (:at-ms (peek sites) 0))))
    sites
    (let [site (memoize (fn site [s] {:site s}))] ; places are few
      (vec (take-last growth-looks (conj sites {:at-ms at-ms :blocks (mapv (comp site :site) blocks)}))))))

(defn- taken
  "Returns the state after a look that returned `snapshot`. It began at `start`, and the target needed `taken-ns` for it."
  [{:keys [rev history sites]} snapshot start taken-ns]
  (let [rev (inc (long rev))
        sites (with-sites sites snapshot)
        growth (if (next sites) (lints/growth sites) [])
        look (prepared rev snapshot)
        took (- (System/nanoTime) (long start))]
    {:rev rev
     :due-ns (+ (System/nanoTime) (max (* 1000000 (long pause-ms))
                                       (if (= 1 rev) 0 (* (long pause-factor) (long taken-ns))))) ; the first one has loaded the inspector
     :history (vec (take-last max-history (conj history (count (:blocks snapshot)))))
     :sites sites
     :growth growth
     :look (assoc look :took-ms (quot took 1000000))}))

(defn- reason [t]
  (if (:skein/error (ex-data t)) (error/untold (ex-message t)) (str (.getName (class t)) ": " (ex-message t))))

(defn- failed [{:keys [error] :as state} t]
  (assoc state
         :due-ns (+ (System/nanoTime) (* 1000000 (long pause-ms)))
         :error (or error {:says (reason t) :at-ms (System/currentTimeMillis)})))

(defn- take-look! [{:keys [target state]} prove]
  (let [start (System/nanoTime)]
    (try
      (let [snapshot ((:look target) prove)
            taken-ns (- (System/nanoTime) start)]
        (reset! state (taken @state snapshot start taken-ns))) ; only the holder of the lock writes it
      (catch InterruptedException e (throw e))
      (catch Exception e ; the page shows it, with the last look
        (swap! state failed e)))))

(defn- due? [{:keys [look due-ns]} live?]
  (or (nil? look)
      (and live? (neg? (- (long due-ns) (System/nanoTime))))))

(defn look!
  "Returns the state {:look :history :growth :error}. First takes a look if one is due and no other thread is taking it."
  [{:keys [target state ^ReentrantLock lock] :as looks}]
  (when (and (due? @state (:live? target)) (.tryLock lock))
    (try (when (due? @state (:live? target)) (take-look! looks false))
         (finally (.unlock lock))))
  @state)

(defn prove!
  "Has the target run its garbage collector, takes a look, and returns the state."
  [{:keys [^ReentrantLock lock state] :as looks}]
  (.lockInterruptibly lock)
  (try (take-look! looks true) (finally (.unlock lock)))
  @state)

(defn latest
  "Returns the last state that has a look. Takes a look if there is none. Throws :skein/not-inspectable if that fails."
  [{:keys [^ReentrantLock lock state] :as looks}]
  (when-not (:look @state)
    (.lockInterruptibly lock)
    (try (when-not (:look @state) (take-look! looks false))
         (finally (.unlock lock))))
  (when-not (:look @state)
    (error/fail! :skein/not-inspectable (str "There is nothing to show: " (:says (:error @state))) {}))
  @state)

(def ^:const ^:private max-cached 16)

(defn cached
  "Returns the value of `(f)`, which is kept with `look` under the key `k` and computed once."
  [{:keys [cache]} k f]
  (let [made (swap! cache (fn keep-it [m] (if (or (m k) (<= (long max-cached) (count m))) m (assoc m k (delay (f))))))]
    (if-some [d (made k)] @d (f))))
