;; SPDX-License-Identifier: Apache-2.0
(ns skein.called-test
  "Each public var of skein.async is called in a test."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.async]
   [skein.project :as project])
  (:import
   (java.util.regex Pattern)))

(set! *warn-on-reflection* true)

(defn- named-in? [text sym]
  (re-find (re-pattern (str "(?<![\\w*+!?<>=/.-])(?:a/|async/)?" (Pattern/quote (str sym)) "(?![\\w*+!?<>=-])")) text))

(deftest every-var-is-called-in-a-test
  (let [text (str/join "\n" (map :text (project/files ["modules/async/test/clojure"] ["_test.clj"])))
        called-by-functions (fn [v] (let [m (meta v)] (or (:protocol m) (map? @v))))] ; the protocols and their methods
    (is (= [] (for [[sym v] (ns-publics 'skein.async)
                    :when (not (or (called-by-functions v) (named-in? text sym)))]
                sym)))
    (is (not (named-in? "(pipeline-async 1)" 'pipeline)))))
