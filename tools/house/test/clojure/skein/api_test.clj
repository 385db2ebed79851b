;; SPDX-License-Identifier: Apache-2.0
(ns skein.api-test
  "doc/api.edn has the public names and arguments that the code has, so that a change of the API is seen in review."
  (:require
   [clojure.set :as set]
   [clojure.test :refer [deftest is]]
   [skein.api :as api]))

(set! *warn-on-reflection* true)

(defn- rows [api]
  (set (for [[platform table] api, [n entries] table, entry entries] (into [platform n] entry))))

(deftest the-file-of-the-api-is-up-to-date
  (let [kept (rows (api/kept)), in-code (rows (api/in-code))]
    (is (= {:only-in-the-file #{}, :only-in-the-code #{}}
           {:only-in-the-file (set/difference kept in-code), :only-in-the-code (set/difference in-code kept)})
        "./skein api --write brings doc/api.edn up to date")))
