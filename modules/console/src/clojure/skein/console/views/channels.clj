;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.channels
  "The channels of a look, and the threads that wait in them or for locks.

  * `channels`, `threads`: windows of rows
  * `channel`: one of them
  * `channel-row`, `waiter`"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.console.looks :refer [cached]]
   [skein.console.views.rows :as rows]
   [skein.inspect.why :as why]
   [skein.inspect.words :as words]))

(set! *warn-on-reflection* true)

(defn waiter
  "Returns a waiter of a channel as a row; a block or thread has its place."
  [ix {:keys [block tid] :as party}]
  (let [b (when block ((:blocks ix) block)), t (when tid ((:threads ix) tid))]
    (cond-> {:name (words/waiting-party party) :block block}
      t (assoc :since (:since-ms t) :place (some-> (:site t) words/place))
      b (merge (select-keys (rows/row ix b) [:place :form :since :state])))))

(defn- oldest
  "Returns how long the first taker or putter has waited, in ms; nil if nobody waits, or in a heap file, which has no times."
  [ix {:keys [takes puts]}]
  (let [since (fn since [{:keys [block tid]}] (:since-ms (if block ((:blocks ix) block) ((:threads ix) tid))))]
    (some->> (seq (keep since (concat (take 1 takes) (take 1 puts)))) (reduce max))))

(defn channel-row
  "Returns a channel as a row of a table."
  [ix {:keys [id kind label buffer takes puts closed? block remaining-ms] :as c}]
  {:id id :name (words/channel-label c) :kind (name (or kind :chan)) :label label :closed closed? :block block
   :collected (:collected? c) :remaining remaining-ms
   :buffer (when buffer {:type (str (:type buffer)) :count (:count buffer) :capacity (:capacity buffer)})
   :takes (count takes) :puts (count puts)
   :oldest (oldest ix c)})

(defn- fullest-first [{{:keys [count capacity]} :buffer}]
  (if (and count capacity (pos? (long capacity))) (- (/ (double count) (double capacity))) 0.0))

(defn- order
  "Returns the key function by which channels are sorted."
  [ix sort]
  (case sort
    "fill" fullest-first
    "waiters" (fn many [{:keys [takes puts]}] (- (+ (count takes) (count puts))))
    (fn doomed-then-old [{:keys [kind collected?] :as c}] [(if collected? 0 (if (= :timeout kind) 2 1)) (- (long (or (oldest ix c) 0)))])))

(defn channels
  "Returns a window of the channels that have waiters or a label. :sort is waiters, fill or oldest."
  [{:keys [snapshot index] :as look} {:keys [q sort] :as options}]
  (rows/window (cached look [:channels q sort]
                 (fn make []
                   (let [named? (fn named? [c] (str/includes? (str/lower-case (words/channel-label c)) (str/lower-case q)))]
                     (rows/sorted (order index sort) (cond->> (:channels snapshot) (not (str/blank? q)) (filter named?))))))
    options (partial channel-row index)))

(defn channel
  "Returns one channel with its first waiters and its holders, or nil."
  [{:keys [snapshot index]} id]
  (when-some [c ((:channels index) id)]
    (assoc (channel-row index c)
           :says (:says (why/of-channel index id))
           :taking (mapv (partial waiter index) (take 100 (:takes c)))
           :putting (mapv (partial waiter index) (take 100 (:puts c)))
           :holders (mapv (partial rows/row index) (keep (:blocks index) (take 100 (sort (get-in index [:holders id]))))))))

(defn threads
  "Returns a window of the threads that wait in a channel or for a lock, the oldest wait first."
  [{:keys [snapshot index]} options]
  (rows/window (vec (sort-by rows/oldest-first (:threads snapshot))) options
    (fn shown [{:keys [name tid virtual? site since-ms stuck?] :as t}]
      {:name (words/thread-name name tid) :tid tid :virtual virtual? :since since-ms :stuck stuck?
       :place (some-> site words/place) :waits (words/waits index t)
       :channel (some :channel (:waits t))})))
