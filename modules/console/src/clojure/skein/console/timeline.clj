;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.timeline
  "Selects the steps and waits that the page draws, if the target records them.

  * `drawn`: the longest of them"
  {:no-doc true}
  (:require
   [skein.inspect.words :as words])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(def ^:const ^:private max-slices 6000)
(def ^:const ^:private max-ms 60000)

(defn drawn
  "Returns {:slices :total :last-ms}: the steps and waits of the last `last-ms`, by time, or the longest of them if there are
  too many. Returns {:off why} if there is no record."
  [{:keys [timeline]} last-ms]
  (if-not timeline
    {:off "A file has no timeline."}
    (try
      (let [last-ms (max 1 (min (long last-ms) (long max-ms)))
            slices (:slices (timeline last-ms))
            longest (take max-slices (sort-by (comp - :us) slices))]
        {:total (count slices)
         :last-ms last-ms
         :slices (mapv (fn shown [s] (-> (dissoc s :site) (assoc :place (some-> (:site s) words/place))))
                       (sort-by :at-us longest))})
      (catch ExceptionInfo e
        (if (#{:skein/inspect-off :skein/not-inspectable} (:skein/error (ex-data e)))
          {:off (or (re-find #"The steps of blocks are not recorded\." (ex-message e)) (ex-message e))}
          (throw e))))))
