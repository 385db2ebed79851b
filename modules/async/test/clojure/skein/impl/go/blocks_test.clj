;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.blocks-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.impl.go-programs :refer [put-val take-val]]
   [skein.impl.go.blocks :as blocks]
   [skein.impl.go.mark :as mark]
   [skein.impl.go.readable :refer [readable]]))

(set! *warn-on-reflection* true)

(def ^:private ops [take-val put-val])

(defn- short-exit
  "Without the table entry and the site of a park."
  [[op a b c :as exit]]
  (if (= :park op) [:park (:method a) b c] exit))

(defn- blocks-of
  "[[kind params code exit handler] ...], numbered by place."
  [form locals]
  (binding [*ns* (the-ns 'skein.impl.go.blocks-test)]
    (let [{:keys [blocks]} (blocks/blocks (mark/mark form) (zipmap locals locals))]
      (readable (mapv (fn row [{:keys [kind params code exit handler]}] [kind params code (short-exit exit) handler]) blocks)))))

(deftest code-without-parks-is-one-block
  (is (= 2 (count ops)))
  (is (= '[[nil [] [] [:return (if a (loop* [i 0] (recur (inc i))) (try 1))] nil]]
         (blocks-of '(if a (loop* [i 0] (recur (inc i))) (try 1)) '[a]))))

(deftest a-park-ends-a-block
  (is (= '[[nil [] [] [:park take [c] 1] nil]
           [:resume [v1] [] [:return (inc v1)] nil]]
         (blocks-of '(inc (take-val c)) '[c]))))

(deftest arguments-before-a-park-are-held
  (is (= '[[nil [] [[v1 (g)]] [:park take [c] 1] nil]
           [:resume [v2] [] [:return (f v1 c v2 (h))] nil]]
         (blocks-of '(f (g) c (take-val c) (h)) '[c]))))

(deftest an-operator-is-a-function-before-its-arguments-park
  (is (= '[[nil [] [[:function [v1 f]]] [:park take [c] 1] nil]
           [:resume [v2] [] [:return (v1 v2)] nil]]
         (blocks-of '(f (take-val c)) '[f c])))
  (is (= '[[nil [] [[:function [v1 (g)]]] [:park take [c] 1] nil]
           [:resume [v2] [] [:return (v1 v2)] nil]]
         (blocks-of '((g) (take-val c)) '[c]))))

(deftest branches-meet-in-a-block
  (is (= '[[nil [] [] [:branch a 2 3] nil]
           [:join [v1] [] [:return (f v1)] nil]
           [nil [] [] [:park take [c] 4] nil]
           [nil [] [] [:jump 1 [2]] nil]
           [:resume [v2] [] [:jump 1 [v2]] nil]]
         (blocks-of '(f (if a (take-val c) 2)) '[a c]))))

(deftest a-loop-is-a-block-with-parameters
  (is (= '[[nil [] [[i 0]] [:jump 1 [i]] nil]
           [:loop [i] [] [:park take [c] 2] nil]
           [:resume [v1] [] [:branch v1 3 4] nil]
           [nil [] [] [:jump 1 [(inc i)]] nil]
           [nil [] [] [:return i] nil]]
         (blocks-of '(loop* [i 0] (if (take-val c) (recur (inc i)) i)) '[i c]))))

(deftest a-try-is-a-region-with-a-handler
  (is (= '[[nil [] [] [:jump 2 []] nil]
           [:catch [thrown1] [] [:branch (clojure.core/instance? java.lang.Exception thrown1) 4 5] nil]
           [nil [] [] [:park take [c] 3] 1]
           [:resume [v2] [] [:return v2] 1]
           [nil [] [[e thrown1]] [:return 7] nil]
           [nil [] [] [:return (throw thrown1)] nil]]
         (blocks-of '(try (take-val c) (catch Exception e 7)) '[e c]))))

(deftest a-finally-has-one-copy
  (is (= '[[nil [] [] [:jump 3 []] nil]
           [:boxed [problem1 result2] [[nil (f)]] [:branch problem1 5 6] nil]
           [:catch [thrown3] [] [:jump 1 [thrown3 nil]] nil]
           [nil [] [] [:park take [c] 4] 2]
           [:resume [v4] [] [:jump 1 [nil v4]] 2]
           [nil [] [] [:return (throw problem1)] nil]
           [nil [] [] [:return result2] nil]]
         (blocks-of '(try (take-val c) (finally (f))) '[c]))))

(deftest pushed-bindings-are-kept
  (is (= '[[nil [] [[:own-bindings [base1]] [nil (push-thread-bindings m)]] [:park take [c] 1] nil]
           [:resume [v2] [[:adopt-bindings base1]] [:return v2] nil]]
         (blocks-of '(do (push-thread-bindings m) (take-val c)) '[c m]))))
