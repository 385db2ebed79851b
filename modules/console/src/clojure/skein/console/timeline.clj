;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.timeline
  "Selects the steps and waits that the page draws, if the target records them.

  * `drawn`: those of each view"
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.inspect.words :as words])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(def ^:const ^:private max-slices "How many slices a view draws at most." 6000)
(def ^:const ^:private max-blocks "How many blocks have a row at most." 60)
(def ^:const ^:private max-ms 60000)

(defn- longest
  "Returns {:slices :total}: the slices by time, or the longest of them if there are too many."
  [slices]
  {:total (count slices)
   :slices (->> (sort-by (comp - :us) slices)
                (take max-slices)
                (sort-by :at-us)
                (mapv (fn shown [s] (-> (dissoc s :site) (assoc :place (some-> (:site s) words/place))))))})

(defn drawn
  "Returns {:threads {:slices :total} :blocks {:slices :total :shown :of} :last-ms} for the last `last-ms`: the steps of all threads,
  and the steps and waits of those blocks that have the most. Returns {:off why} if there is no record."
  [{:keys [timeline]} last-ms]
  (if-not timeline
    {:off "A file has no timeline."}
    (try
      (let [last-ms (max 1 (min (long last-ms) (long max-ms)))
            slices (:slices (timeline last-ms))
            blocks (vals (group-by :block slices))
            busiest (take max-blocks (sort-by (comp - count) blocks))]
        {:last-ms last-ms
         :threads (longest (filter (comp #{:run} :kind) slices))
         :blocks (assoc (longest (into [] cat busiest)) :shown (count busiest) :of (count blocks))})
      (catch ExceptionInfo e
        (if (#{:skein/inspect-off :skein/not-inspectable} (:skein/error (ex-data e)))
          {:off (or (re-find #"The steps of blocks are not recorded\." (ex-message e)) (error/untold (ex-message e)))}
          (throw e))))))
