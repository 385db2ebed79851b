;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.random-test
  "Random programs: the proven blocks are exactly those that a model finds unreachable."
  (:require
   [clojure.test :refer [deftest is use-fixtures]]
   [clojure.test.check.generators :as gen]
   [skein.async :as a :refer [<! >! chan go]]
   [skein.inspect :as inspect]
   [skein.inspect.watched :as watched])
  (:import
   (skein.inspect.rt Entry Entry$Fate)
   (skein.rt Channel Result)))

(set! *warn-on-reflection* true)

(use-fixtures :each watched/fresh)

(def ^:private program
  "{:blocks [[[op channel]]], :held #{channel}}: what each block does in order, and which channels the test holds on to."
  (gen/let [n (gen/choose 1 5)
            blocks (gen/vector (gen/vector (gen/tuple (gen/elements [:take :put]) (gen/choose 0 (dec (long n)))) 1 4) 1 5)
            held (gen/set (gen/choose 0 (dec (long n))) {:max-elements 2})]
    {:channels n :blocks blocks :held held}))

(defn- start
  "Runs the program. Returns it with the entries of its blocks, how far each has got, and the channels that are held."
  [{:keys [channels blocks held] :as program}]
  (let [chs (vec (repeatedly channels chan))
        done (vec (repeatedly (count blocks) #(atom 0)))
        entries (mapv (fn [ops n]
                        (let [^Channel port (go (loop [todo (apply list (map (fn [[op c]] [op (chs c)]) ops))]
                                                  (when-some [[op c] (first todo)]
                                                    (let [todo (rest todo)]
                                                      (if (= :take op) (<! c) (>! c 1))
                                                      (swap! n inc)
                                                      (recur todo)))))]
                          (Result/block port)))
                      blocks done)]
    (assoc program :entries entries :done done :keeps (mapv chs held))))

(defn- stuck
  "Returns the blocks that have not ended and that nobody can reach. A channel that the test holds is reached. So are the blocks that
  wait in it, and all channels that these blocks would still use."
  [{:keys [blocks done held]}]
  (let [left (into {} (keep-indexed (fn [i ops] (when-some [more (seq (drop @(done i) ops))] [i (map second more)]))) blocks)]
    (loop [reached held]
      (let [alive (filter (fn [[_ [at]]] (reached at)) left)
            more (into reached (mapcat val) alive)]
        (if (= more reached)
          (set (keys (apply dissoc left (map key alive))))
          (recur more))))))

(defn- proven [{:keys [entries]}]
  (into #{} (keep-indexed (fn [i ^Entry e] (when (= Entry$Fate/COLLECTED (.fate e)) i))) entries))

(defn- settled?
  "Returns whether every block waits, or has ended."
  []
  (every? #(= :parked (:state %)) (inspect/blocks)))

(defn check-against-model
  "Runs `n` random programs at once, and asserts that the proven blocks are those of the model."
  [n]
  (let [programs (mapv start (gen/sample program n))]
    (watched/eventually settled?)
    (watched/eventually #(do (inspect/deadlocks {:prove true}) (= (map stuck programs) (map proven programs))))
    (is (= (map stuck programs) (map proven programs)))
    (is (< 50 (reduce + (map (comp count proven) programs))) "the programs are not too easy")
    (is (< 50 (reduce + (map (fn [p] (count (filter #(= Entry$Fate/LIVES (.fate ^Entry %)) (:entries p)))) programs))))
    (is (= (set (range n)) (set (keep-indexed (fn [i p] (when (:keeps p) i)) programs))))))

;; Checks RG1 and RG3.
(deftest proofs-agree-with-a-model
  (check-against-model 300))
