;; SPDX-License-Identifier: Apache-2.0
(ns skein.parity-test
  "Random scripts of channel operations, run on core.async and on Skein, give the same
  trace. A script runs on one thread and callbacks run on their caller, so a trace is
  determined by the script."
  (:require
   [clojure.core.async :as theirs]
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as ours]
   [skein.async.spi :as spi]))

(set! *warn-on-reflection* true)

(def ^:private n-scripts (Long/getLong "skein.parity.scripts" 10000))

(def ^:private lib-theirs
  {:chan theirs/chan :dropping theirs/dropping-buffer :sliding theirs/sliding-buffer
   :promise theirs/promise-chan :put! theirs/put! :take! theirs/take! :offer! theirs/offer!
   :poll! theirs/poll! :close! theirs/close! :do-alts theirs/do-alts})

(def ^:private lib-ours
  {:chan ours/chan :dropping ours/dropping-buffer :sliding ours/sliding-buffer
   :promise ours/promise-chan :put! ours/put! :take! ours/take! :offer! ours/offer!
   :poll! ours/poll! :close! ours/close! :do-alts spi/do-alts})

(def ^:private xforms
  {:inc (map inc)
   :even (filter even?)
   :twice (mapcat (fn [x] [x x]))
   :pairs (partition-all 2)
   :first-two (take 2)
   :dedupe (dedupe)
   :throwing (map (fn [x] (if (zero? (long (mod x 3))) (throw (ex-info "third" {:x x})) x)))})

(defn- make-channel [{:keys [chan dropping sliding promise]} [kind n xform]]
  (let [xf (xforms xform)
        handler (fn [e] (if (even? (long (:x (ex-data e) 0))) -1 nil))]
    (case kind
      :none (chan)
      :promise (if xf (promise xf handler) (promise))
      (let [buffer (case kind :fixed n :dropping (dropping n) :sliding (sliding n))]
        (if xf (chan buffer xf handler) (chan buffer))))))

(defn- run-alts [{:keys [do-alts]} channels note ops default?]
  (let [index (fn [port] (if (= port :default) :default (.indexOf ^java.util.List channels port)))
        clean (fn [[v port]] [v (index port)])
        fret (with-meta (fn [r] (note (clean r))) {:on-caller? true})
        ports (mapv (fn [[op c v]] (if (= op :take) (channels c) [(channels c) v])) ops)
        now (do-alts fret ports (cond-> {:priority true} default? (assoc :default :none)))]
    (if now (clean @now) :waits)))

(defn- without-echoes
  "core.async calls back as well when an alts meets itself, as in (alts! [c [c 1]]),
  after it has returned a result. Skein does not do this."
  [events]
  (let [at-once (set (for [[i result] events :when (and (vector? result) (= 2 (count result)))] i))]
    (filterv (fn [[i later? :as event]] (not (and (= later? :later) (= 3 (count event)) (at-once i)))) events)))

(defn- run-step [{:keys [put! take! offer! poll! close!] :as lib} channels note [op c v]]
  (case op
    :put (put! (channels c) v note)
    :take (take! (channels c) note)
    :offer (offer! (channels c) v)
    :poll (poll! (channels c))
    :close (close! (channels c))
    :alts (run-alts lib channels note c v)))

(defn- trace
  "Runs the script; returns [step result] and [step :later result] in order of events."
  [lib {:keys [kinds steps]}]
  (let [channels (mapv (partial make-channel lib) kinds)
        events (java.util.ArrayList.)]
    (doseq [[i step] (map-indexed vector steps)]
      (.add events [i (run-step lib channels (fn note [r] (.add events [i :later r])) step)]))
    (without-echoes events)))

(def ^:private gen-kind
  (gen/frequency
    [[4 (gen/return [:none 0 nil])]
     [4 (gen/tuple (gen/return :fixed) (gen/choose 1 3) (gen/elements [nil nil nil :inc :even :twice :pairs :first-two :dedupe :throwing]))]
     [2 (gen/tuple (gen/elements [:dropping :sliding]) (gen/choose 1 3) (gen/elements [nil :inc :even :twice]))]
     [1 (gen/tuple (gen/return :promise) (gen/return 1) (gen/elements [nil :inc :even]))]]))

(def ^:private gen-channel (gen/choose 0 2))
(def ^:private gen-value (gen/choose 0 9))

(def ^:private gen-op
  (gen/one-of [(gen/tuple (gen/return :take) gen-channel)
               (gen/tuple (gen/return :put) gen-channel gen-value)]))

(def ^:private gen-step
  (gen/frequency
    [[6 (gen/tuple (gen/return :put) gen-channel gen-value)]
     [6 (gen/tuple (gen/return :take) gen-channel)]
     [2 (gen/tuple (gen/return :offer) gen-channel gen-value)]
     [2 (gen/tuple (gen/return :poll) gen-channel)]
     [1 (gen/tuple (gen/return :close) gen-channel)]
     [4 (gen/tuple (gen/return :alts) (gen/vector gen-op 1 4) gen/boolean)]]))

(def ^:private gen-script
  (gen/hash-map :kinds (gen/vector gen-kind 3) :steps (gen/vector gen-step 1 25)))

(deftest random-scripts-give-the-same-trace
  (let [result (check/quick-check n-scripts
                                  (prop/for-all [script gen-script]
                                    (= (trace lib-theirs script) (trace lib-ours script)))
                                  :max-size 60)]
    (is (:pass? result)
        (let [[script] (get-in result [:shrunk :smallest])]
          (pr-str {:seed (:seed result) :script script
                   :theirs (try (trace lib-theirs script) (catch Throwable t t))
                   :ours (try (trace lib-ours script) (catch Throwable t t))})))))
