;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.timeline-test
  (:require
   [clojure.data.json :as json]
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.async :as a :refer [<! <!! >! async chan go]]
   [skein.deadline :refer [await-port]]
   [skein.inspect :as inspect]
   [skein.inspect.timeline :as timeline]
   [skein.inspect.watched :as watched])
  (:import
   (java.io File)
   (skein.inspect.rt Entry Recorder Registry)
   (skein.rt.block Frame)))

(set! *warn-on-reflection* true)

(defn- recorded [run]
  (inspect/stop!)
  (inspect/start! {:level :events})
  (try (run) (finally (inspect/stop!))))

(use-fixtures :each recorded)

(defn- block-of
  "Returns the number of the one block that is parked at `form`."
  [form]
  (watched/eventually #(some (fn [b] (when (= form (:form (:site b))) (:id b))) (inspect/blocks {:state :parked}))))

(defn- apart?
  "Returns whether no slice of a block begins before the one before it has ended."
  [slices]
  (every? (fn [[a b]] (<= (+ (double (:at-us a)) (double (:us a))) (+ 0.001 (double (:at-us b))))) (partition 2 1 slices)))

(defn- nested?
  "Returns whether two slices of a thread are apart, or one is inside the other."
  [slices]
  (not= :crossed
        (reduce (fn [open {:keys [at-us us]}]
                  (let [at (double at-us), end (+ at (double us)), open (drop-while #(<= (double %) (+ 0.001 at)) open)]
                    (if (and (seq open) (< (+ 0.001 (double (first open))) end)) (reduced :crossed) (cons end open))))
                () (sort-by (juxt :at-us (comp - :us)) slices))))

(deftest slices-are-steps-and-waits
  (let [c (chan), port (go (<! c) (<! c) :done), id (block-of "(<! c)")]
    (a/>!! c 1)
    (is (watched/eventually #(= 4 (count (:slices (inspect/timeline {:block id}))))))
    (let [slices (:slices (inspect/timeline {:block id}))]
      (is (= [[:run nil nil] [:wait "(<! c)" nil] [:run "(<! c)" nil] [:wait "(<! c)" true]]
             (map (juxt :kind (comp :form :site) :open?) slices)))
      (is (apart? slices))
      (is (every? string? (keep :thread slices))))
    (a/>!! c 2)
    (is (= :done (await-port port)))
    (is (= [:run :done] (watched/eventually #(let [{:keys [kind ended]} (peek (:slices (inspect/timeline {:block id})))] (when ended [kind ended])))))
    (is (= [] (:slices (inspect/timeline {:last-ms 0, :block id}))) "of a block that has ended long ago")))

(deftest blocks-that-wait-all-the-time-are-shown
  (let [c (chan), port (go (<! c)), id (block-of "(<! c)")]
    (is (= [[:wait "(<! c)" true]]
           (watched/eventually #(seq (map (juxt :kind (comp :form :site) :open?) (:slices (inspect/timeline {:last-ms 0, :block id})))))))
    (a/close! c)
    (is (nil? (await-port port)))))

(deftest steps-that-run-all-the-time-are-shown
  (let [gate (promise), begun (promise), port (go (deliver begun 1) @gate), shown (fn [] (map (juxt :kind :open?) (:slices (inspect/timeline {:last-ms 0}))))]
    @begun
    (is (= [[:run true]] (watched/eventually #(seq (shown)))))
    (testing "a step that began before steps were recorded"
      (inspect/start! {:level :registry})
      (inspect/start! {:level :events})
      (is (= [[:run true]] (watched/eventually #(seq (shown))))))
    (deliver gate 1)
    (await-port port)))

(deftest tracks-are-in-order-while-all-runs
  (let [there (chan), back (chan), n 4000]
    (go (dotimes [_ n] (>! back (<! there))))
    (let [port (go (dotimes [i n] (async (<! (async (inc i)))) (>! there i) (<! back)) :done)
          looks (vec (repeatedly 2 #(:slices (inspect/timeline))))]
      (is (= :done (await-port port)))
      (doseq [slices (conj looks (:slices (inspect/timeline {:last-ms 600000})))]
        (is (= [] (keep (fn [[block ss]] (when-not (apart? ss) block)) (group-by :block slices))))
        (is (= [] (keep (fn [[tid ss]] (when-not (nested? ss) tid)) (group-by :tid (filter (comp #{:run} :kind) slices)))))
        (is (every? #(<= 0.0 (double (:at-us %))) slices))))))

(deftest tracks-are-in-order-while-all-threads-record
  (let [stop (atom false)
        ports (doall (repeatedly 12 (fn pair []
                                      (let [there (chan), back (chan)]
                                        (go (loop [] (when-some [x (<! there)] (>! back x) (recur))))
                                        (go (loop [i 0]
                                              (if @stop
                                                (a/close! there)
                                                (do (async (<! (async (inc i)))) (async (<! (go (inc i)))) (>! there i) (<! back) (recur (inc i))))))))))]
    (dotimes [_ 40]
      (let [slices (:slices (inspect/timeline {:last-ms 3}))]
        (is (= [] (keep (fn [[tid ss]] (when-not (nested? ss) tid)) (group-by :tid (filter (comp #{:run} :kind) slices)))))
        (is (= [] (keep (fn [[block ss]] (when-not (apart? ss) block)) (group-by :block slices))))))
    (reset! stop true)
    (run! await-port ports)))

;; The worker that runs two blocks, one within the other's step, is slow: the inner block has ended and the outer one is
;; resumed on another thread before the worker has left their code.
(deftest a-step-ends-with-its-block
  (let [c (chan), ports [(go (<! c)) (go (<! c))]]
    (is (watched/eventually #(= 2 (count (inspect/blocks {:state :parked})))))
    (let [[^Frame outer ^Frame inner] (map #(.get ^Entry %) (.live (Registry/get))), recorder (Recorder.)]
      (doto recorder (.resumed outer) (.resumed inner) (.ended inner :done nil))
      @(future (doto recorder (.resumed outer) (.suspended outer)))
      (doto recorder (.suspended inner) (.suspended outer))
      (let [here (.threadId (Thread/currentThread)), slices (:slices (timeline/timeline recorder 600000 nil))]
        (is (= [nil :done] (map :ended (filter #(= here (:tid %)) slices))))
        (is (nested? (filter #(= here (:tid %)) slices)))))
    (a/close! c)
    (is (every? nil? (mapv await-port ports)))))

(deftest a-timeline-is-a-file-for-perfetto
  (let [c (chan), port (go (<! c)), id (block-of "(<! c)")
        file (File/createTempFile "timeline" ".json")]
    (a/close! c)
    (await-port port)
    (watched/eventually #(= 3 (count (:slices (inspect/timeline)))))
    (is (nil? (inspect/dump! {:what :timeline :to file})))
    (let [events (get (json/read-str (slurp file)) "traceEvents")
          tracks (into {} (for [{:strs [pid tid args ph name]} events :when (= "M" ph)] [[pid tid name] (get args "name")]))]
      (is (= [["runs" 1] [(str "go-" id ", begins") 2] 1 ["runs" 1] 2]
             (for [{:strs [ph pid name]} events :when (= "X" ph)]
               (if (re-find #"\(<! c\)" name) pid [name pid]))))
      (is (= (str "go-" id) (tracks [1 id "thread_name"])))
      (is (= ["blocks" "threads"] [(tracks [1 nil "process_name"]) (tracks [2 nil "process_name"])])))
    (.delete file)))

(deftest levels
  (is (= :events (inspect/level)))
  (inspect/start!)
  (is (= :events (inspect/level)) "it is left as it is")
  (inspect/start! {:level :registry})
  (is (= :registry (inspect/level)))
  (is (= [:skein/inspect-off :skein/bad-argument]
         (for [f [#(inspect/timeline) #(inspect/start! {:level :stacks})]]
           (try (f) (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e)))))))
  (inspect/stop!)
  (is (= :off (inspect/level)))
  (is (nil? (<!! (go nil)))))
