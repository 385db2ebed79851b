;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.mark-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.impl.go-programs :refer [put-val take-val]]
   [skein.impl.go.mark :as mark]
   [skein.kind :refer [kind-of]]))

(set! *warn-on-reflection* true)

(def ^:private ops [take-val put-val])

(defn- marks
  "The marked subforms of `form`, outermost first."
  [form]
  (binding [*ns* (the-ns 'skein.impl.go.mark-test)]
    (filterv (fn marked? [x] (and (instance? clojure.lang.IObj x) (mark/transformed? x)))
             (tree-seq coll? seq (mark/mark form)))))

(deftest forms-that-reach-a-park-are-marked
  (is (= 2 (count ops)))
  (is (= '[(f (take-val c)) (take-val c)] (marks '(f (take-val c)))))
  (is (= '[[1 (take-val c)] (take-val c)] (marks '[1 (take-val c)])))
  (is (= '[(do (g) (take-val c)) (take-val c)] (marks '(do (g) (take-val c)))))
  (is (= [] (marks '(do (g) '(take-val c) (fn* ([x] (take-val x)))))))
  (is (= [] (marks '(reify* [clojure.lang.IDeref] (deref [_] (take-val c)))))))

(deftest recurs-of-parking-loops-are-marked
  (is (some #{'(recur 1)} (marks '(loop* [x 0] (if x (recur 1) (take-val c))))))
  (is (= [] (marks '(loop* [x 0] (if x (recur 1) 2)))))
  (is (not-any? ::mark/loops (map meta (marks '(loop* [x (take-val c)] (if x (recur 1) 2))))) "only its start parks")
  (is (some ::mark/loops (map meta (marks '(loop* [x 0] (take-val c)))))))

(deftest monitors-are-left-alone
  (is (= [] (marks '(try (let* [l o] (monitor-enter l) (try (take-val c) (finally (monitor-exit l))))))))
  (is (= '[(do (let* [l o] (monitor-enter l) (take-val c)) (take-val d)) (take-val d)]
         (marks '(do (let* [l o] (monitor-enter l) (take-val c)) (take-val d))))))

(defn- error [form]
  (try (marks form) nil (catch clojure.lang.ExceptionInfo e (kind-of (ex-data e)))))

(deftest wrong-calls-and-recurs-are-errors
  (is (= [:skein/bad-block :bad-arity] (error '(take-val))))
  (is (= [:skein/bad-block :bad-arity] (error '(put-val c))))
  (is (= [:skein/bad-block :bad-recur] (error '(recur))))
  (is (= [:skein/bad-block :bad-recur] (error '(loop* [x 1] (recur) 2))))
  (is (= [:skein/bad-block :bad-recur] (error '(loop* [x 1] (try (recur 1))))))
  (is (= [:skein/bad-block :bad-recur] (error '(loop* [x 1] (let* [] (monitor-enter x) (recur 1))))))
  (is (= [:skein/bad-block :bad-recur] (error '(loop* [x 1] (recur 1 2)))))
  (is (nil? (error '(loop* [x 1] (let* [y x] (case* y 0 0 (recur 1) {1 [1 (do 1 (recur 2))]} :compact :int)))))))
