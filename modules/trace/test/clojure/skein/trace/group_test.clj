;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.group-test
  "Lines of one tree of calls stand together, and none is lost where the tree does not end."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.trace :as trace]
   [skein.trace.group :as group])
  (:import
   (java.io File StringWriter)
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(use-fixtures :each (fn clean [run] (try (run) (finally (trace/untrace-all)))))

(defn leaf [x] (Thread/yield) (inc (long x)))
(defn branch [x] (+ (long (leaf x)) (long (leaf (inc (long x))))))
(defn fail [x] (leaf x) (throw (ex-info "failed" {})))

(defn- lines-of [f]
  (let [out (StringWriter.)]
    (binding [*out* out] (f))
    (str/split-lines (str out))))

(defn- place-and-text [line]
  (rest (re-matches #"\S+ (\S+)\s+#\d+(?:<\d+)?  (.*?)(?:   \d+\.\d\S+)?" line)))

(defn- tree-of [x]
  (let [x (long x)]
    [(str "(skein.trace.group-test/branch " x ")")
     (str "│ (skein.trace.group-test/leaf " x ")") (str "│ => " (inc x))
     (str "│ (skein.trace.group-test/leaf " (inc x) ")") (str "│ => " (+ 2 x))
     (str "=> " (+ 3 (* 2 x)))]))

(deftest trees-of-threads-and-blocks-are-whole
  (let [go! (CountDownLatch. 1)
        lines (lines-of
                (fn run-all []
                  (trace/trace-vars {:group? true} leaf branch)
                  (let [threads (mapv (fn [i] (a/thread (.await go!) (dotimes [j 50] (branch (+ (* 100 (long i)) j))))) (range 8))
                        blocks (mapv (fn [i] (a/go (.await go!) (branch (+ 1000 (long i))))) (range 100))]
                    (.countDown go!)
                    (within-deadline (run! a/<!! (into threads blocks)))
                    (trace/untrace-all))))
        trees (partition-all 6 (map place-and-text lines))]
    (is (every? (fn [tree] (apply = (map first tree))) trees) "a tree is of one thread or block")
    (is (= (frequencies (map tree-of (concat (for [i (range 8), j (range 50)] (+ (* 100 (long i)) (long j))) (range 1000 1100))))
           (frequencies (map (partial map second) trees))))))

(deftest a-throw-ends-a-tree-in-any-format
  (is (= ["TRACE t: (skein.trace.group-test/fail 1)" "TRACE t: | (skein.trace.group-test/leaf 1)" "TRACE t: | => 2"]
         (map (fn [line] (str/replace line #"t\d+" "t"))
              (lines-of (fn []
                          (trace/with-traced {:group? true, :format :tools.trace} [fail leaf]
                            (try (fail 1) (catch Exception e e)))))))))

(deftest the-outermost-call-that-a-sink-sees-is-the-root
  (let [file (File/createTempFile "trace" ".txt")]
    (try
      (trace/trace-vars {:sink []} branch)
      (trace/trace-vars {:sink {:file (str file)}, :group? true} leaf)
      (branch 1)
      (is (= ["│ (skein.trace.group-test/leaf 1)" "│ => 2" "│ (skein.trace.group-test/leaf 2)" "│ => 3"]
             (map (comp second place-and-text) (str/split-lines (slurp file)))))
      (finally (.delete file)))))

;;;; Trees that do not end

(defn- sink-of
  "A grouped sink that adds to `texts`, an atom with a vector."
  [texts hold-ms]
  (group/grouped (fn line [{:keys [phase id]}] (str (name phase) id " ")) (constantly texts)
                 (fn write! [out text] (swap! out conj text)) hold-ms))

(deftest long-calls-are-shown-while-they-run
  (let [texts (atom [])
        sink (sink-of texts 20)]
    (sink {:phase :call, :id 1, :group 1})
    (sink {:phase :call, :id 2, :group 1})
    (within-deadline (while (empty? @texts) (Thread/onSpinWait)))
    (run! sink [{:phase :return, :id 2, :group 1} {:phase :return, :id 1, :group 1} {:phase :async-return, :id 1, :group 1}])
    (is (= ["call1 call2 running1 " "return2 " "return1 " "async-return1 "] @texts))))

(deftest a-long-tree-is-shown-in-parts
  (let [texts (atom [])
        sink (sink-of texts 1000000)]
    (run! (fn [id] (sink {:phase :call, :id id, :group 1})) (range 1 10001))
    (is (= [10001] (map (fn [text] (count (str/split text #" "))) @texts)))
    (testing "and of the calls inside it, too"
      (sink {:phase :call, :id 10001, :group 1})
      (sink {:phase :return, :id 10001, :group 1})
      (is (= "call10001 return10001 " (peek @texts))))))

(deftest held-events-are-written-at-exit
  (is (re-find #"(?m)\(user/stuck\)\n.*user/stuck still running$"
               (fresh-jvm/output [] ["-e" (pr-str '(do (require '[skein.trace :as trace])
                                                       (defn stuck [] (System/exit 0))
                                                       (trace/trace-vars {:group? true} stuck)
                                                       (stuck)))]))))
