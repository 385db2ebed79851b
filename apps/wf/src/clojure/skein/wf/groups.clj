;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.groups
  "What puts keys together after they are counted: there are few agents, say, beside the lines that have them.

  - `names`   what can be made
  - `source`  a name -> the field that it is made from
  - `group`   a name -> a function from a text of that field to the text to count under, or nil for none"
  (:require
   [clojure.string :as str]
   [skein.wf.filter :as filter]))

(set! *warn-on-reflection* true)

(defn- late
  "Returns a function that loads and calls the function `symbol`, which few reports need."
  [symbol]
  (let [function (delay (requiring-resolve symbol))]
    (fn call [text] (@function text))))

(def ^:private groups
  {"browser" {:source "agent", :group (late 'skein.wf.agents/browser)}
   "os"      {:source "agent", :group (late 'skein.wf.agents/system)}
   "crawler" {:source "agent", :group filter/crawler}})

(def names
  "The names of all."
  (sort (keys groups)))

(defn source
  "Returns the field that `name` is made from; `name` where it is no name of a group."
  [name]
  (get-in groups [name :source] name))

(defn group
  "Returns the function of the group called `name`, or nil."
  [name]
  (get-in groups [name :group]))
