;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.forms-test
  (:require
   [clojure.test :refer [are deftest is]]
   [skein.impl.forms :as forms])
  (:import
   (clojure.lang Compiler)))

(set! *warn-on-reflection* true)

(deftest every-special-form-of-this-clojure-is-known
  (is (= [] (remove forms/special? (keys Compiler/specials)))
      "a form that is not known would be taken for a call, and its parts for arguments"))

(deftest parts-are-listed-as-clojure-evaluates-them
  (are [parts form] (= parts (forms/parts form))
    '[[:operator f] [:value x] [:value (g y)]]           '(f x (g y))
    '[]                                                  '(quote (f x))
    '[]                                                  '(var f)
    '[[:value a] [:tail b]]                              '(do a b)
    '[]                                                  '(do)
    '[[:value a] [:tail b] [:tail c]]                    '(if a b c)
    '[[:value 1] [:local x] [:value x] [:local y] [:tail y]] '(let* [x 1 y x] y)
    '[[:value 0] [:local i] [:value (f)] [:tail (recur i)]] '(loop* [i 0] (f) (recur i))
    '[[:param f] [:param g] [:value (fn* ([] 1))] [:value (fn* ([] 2))] [:tail (f)]]
    '(letfn* [f (fn* ([] 1)) g (fn* ([] 2))] (f))
    '[[:self f] [:method ([x] x)] [:method ([x & more] more)]] '(fn* f ([x] x) ([x & more] more))
    '[[:method ([x] 1 x)]]                               '(fn* [x] 1 x)
    '[[:method (run [this] 1)]]                          '(reify* [Runnable] (run [this] 1))
    '[[:field a] [:method (run [this] a)]]               '(deftype* n/T n.T [a] :implements [Runnable] (run [this] a))
    '[[:value x] [:tail d] [:tail a] [:tail b]]          '(case* x 0 0 d {1 [:a a] 2 [:b b]} :compact :int)
    '[[:value a] [:tail b] [:clause (catch E e c)] [:clause (finally d)]] '(try a b (catch E e c) (finally d))
    '[[:thrown e] [:value a] [:tail b]]                  '(catch E e a b)
    '[[:value a] [:value b]]                             '(finally a b)
    '[[:target x] [:value a]]                            '(. x (m a))
    '[[:target x] [:value a]]                            '(. x m a)
    '[[:target x]]                                       '(. x -field)
    '[[:value a]]                                        '(new C a)
    '[[:var v] [:value "doc"] [:value 1]]                '(def v "doc" 1)
    '[[:place (. x -f)] [:value 1]]                      '(set! (. x -f) 1)
    '[[:value x]]                                        '(recur x)
    '[[:value x]]                                        '(throw x)
    '[[:value x]]                                        '(monitor-enter x)))

(deftest other-parts-take-their-places
  (are [rebuilt form parts] (= rebuilt (forms/rebuild form parts))
    '(g y)                              '(f x)                               '[g y]
    '(quote x)                          '(quote x)                           []
    '(if 1 2 3)                         '(if a b c)                          [1 2 3]
    '(let* [x1 1 y2 x1] y2)             '(let* [x a y b] c)                  '[1 x1 x1 y2 y2]
    '(letfn* [f1 a g2 b] c)             '(letfn* [f 1 g 2] 3)                '[f1 g2 a b c]
    '(fn* f ([y] y))                    '(fn* f [x] x)                       '[f ([y] y)]
    '(deftype* n/T n.T [a] :implements [Runnable] (run [t] 2)) '(deftype* n/T n.T [a] :implements [Runnable] (run [t] 1))
    '[a (run [t] 2)]
    '(case* y 1 2 d {1 [:a a'] 2 [:b b']} :compact :int) '(case* x 1 2 0 {1 [:a a] 2 [:b b]} :compact :int)
    '[y d a' b']
    '(try 1 (catch E e 2))              '(try a (catch E e b))               '[1 (catch E e 2)]
    '(catch E e1 e1)                    '(catch E e e)                       '[e1 e1]
    '(. y (m 1 2))                      '(. x (m a b))                       '[y 1 2]
    '(. y m 1)                          '(. x m a)                           '[y 1]
    '(new C 1)                          '(new C a)                           [1]
    '(def v 1)                          '(def v a)                           '[v 1]))

(deftest methods-have-parts-too
  (is (= '[[:param x] [:fixed &] [:param more] [:value 1] [:tail x]] (forms/method-parts '([x & more] 1 x))))
  (is (= '[[:param this] [:tail this]] (forms/method-parts '(get [this] this))))
  (is (= '([y & ys] 2 y) (forms/rebuild-method '([x & more] 1 x) '[y & ys 2 y])))
  (is (= '(get [t] t) (forms/rebuild-method '(get [this] this) '[t t])))
  (is (= '[(get) [this] (1 2)] (forms/split-method '(get [this] 1 2)))))

(defn- marked [x] (with-meta x {:mark true}))

(deftest metadata-stays
  (is (= {:mark true} (meta (forms/rebuild (marked '(if a b)) [1 2]))))
  (is (= {:mark true} (meta (nth (forms/rebuild (list '. 'x (marked '(m a))) '[y 1]) 2))))
  (let [method (forms/rebuild-method (marked (list (with-meta ['x] {:tag 'long}) 'x)) '[y y])]
    (is (= [{:mark true} {:tag 'long}] [(meta method) (meta (first method))]))))
