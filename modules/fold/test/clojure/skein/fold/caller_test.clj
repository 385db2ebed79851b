;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.caller-test
  "What a helper throws says which fold has failed."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.fold :as fold]))

(set! *warn-on-reflection* true)

(defn- functions
  "The names of this namespace's functions in the stack trace of an exception, and in that of the caller, if it has been added."
  [^Throwable thrown]
  (let [names (fn names [^Throwable t]
                (into #{} (keep (fn [^StackTraceElement e] (second (re-find #"^skein\.fold\.caller_test\$(\w+)" (.getClassName e)))))
                      (.getStackTrace t)))]
    [(names thrown) (into #{} (mapcat names) (.getSuppressed thrown))]))

(defn- fails-unless
  "Throws on any thread but `thread`, which takes its time."
  [thread x]
  (if (identical? thread (Thread/currentThread))
    (do (Thread/sleep 1) x)
    (throw (ex-info "on a helper" {}))))

(defn- fold-with-helpers [source]
  (let [caller (Thread/currentThread)]
    (fold/fold {:workers 2 :grain 1} (fold/through (map (fn [x] (fails-unless caller x))) fold/count) source)))

(defn- fold-alone []
  (fold/fold {:workers 1} (fold/through (map (fn [x] (fails-unless nil x))) fold/count) [1 2]))

(deftest the-callers-stack-is-in-a-suppressed-exception
  (doseq [[what source] {"by position" (vec (range 20000)), "a feed" (iterator-seq (.iterator ^Iterable (vec (range 20000))))}]
    (testing what
      (let [[own caller] (functions (try (fold-with-helpers source) (catch Exception e e)))]
        (is (contains? own "fails_unless"))
        (is (contains? caller "fold_with_helpers"))))))

(deftest exceptions-on-the-callers-thread-need-no-addition
  (let [[own caller] (functions (try (fold-alone) (catch Exception e e)))]
    (is (contains? own "fold_alone"))
    (is (= #{} caller))))
