;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.query-test
  (:require
   [clojure.test :refer [are deftest is]]
   [skein.console.query :as query]
   [skein.inspect.shape :as shape])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(def ^:private snapshot
  {:blocks [{:id 1 :state :parked :since-ms 6000 :age-ms 60000 :site {:file "demo/orders.clj" :line 31 :form "(>! requests r)"} :waits [{:op :put :channel 7}]}
            {:id 2 :state :parked :since-ms 100 :age-ms 100 :parent 1 :site {:file "demo/order_book.clj" :line 3 :form "(<! c)"} :waits [{:op :take :channel 8}]}
            {:id 3 :state :running :since-ms 0 :age-ms 7200000 :site {:file "other.clj" :line 310} :waits []}]
   :channels [{:id 7 :kind :chan :label "Requests"} {:id 8 :kind :chan}]})

(defn- chosen [text]
  (map :id (filter (query/predicate text (shape/index snapshot)) (:blocks snapshot))))

(deftest a-filter-chooses-blocks
  (are [text ids] (= ids (chosen text))
    "" [1 2 3]
    "state:parked" [1 2]
    "-state:parked" [3]
    "op:put" [1]
    "site:orders.clj:31" [1]
    "site:orders.clj" [1]
    "site:other.clj:31" []
    "ns:demo.*" [1 2]
    "ns:demo.order-book" [2]
    "ns:order" []
    "chan:requests" [1]
    "chan:chan-8" [2]
    "parent:1" [2]
    "parent:go-1" [2]
    "since>5s" [1]
    "age>1m age<1h" []
    "age>0.9m -age>1h" [1]
    "age<200ms" [2]
    "state:parked -op:put" [2]
    "\"(<! c)\"" [2]
    ">!" [1]
    "GO-3" [3]
    "nothing" []))

(defn- refused-at [text]
  (try (query/predicate text (shape/index snapshot)) nil
       (catch ExceptionInfo e [(:skein/error (ex-data e)) (:at (ex-data e))])))

(deftest bad-filter-is-refused-with-its-position
  (are [text at] (= [:skein/bad-argument at] (refused-at text))
    "state:asleep" 0
    "op:put op:jump" 7
    "op:put colour:red" 7
    "age>soon" 0
    "size>3" 0)
  (is (nil? (refused-at "\"not closed"))))
