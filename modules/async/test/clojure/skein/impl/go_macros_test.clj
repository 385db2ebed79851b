;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go-macros-test
  "Clojure's own macros around and between parks mean what they mean elsewhere."
  (:require
   [clojure.test :refer [deftest]]
   [skein.impl.go-programs :refer [take-val]]
   [skein.impl.go-test :refer [later now same]]))

(set! *warn-on-reflection* true)

(deftest macros-around-parks
  (same 1 (let [^{:tag String} x (take-val (now "a"))] (.length x)))
  (same 1 ((fn [& {:keys [a]}] a) :a (take-val (now 1))))
  (same 6 (as-> (take-val (now 1)) x (+ x (take-val (now 2))) (* x 2)))
  (same 2 (some-> (take-val (now {:a 1})) :a (+ (take-val (now 1)))))
  (same 120 (with-open [r (java.io.StringReader. "x")] (take-val (now 1)) (.read r)))
  (same 3 (with-local-vars [v 1] (take-val (later 2)) (var-set v (take-val (later 3))) @v))
  (same "1" (with-out-str (print (take-val (later 1)))))
  (same [1] (for [x [1]] x))
  (same [1 2] (vec (for [x [(take-val (now 1)) 2] y [x]] y)))
  (same 9 (loop [[a & as] [1 2 3] s 0] (if a (recur as (+ s a (take-val (later 1)))) s)))
  (same [1 2] (let [a (object-array 2)] (aset a 0 (take-val (now 1))) (aset a 1 (take-val (now 2))) (vec a)))
  (same 6 (let [x 5] (case (take-val (now 1)) 1 (let [x 6] (case x 6 (take-val (now x)) 7 0)) 2)))
  (same 3 (try (loop [i 0] (if (< i 3) (do (take-val (later 1)) (recur (inc i))) (throw (ex-info "e" {:i i})))) (catch clojure.lang.ExceptionInfo e (:i (ex-data e)))))
  (same 2 (-> (take-val (now [1 2])) (nth 1)))
  (same "r" (let [r (reify Object (toString [_] "r"))] (take-val (now 1)) (str r)))
  (same "p" (let [p (proxy [Object] [] (toString [] "p"))] (take-val (now 1)) (str p)))
  (same 2 (let [x (volatile! 0)] (vswap! x + (take-val (now 2))) @x))
  (same 0 (if-not (take-val (now false)) (when-some [x (take-val (now 0))] x)))
  (same 4 (dosync (ref 1) (take-val (later 4))))
  (same 4 @(delay (take-val (later 4))))
  (same [1 2] (doto (java.util.ArrayList.) (.add (take-val (now 1))) (.add (take-val (now 2)))))
  (same true (.. (java.util.Date. (long (take-val (now 5)))) (toString) (equals (str (java.util.Date. (long (take-val (now 5))))))))
  (same nil (assert (take-val (now true))))
  (same 5 (let [x (int-array [1 2])] (areduce x i r 0 (+ r (aget x i) (take-val (now 1))))))
  (same 3 (condp some [1 2] #{(take-val (now 3))} :no #{(take-val (now 2))} :>> inc))
  (same [:f 1] (letfn [(f [n] (if (pos? n) (g (dec n)) :f)) (g [n] (f n))] [(take-val (now (f 3))) (let [f 1] (take-val (now f)))]))
  (same [1 2] (doall (map take-val [(now 1) (later 2)])))
  (same [1 \a false] (loop [i (byte 1) c' \a b true] (take-val (now 1)) (if b (recur i c' false) [i c' b])))
  (same [6.5 2.5] (loop [x 1.5 y (float 2.5)] (take-val (now 1)) (if (< x 5) (recur (+ x y) y) [x y])))
  (same true (let [x (Object.)] (identical? x (let [y x] (take-val (later 1)) y))))
  (same :div (do (take-val (later 1)) (try (/ 1 0) (catch Exception e :div) (finally 1))))
  (same "1-2" (String/format "%s-%s" (into-array Object [(take-val (now 1)) (take-val (now 2))])))
  (same [1] (mapv String/.length [(take-val (now "a"))]))
  (same 1 (let [m {:a 1}] (:a m (take-val (now 2))))))
