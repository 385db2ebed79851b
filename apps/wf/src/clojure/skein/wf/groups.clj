;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.groups
  "Groups of keys, made after the keys are counted, because there are far fewer agents, say, than lines with an agent.

  - `names`     what can be made
  - `source`    a name -> the field that it is made from
  - `group`     a name -> a function from a text of that field to the text to count under, or nil for none"
  (:require
   [skein.impl.error :as error]
   [skein.wf.filter :as filter]))

(set! *warn-on-reflection* true)

(defn- late
  "Returns a function that loads and calls the function `symbol`, which few reports need."
  [symbol]
  (let [function (delay (requiring-resolve symbol))]
    (fn call [text] (@function text))))

(defn- located
  "Returns the function of a group that databases of addresses know; see `skein.wf.geo`."
  [name databases]
  (or (get databases name)
      (error/fail! [:skein/bad-argument :usage]
                   (str "--by " name " needs --geo FILE, a database of " ({"country" "countries", "network" "networks"} name)
                        " in MaxMind's format")
                   {:tally name})))

(def ^:private groups
  "Name -> the field, and a function of the databases that returns the group's function."
  {"browser" {:source "agent", :group (constantly (late 'skein.wf.agents/browser))}
   "os"      {:source "agent", :group (constantly (late 'skein.wf.agents/system))}
   "crawler" {:source "agent", :group (constantly filter/crawler)}
   "country" {:source "client", :group (partial located "country")}
   "network" {:source "client", :group (partial located "network")}})

(def names
  "The names of all groups."
  (sort (keys groups)))

(defn source
  "Returns the field from which the group `name` is made, or `name` if it is not a group."
  [name]
  (get-in groups [name :source] name))

(defn group?
  "Returns whether there is a group called `name`."
  [name]
  (contains? groups name))

(defn group
  "Returns the function of the group called `name`, or nil if there is none. `databases` are as `skein.wf.geo/open` returns them.
  Throws :skein/bad-argument when none knows it."
  [name databases]
  (when-let [{:keys [group]} (groups name)]
    (group databases)))
