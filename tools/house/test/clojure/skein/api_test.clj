;; SPDX-License-Identifier: Apache-2.0
(ns skein.api-test
  "doc/api.edn has the public names and arguments that the code has, so that a change of the API is seen in review."
  (:require
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [are deftest is]]
   [skein.api :as api]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- rows [api]
  (set (for [[platform table] api, [n entries] table, entry entries] (into [platform n] entry))))

(deftest the-file-of-the-api-is-up-to-date
  (let [kept (rows (api/kept)), in-code (rows (api/in-code))]
    (is (= {:only-in-the-file #{}, :only-in-the-code #{}}
           {:only-in-the-file (set/difference kept in-code), :only-in-the-code (set/difference in-code kept)})
        "./skein api --write brings doc/api.edn up to date")))

(defn- options-of
  "Returns {:option :says} for each entry of the lists of options in a docstring, such as `- :n  how many at once`."
  [doc]
  (for [[_ option says] (re-seq #"(?m)^ *- (:[a-z-]+\??) +(.*(?:\n {6,}\S.*)*)" (str doc))]
    {:option option :says says}))

(def ^:private old-names
  "What was once the name of an option, and what it is now."
  {":parallelism" ":workers", ":unordered" ":ordered?", ":deadline-ms" ":timeout-ms", ":timeout" ":timeout-ms", ":seconds" ":for-ms"
   ":within" ":within-ms", ":looks" ":n", ":limit-ms" ":timeout-ms"})

(def ^:private other
  "Options with names of core.async, and those whose value is true or a keyword."
  #{":default" ":priority" ":solo" ":mute" ":pause" ":prove" ":heap"})

(defn- faults-of
  "Returns what is wrong with an option, by the rules of names: times end in -ms, booleans in ?, and :on-error is one thing."
  [{:keys [option says]}]
  (let [starts (fn [re] (re-find re says))]
    (cond
      (other option) nil
      (old-names option) (str "is called " (old-names option) " elsewhere")
      (and (starts #"number of milliseconds|in milliseconds") (not (str/ends-with? option "-ms"))) "holds a time, so its name ends in -ms"
      (and (starts #"^(true|false)\b") (not (str/ends-with? option "?"))) "is true or false, so its name ends in ?"
      (and (str/ends-with? option "?") (not (re-find #"true|false|whether" says)) (not (starts #"^function"))) "says neither what true nor what false means")))

(deftest options-are-named-by-one-rule
  (are [fault option says] (= fault (faults-of {:option option :says says}))
    nil ":timeout-ms" "the longest time, a number of milliseconds"
    "holds a time, so its name ends in -ms" ":grace" "a number of milliseconds"
    "is true or false, so its name ends in ?" ":ordered" "true, the default: in order"
    "is called :workers elsewhere" ":parallelism" "the most threads")
  (is (= [] (for [file (project/main-clojure), :when (project/for-users? file)
                  n (filter #{(project/ns-name-of file)} (project/main-namespaces))
                  v (do (require n) (vals (ns-publics n)))
                  option (options-of (:doc (meta v)))
                  :let [fault (faults-of option)]
                  :when fault]
              [v (:option option) fault]))))
