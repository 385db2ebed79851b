;; SPDX-License-Identifier: Apache-2.0
(ns skein.once-test
  "Types and state of a module are defined once, so that they outlive a reload of their namespace."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private types '#{deftype defrecord defprotocol definterface defmulti})

(defn- state?
  "Returns whether the form `init` makes an object that changes. A cache, such as memoize or delay makes, may be lost."
  [init]
  (and (seq? init)
       (or (contains? '#{atom volatile! ref agent promise Collections/synchronizedMap} (first init))
           (re-find #"(Atomic\w+|Map|ThreadLocal|Queue|Lock|Object)\.$" (str (first init))))))

(defn- faults
  "Reports definitions that a reload would repeat."
  [file]
  (for [[op defined & more :as form] (filter seq? (project/forms file))
        :when (or (types op) (and (= 'def op) (state? (last more))))]
    (str (:path file) ":" (:line (meta form)) ": " op " " defined ": use "
         (if (= 'def op) "defonce" "skein.impl.once"))))

(deftest types-and-state-outlive-a-reload
  (is (= [] (mapcat faults (filter #(str/starts-with? (:path %) "modules/") (project/main-clojure))))))
