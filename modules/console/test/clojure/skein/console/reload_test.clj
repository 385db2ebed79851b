;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.reload-test
  "A console from before a reload can be ended after it."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.reloading :as reloading]))

(set! *warn-on-reflection* true)

(def ^:private requires '[[skein.console :as console] [skein.inspect :as inspect]])

(def ^:private reloads
  '[(run! (fn [n] (require n :reload)) '[skein.page skein.console.target skein.console])
    (require 'skein.console :reload-all)])

(def ^:private rows
  '[[:consoles
     [(console/serve!) (console/serve!)]
     (fn [[one other]] [(= :off (inspect/level)) (.close one) (= :off (inspect/level)) (.close other) (= :off (inspect/level))])
     [false nil false nil true]]])

(deftest consoles-from-before-a-reload-can-be-ended
  (is (= [] (reloading/faults requires reloads rows))))
