;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.corpus.state
  "Programs whose bug is that two tasks change the same state at the same time."
  (:require
   [skein.async :as a :refer [<! <!! >! chan go]]
   [skein.sim.corpus.program :refer [expect program]]
   [skein.virtual :as virtual]))

(set! *warn-on-reflection* true)

(defn- both
  "Waits for two blocks."
  [p q]
  (<!! p)
  (<!! q))

(defn- withdraw! [account n audit]
  (go (let [balance @account]
        (>! audit [:withdraw n])
        (reset! account (- balance n)))))

(defn- withdraw-at-once! [account n audit]
  (go (>! audit [:withdraw n])
      (swap! account - n)))

(defn- accounts [withdraw]
  (fn body []
    (let [account (atom 100), audit (chan 10)]
      (both (withdraw account 30 audit) (withdraw account 50 audit))
      (expect = 20 @account))))

(defn- move-money [move sum]
  (fn body []
    (let [bank (atom {:a 50 :b 50}), a (atom 50), b (atom 50)
          mover (go (move bank a b 10))
          reader (go (sum bank a b))]
      (<!! mover)
      (expect = 100 (<!! reader)))))

(defn- register [claim]
  (fn body []
    (let [names (atom {})
          p (go (claim names "ada" 1))
          q (go (claim names "ada" 2))]
      (expect = 1 (count (filter true? [(<!! p) (<!! q)]))))))

(defn- tokens [take-token]
  (fn body []
    (let [left (atom 1), box (chan 1)]
      (a/offer! box :token)
      (both (go (take-token left box)) (go (take-token left box)))
      (expect = 0 @left))))

;; A stack of cells whose :next is an atom. To push a popped cell again makes a compare-and-set!
;; succeed that should not (ABA).
(defn- pop-cell! [top]
  (loop []
    (when-some [cell @top]
      (let [below @(:next cell)]
        (if (compare-and-set! top cell below) cell (recur))))))

(defn- push-cell! [top cell]
  (loop []
    (let [below @top]
      (reset! (:next cell) below)
      (when-not (compare-and-set! top below cell) (recur)))))

(defn- stack [push-again]
  (fn body []
    (let [cell (fn [id below] {:id id :next (atom below)})
          top (atom (cell :a (cell :b (cell :c nil))))
          p (go (pop-cell! top))
          q (go (let [x (pop-cell! top), y (pop-cell! top)]
                  (when x (push-again top x))
                  [y]))
          mine (<!! p)
          theirs (<!! q)
          left (loop [ids []] (if-some [c (pop-cell! top)] (recur (conj ids (:id c))) ids))
          all (concat [(:id mine)] (map :id theirs) left)]
      (expect = (count (remove nil? all)) (count (distinct (remove nil? all)))))))

(defn- deliver-once [give]
  (fn body []
    (let [p (promise), winners (atom 0)]
      (both (go (give p 1 winners)) (go (give p 2 winners)))
      (expect = 1 @winners))))

(defn- cache [lookup]
  (fn body []
    (let [loads (atom 0), known (atom {})
          fetch (fn fetch [k] (go (swap! loads inc) (<! (a/timeout 5)) (str k)))]
      (both (go (<! (lookup known fetch :k))) (go (<! (lookup known fetch :k))))
      (expect = 1 @loads))))

(defn- look-up [known fetch k]
  (go (or (@known k)
          (let [v (<! (fetch k))]
            (swap! known assoc k v)
            v))))

(defn- look-up-once [known fetch k]
  (let [mine (a/promise-chan)
        winner (get (swap! known (fn [m] (if (m k) m (assoc m k mine)))) k)]
    (when (identical? mine winner) (a/pipe (fetch k) mine))
    winner))

(defn- once [init]
  (fn body []
    (let [ready (atom false), runs (atom 0)
          start (fn start [] (virtual/future (init ready runs)))
          p (start), q (start)]
      @p
      @q
      (expect = 1 @runs))))

(defn- counter [monitor]
  (fn body []
    (let [n (atom 0)
          work (fn work [] (virtual/future (dotimes [_ 2] (locking (monitor) (reset! n (inc (long @n)))))))
          p (work), q (work)]
      @p
      @q
      (expect = 4 @n))))

(def programs
  "See skein.sim.corpus.program."
  [(program "lost update across a park" 20 (accounts withdraw!) (accounts withdraw-at-once!))
   (program "two atoms that belong together" 50
            (move-money (fn [_ a b n] (swap! a - n) (swap! b + n)) (fn [_ a b] (+ (long @a) (long @b))))
            (move-money (fn [bank _ _ n] (swap! bank #(-> % (update :a - n) (update :b + n))))
                        (fn [bank _ _] (apply + (vals @bank)))))
   (program "check, then act" 50
            (register (fn [names k id] (when-not (contains? @names k) (swap! names assoc k id) true)))
            (register (fn [names k id] (= id (get (swap! names #(if (% k) % (assoc % k id))) k)))))
   (program "double take of one token" 50
            (tokens (fn [left _] (when (pos? (long @left)) (swap! left dec))))
            (tokens (fn [left box] (when (a/poll! box) (swap! left dec)))))
   (program "ABA on a stack" 500
            (stack push-cell!)
            (stack (fn [top cell] (push-cell! top {:id (:id cell) :next (atom nil)}))))
   (program "promise delivered twice" 50
            (deliver-once (fn [p x winners] (when-not (realized? p) (deliver p x) (swap! winners inc))))
            (deliver-once (fn [p x winners] (when (deliver p x) (swap! winners inc)))))
   (program "cache stampede" 50 (cache look-up) (cache look-up-once))
   (program "initialized twice" 50
            (once (fn [ready runs] (when-not @ready (swap! runs inc) (reset! ready true))))
            (once (fn [ready runs] (when (compare-and-set! ready false true) (swap! runs inc)))))
   (program "locking on two monitors" 50
            (counter (fn [] (Object.)))
            (counter (let [shared (Object.)] (fn [] shared))))])
