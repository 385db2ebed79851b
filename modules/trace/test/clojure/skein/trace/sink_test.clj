;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.sink-test
  "Destinations of events: whole lines from any number of threads and blocks, and sinks that fail."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.skip :refer [skip!]]
   [skein.trace :as trace])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File PrintWriter StringWriter Writer)
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(use-fixtures :each (fn clean [run] (try (run) (finally (trace/untrace-all)))))

(defn leaf [x] (inc (long x)))
(defn branch [x] (+ (long (leaf x)) (long (leaf (inc (long x))))))
(defn parked [x] (a/go (branch x) (a/<! (a/go nil)) (branch (inc (long x)))))

(defn- lines-of
  "The lines that `f` has printed to *out*, in threads and blocks of its own too."
  [f]
  (let [out (StringWriter.)]
    (binding [*out* out] (f))
    (str/split-lines (str out))))

;;;; Whole lines

(def ^:private line-pattern
  #"\d\d:\d\d:\d\d\.\d{3} (\S.*?) +#(\d+)(?:<(\d+))?  ((?:│ )*)(?:(\(skein\.trace\.sink-test/(?:leaf|branch) \d+\))|=> (\d+)   \d+\.\d(?:µs|ms|s))")

(defn- parse [line]
  (when-some [[_ place id parent bars call value] (re-matches line-pattern line)]
    {:place (or (re-find #"^go-\d+" place) place), :id id, :parent parent, :depth (/ (count bars) 2)
     :call call, :value value}))

(defn- add-line
  "Puts a line into {:open [calls], :roots [[call value children]]} of its thread or block; nil when it
  doesn't fit."
  [{:keys [open] :as state} {:keys [id depth call value]}]
  (cond
    (nil? state) nil
    call (when (= depth (count open)) (assoc state :open (conj open {:id id, :call call, :children []})))
    :else (let [{:keys [call children] :as ended} (peek open)
                node [call value children]]
            (when (= id (:id ended))
              (if (= 1 (count open))
                (-> state (assoc :open []) (update :roots conj node))
                (let [open (pop open)]
                  (assoc state :open (conj (pop open) (update (peek open) :children conj node)))))))))

(defn- expected-tree [x]
  [(str "(skein.trace.sink-test/branch " x ")") (str (+ 3 (* 2 (long x))))
   [[(str "(skein.trace.sink-test/leaf " x ")") (str (inc (long x))) []]
    [(str "(skein.trace.sink-test/leaf " (inc (long x)) ")") (str (+ 2 (long x))) []]]])

(deftest lines-are-whole-and-make-up-the-tree-of-each-thread-and-block
  (let [n-threads 16, n-calls 700, n-blocks 1000
        go! (CountDownLatch. 1)
        lines (lines-of
                (fn run-all []
                  (trace/trace-vars leaf branch)
                  (let [threads (mapv (fn [i] (a/thread (.await go!) (dotimes [j n-calls] (branch (+ (* 1000 (long i)) j)))))
                                      (range n-threads))
                        blocks (mapv (fn [i] (a/go (a/<! (a/timeout 1)) (parked i))) (range n-blocks))]
                    (.countDown go!)
                    (within-deadline (run! a/<!! threads) (run! (fn [b] (a/<!! (a/<!! b))) blocks))
                    (trace/untrace-all))))
        parsed (mapv parse lines)
        states (reduce (fn [states line] (update states (:place line) (fnil add-line {:open [], :roots []}) line)) {} parsed)]
    (is (= [] (take 3 (keep-indexed (fn [i p] (when (nil? p) (lines i))) parsed))) "no torn line")
    (is (= (* 6 (+ (* n-threads n-calls) (* 2 n-blocks))) (count lines)))
    (is (every? (comp #{[]} :open) (vals states)) "each line fits into the tree of its thread or block")
    (is (= (frequencies (map expected-tree (concat (for [i (range n-threads), j (range n-calls)] (+ (* 1000 (long i)) (long j)))
                                                   (range n-blocks) (range 1 (inc n-blocks)))))
           (frequencies (mapcat :roots (vals states)))))
    (is (= n-blocks (count (filter (fn [place] (str/starts-with? place "go-")) (keys states)))))))

;;;; Kinds of sink

(deftest events-go-to-the-chosen-sinks
  (let [seen (atom [])]
    (trace/trace-vars {:sink [:ring (fn keep [e] (swap! seen conj (:phase e)))]} leaf)
    (trace/clear!)
    (is (= [""] (lines-of (fn [] (leaf 1)))) "nothing to :out")
    (is (= [:call :return] @seen (mapv :phase (trace/events)))))
  (testing ":err"
    (let [err (StringWriter.)]
      (binding [*err* err]
        (trace/trace-vars {:sink :err} leaf)
        (leaf 1))
      (is (= 2 (count (str/split-lines (str err)))))))
  (testing ":tap"
    (let [told (promise), tap (fn tap [x] (when (= "1" (first (:args x))) (deliver told (:name x))))]
      (add-tap tap)
      (try (trace/trace-vars {:sink :tap} leaf)
           (leaf 1)
           (is (= `leaf (deref told 30000 ::late)))
           (finally (remove-tap tap)))))
  (testing "a file, appended to"
    (let [file (File/createTempFile "trace" ".txt")]
      (try (spit file "before\n")
           (trace/trace-vars {:sink {:file (str file)}, :format :tools.trace} leaf)
           (leaf 1)
           (is (re-matches #"before\nTRACE t(\d+): \(skein.trace.sink-test/leaf 1\)\nTRACE t\1: => 2\n" (slurp file)))
           (finally (.delete file))))))

(deftest standard-sinks-come-and-go
  (let [seen (atom [])
        before (:sinks (trace/status))]
    (is (= ::mine (trace/add-sink! ::mine (fn keep [e] (swap! seen conj (:value e))))))
    (is (= (conj before ::mine) (:sinks (trace/status))))
    (try
      (lines-of (fn [] (trace/p 1)))
      (finally (is (true? (trace/remove-sink! ::mine)))))
    (is (false? (trace/remove-sink! ::mine)))
    (lines-of (fn [] (trace/p 2)))
    (is (= ["1 => 1"] @seen))))

(deftest a-standard-sink-has-a-format
  (try
    (is (= :out (trace/add-sink! {:format :tools.trace} :out :out)))
    (is (re-find #"^TRACE t\d+: => 2$" (second (lines-of (fn [] (trace/with-traced [leaf] (leaf 1)))))))
    (finally (trace/add-sink! :out))))

(deftest out-is-the-thread's-writer-or-the-one-at-start
  (let [first-out (StringWriter.), own (StringWriter.)]
    (binding [*out* first-out] (trace/trace-vars {:sink :out} leaf))
    (doto (Thread. (fn bare [] (leaf 1))) (.start) (.join))
    (is (= 2 (count (str/split-lines (str first-out)))))
    (binding [*out* (PrintWriter. own)] (leaf 2))
    (is (str/includes? (str own) "(skein.trace.sink-test/leaf 2)"))
    (is (= 2 (count (str/split-lines (str first-out)))))))

(deftest captured-program-output-stays-unchanged
  (let [home (StringWriter.)]
    (binding [*out* home]
      (trace/trace-vars leaf)
      (trace/trace-vars {:sink :out} branch)
      (is (= "own" (with-out-str (branch (leaf 1)) (print "own"))))
      (is (= "\"own\"" (pr-str (do (leaf 1) "own"))))
      (is (= 10 (count (str/split-lines (str home))))))
    (testing "unlike with tools.trace"
      (is (= 2 (count (lines-of (fn [] (trace/with-traced {:format :tools.trace} [leaf] (lines-of (fn [] (leaf 1)))))))))))
  (testing "what the program prints by `p` is in it"
    (is (= ["1 => 1"] (map (fn bare [line] (str/replace line #"^\S+ " "")) (lines-of (fn [] (trace/p 1))))))))

(deftest an-interrupted-thread-continues-to-write-to-a-file
  (let [file (File/createTempFile "trace" ".txt")
        interrupted? (promise)]
    (try
      (trace/trace-vars {:sink {:file (str file)}} leaf)
      (doto (Thread. (fn run [] (.interrupt (Thread/currentThread)) (leaf 1) (deliver interrupted? (Thread/interrupted)))) (.start) (.join))
      (is (true? @interrupted?))
      (is (= 2 (count (str/split-lines (slurp file)))))
      (finally (.delete file)))))

(deftest unnamed-threads-are-distinguished
  (let [seen (atom [])]
    (trace/trace-vars {:sink (fn keep [e] (swap! seen conj e))} branch)
    (run! (fn run-one [_] (.join (Thread/startVirtualThread (fn call [] (branch 1))))) (range 2))
    (is (= 2 (count (distinct (map :thread @seen)))))
    (is (every? (fn [{:keys [thread]}] (re-matches #"virtual-\d+" thread)) @seen))))

(deftest a-line-is-one-write
  (let [writes (atom 0)
        out (proxy [Writer] [] (write ([_] (swap! writes inc)) ([_ _ _] (swap! writes inc))) (flush []) (close []))]
    (binding [*out* out]
      (trace/trace-vars {:sink :out} leaf)
      (leaf 1)
      (trace/p 1))
    (is (= 3 @writes))))

(deftest a-failing-sink-does-not-affect-the-program
  (let [seen (atom 0)
        before (long (:sink-failures (trace/status)))]
    (trace/trace-vars {:sink [(fn broken [_] (throw (Error. "broken"))) (fn keep [_] (swap! seen inc))]} leaf)
    (is (= 2 (leaf 1)))
    (is (= 2 @seen))
    (is (= 2 (- (long (:sink-failures (trace/status))) before))))
  (testing "the first exception is reported, here of a full disk"
    (let [told (fresh-jvm/output [] ["-e" (pr-str '(do (require '[skein.trace :as trace])
                                                       (defn leaf [x] x)
                                                       (trace/trace-vars {:sink {:file "/dev/full"}} leaf)
                                                       (print (leaf 1) (leaf 2))
                                                       (flush)))])]
      (if (.exists (File. "/dev/full"))
        (is (re-matches #"skein.trace: a sink threw java.io.IOException: .*\(skein.trace/status\) counts such failures.\s+1 2" told))
        (skip! "there is no /dev/full")))))

(deftest a-sink-may-call-what-is-traced
  (let [seen (atom [])]
    (trace/trace-vars {:sink (fn calls-it [e] (leaf 5) (swap! seen conj (:phase e)))} leaf)
    (leaf 1)
    (is (= [:call :return] @seen))))

(defn- error-of [f]
  (try (f) nil (catch ExceptionInfo e (:skein/error (ex-data e)))))

(deftest unknown-sinks-formats-and-options-are-refused
  (doseq [x [:nowhere "file.txt" 5 [:out :nowhere] {:file "no/such/folder/trace.txt"} {:file "."}]]
    (is (= :skein/bad-argument (error-of (fn [] (trace/add-sink! ::bad x))))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/add-sink! {:format :fancy} ::bad :out)))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/add-sink! {:sink :out} ::bad :out)))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/records {:nested true})))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/trace-vars {:sink :nowhere} leaf)))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/trace-vars {:format :fancy} leaf)))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/trace-vars {:snk :ring} leaf)))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/trace-ns {:math #"x"} skein.trace.sink-test)))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/with-traced {:snk :ring} [leaf] 1)))))
  (is (not (contains? (set (:traced (trace/status))) #'leaf))))

(deftest bad-limits-are-refused
  (is (= :skein/bad-argument (error-of (fn [] (trace/with-limits {:dpeth 3} 1)))))
  (is (= :skein/bad-argument (error-of (fn [] (trace/with-limits 3 1)))))
  (doseq [options [{:depth 0} {:calls -1} {:rate 5} {:rate [1 0]} {:length "x"} {:chars 1.5}]]
    (is (= :skein/bad-argument (error-of (fn [] (trace/with-limits options 1)))) (pr-str options))))
