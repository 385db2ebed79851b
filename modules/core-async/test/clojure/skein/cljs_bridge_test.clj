;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-bridge-test
  "cljs.core.async on Skein, in Node."
  (:require
   [cljs.build.api :as build]
   [clojure.java.shell :refer [sh]]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.skip :refer [skip!]]))

(set! *warn-on-reflection* true)

(defn- node? []
  (try (zero? (long (:exit (sh "node" "--version"))))
       (catch java.io.IOException _ false)))

(deftest programs-for-core-async-run-on-skein
  (if (node?)
    (do (build/build "modules/core-async/test/clojure/skein/cljs_bridge"
                     {:main 'skein.cljs-bridge.program :optimizations :none :target :nodejs
                      :output-to "target/cljs/bridge.js" :output-dir "target/cljs/bridge"})
        (is (= ["PORT 42" "ALTS 8" "BUFFER [2 1 0]" "PROMISE 5 6" "REJECTED [:promise-error 7]" "ALT :default"
                "PROTOCOL true true false" "TYPE [:channel :channel :channel :other]" "FUNCTION []"
                "BROKEN :goes-on (asked completed failed)"
                "FILTERS [2 3 6] 2 [1 3] [2] [1 1 2 2] [1 2] [[1 2] [3]] [[1 3] [2]]" "VALUES [1 1]"]
               (str/split-lines (:out (sh "node" "target/cljs/bridge.js"))))))
    (skip! "there is no Node")))
