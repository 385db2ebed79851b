;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.slots-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.impl.go.slots :as slots]
   [skein.impl.infer :as infer]))

(set! *warn-on-reflection* true)

(defn- assigned [blocks]
  (slots/assign {:entry 0, :blocks blocks} {'c (infer/tagged 'c nil)}))

(defn- park [next-block] [:park {:method 'take} ['c] next-block []])

(deftest only-locals-that-live-across-blocks-have-slots
  (let [{:keys [slots arms sizes]}
        (assigned [{:params [], :code [['x 1] ['y "s"] ['z "t"] [nil '(f z)]], :exit (park 1)}
                   {:kind :resume, :params ['v], :code [], :exit [:return '(g x y v)]}])]
    (is (= [0 1] arms))
    (is (= {'c {:kind :object, :index 0, :primitive nil, :tag nil}
            'x {:kind :long, :index 0, :primitive Long/TYPE, :tag nil}
            'y {:kind :object, :index 0, :primitive nil, :tag 'java.lang.String}}
           slots))
    (is (= {:object 1, :long 1} sizes))))

(deftest a-block-with-one-predecessor-is-no-arm
  (let [{:keys [arms live]} (assigned [{:params [], :code [], :exit [:branch 'c 1 2]}
                                       {:params [], :code [], :exit [:jump 3 [1]]}
                                       {:params [], :code [], :exit [:jump 3 [2]]}
                                       {:kind :join, :params ['v], :code [], :exit [:return '(f v c)]}
                                       {:params [], :code [], :exit [:return 'unreachable]}])]
    (is (= [0 3] arms))
    (is (= {0 #{'c} 1 #{'c} 2 #{'c} 3 #{'v 'c}} live))))

(deftest locals-of-a-handler-live-in-its-whole-region
  (let [{:keys [live]} (assigned [{:params [], :code [['x '(f)]], :exit [:jump 1 []]}
                                  {:params [], :code [], :handler 3, :exit (park 2)}
                                  {:kind :resume, :params ['v], :code [], :handler 3, :exit [:return 'v]}
                                  {:kind :catch, :params ['t], :code [], :exit [:return '(g x)]}])]
    (is (= #{'x 'v} (live 2)))
    (is (= #{'x} (live 3)))))

(deftest a-large-block-is-cut-off
  (let [large (cons 'f (range 2000))
        {:keys [arms]} (assigned [{:params [], :code [], :exit [:branch 'c 1 2]}
                                  {:params [], :code [], :exit [:return large]}
                                  {:params [], :code [], :exit [:return 1]}])]
    (is (= [0 1] (sort arms)))))
