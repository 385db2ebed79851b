;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.streams.replay
  "A mult that remembers: see skein.async.streams/replay.

  One block serves the source and the requests of tap and untap, so a tap is made between two
  values. When the source has closed, the block closes the channel of requests. A later tap is
  served at once by a block of its own."
  {:no-doc true}
  (:require
   [skein.async :as a]
   [skein.impl.async.hubs :as hubs]
   [skein.impl.port :as port])
  (:import
   (clojure.lang IDeref)))

(set! *warn-on-reflection* true)

(defn- give
  "Puts `v` on the channels `chs`. Returns a channel of [open? ch], one for each."
  [chs v]
  (let [given (a/chan (max 1 (count chs)))]
    (doseq [ch chs] (a/put! ch v (fn accepted [open?] (a/put! given [open? ch]))))
    given))

(defn- catch-up
  "Puts the values `vs` on `ch`. Returns a channel that gets whether `ch` is open."
  [vs ch]
  (a/go-loop [vs (seq vs)]
    (cond
      (nil? vs) true
      (a/>! ch (first vs)) (recur (next vs))
      :else false)))

(defn- end-as [from taps]
  (doseq [[ch close?] taps :when close?] (port/close-as! ch from)))

(defn- run
  "Serves the source and the requests until the source closes."
  [{:keys [n in requests taps remembered]}]
  (a/go-loop []
    (let [[v port] (a/alts! [requests in] :priority true)]
      (cond
        (identical? port requests)
        (let [{:keys [tap close? change]} v]
          (cond
            change (swap! taps change)
            (a/<! (catch-up @remembered tap)) (swap! taps assoc tap close?))
          (recur))

        (nil? v)
        (port/close-as! requests in)

        :else
        (let [given (give (keys @taps) v)]
          (swap! remembered (fn [vs] (vec (take-last n (conj vs v)))))
          (dotimes [_ (count @taps)]
            (let [[open? ch] (a/<! given)]
              (when-not open? (swap! taps dissoc ch))))
          (recur))))))

(defn- late
  "Makes a tap after the end."
  [{:keys [requests remembered]} ch close?]
  (a/go (a/<! (catch-up @remembered ch))
        (end-as requests {ch close?})))

(defn- end
  "Closes the taps as the block has ended, by its port or by the source. Serves the requests that waited."
  [{:keys [requests taps] :as hub} port]
  (port/close-as! requests port)
  (end-as requests @taps)
  (loop []
    (when-some [{:keys [tap close?]} (a/poll! requests)]
      (when tap (late hub tap close?))
      (recur))))

(defn replay
  "Returns a mult of `in` that remembers the last `n` values."
  [n in]
  (let [requests (a/chan), remembered (atom [])
        hub {:n n :in in :requests requests :remembered remembered :taps (atom {})}]
    (port/when-ended (run hub) (fn ended [port] (end hub port)))
    (reify
      hubs/Mux
      (muxch* [_] in)
      hubs/Mult
      (tap* [_ ch close?]
        (port/target "ch of tap" ch)
        (when-not (a/put! requests {:tap ch :close? close?}) (late hub ch close?))
        nil)
      (untap* [_ ch] (a/put! requests {:change (fn [taps] (dissoc taps ch))}) nil)
      (untap-all* [_] (a/put! requests {:change (constantly {})}) nil)
      IDeref
      (deref [_] (peek @remembered)))))
