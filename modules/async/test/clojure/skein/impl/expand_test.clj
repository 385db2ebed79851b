;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.expand-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.impl.expand :as expand]
   [skein.impl.go.readable :refer [readable]]
   [skein.impl.infer :as infer]))

(set! *warn-on-reflection* true)

(defn- expanded
  ([form] (expanded {} form))
  ([env form] (readable (:form (expand/expand env form)))))

(deftest macros-are-expanded-and-special-forms-stay
  (is (= '(if a (do b)) (expanded '(when a b))))
  (is (= '(. "x" length) (expanded '(.length "x"))))
  (is (= '(new String "x") (expanded '(String. "x"))))
  (is (= '(do (quote (when a)) (var inc) [(if a (do 1))] #{(if b (do 2))}) (expanded '(do '(when a) #'inc [(when a 1)] #{(when b 2)}))))
  (is (= '{:a (if b (do 1))} (expanded '{:a (when b 1)}))))

(deftest locals-are-renamed-apart
  (is (= '(let* [x1 1 x2 (inc x1)] (let* [x3 x2] x3)) (expanded '(let [x 1 x (inc x)] (let [x x] x)))))
  (is (= '(loop* [i1 0] (recur (inc i1))) (expanded '(loop [i 0] (recur (inc i))))))
  (is (= '(fn* self ([x1 & y2] (self x1 y2))) (expanded '(fn* self ([x & y] (self x y))))))
  (is (= '(letfn* [f1 (fn* f ([x2] (g3 x2))) g3 (fn* g ([x4] (f1 x4)))] (f1 1))
         (expanded '(letfn [(f [x] (g x)) (g [x] (f x))] (f 1)))))
  (is (= '(try a (catch Exception e1 e1) (finally e)) (expanded '(try a (catch Exception e e) (finally e)))))
  (is (= '(reify* [clojure.lang.IDeref] (deref [this1] this1))
         (expanded '(reify* [clojure.lang.IDeref] (deref [this] this)))))
  (is (= '(let* [x1 1] (case* x1 0 0 x1 {1 [1 x1]} :compact :int)) (expanded '(let* [x 1] (case* x 0 0 x {1 [1 x]} :compact :int))))))

(deftest locals-win-over-macros-but-not-over-classes
  (is (= '(let* [when1 inc] (when1 2)) (expanded '(let [when inc] (when 2)))))
  (is (= '(let* [String1 "x"] (. String (valueOf String1))) (expanded '(let* [String "x"] (. String (valueOf String))))))
  (is (= '(let* [x1 "x"] (. x1 x)) (expanded '(let [x "x"] (. x x))))))

(deftest surrounding-locals-are-known
  (let [{:keys [form outer]} (expand/expand {'x (infer/primitive 'x Long/TYPE) 'y (infer/tagged 'y 'String)} '(+ x z))
        [_ x z] form]
    (is (= 'z z))
    (is (= 'x (:sym (outer x))))
    (is (= Long/TYPE (infer/primitive-class (:binding (outer x)))))))

(deftest metadata-stays-and-lines-are-inherited
  (let [form (with-meta (list 'when 'a (list 'b)) {:line 7 :column 3})
        expanded (:form (expand/expand {} form))]
    (is (= 7 (:line (meta expanded))))
    (is (= 7 (:line (meta (second (nth expanded 2)))))))
  (is (= 'String (:tag (meta (first (second (:form (expand/expand {} '(let [^String x a] x)))))))))
  (is (= '(let* [x1 1] {:k x1})
         (let [[op bindings literal] (:form (expand/expand {} '(let* [x 1] ^{:k x} [2])))]
           (readable (list op bindings (meta literal)))))
      "the metadata of a literal is evaluated"))

(deftest set-of-a-local-is-an-error
  (is (= {:skein/error :skein/bad-block :local 'x}
         (try (expand/expand {} '(let [x 1] (set! x 2)))
              (catch clojure.lang.ExceptionInfo e (select-keys (ex-data e) [:skein/error :local]))))))
