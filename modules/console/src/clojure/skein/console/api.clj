;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.api
  "Answers the page's requests: paths below /api, in JSON from the last look, and a stream with the counts of each look.

  * `routes` of a console, for `skein.page/serve!`"
  {:no-doc true}
  (:require
   [clojure.data.json :as json]
   [skein.console.graph :as graph]
   [skein.console.looks :as looks]
   [skein.console.source :as source]
   [skein.console.timeline :as timeline]
   [skein.console.views.blocks :as blocks]
   [skein.console.views.channels :as channels]
   [skein.console.views.overview :as overview]
   [skein.console.views.problems :as problems]
   [skein.console.views.scopes :as scopes]
   [skein.impl.error :as error]
   [skein.inspect :as inspect])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(def ^:const ^:private tick-ms 1000)

(defn- json [x]
  {:type "application/json; charset=utf-8" :body (json/write-str x)})

(defn- text [format snapshot]
  (with-out-str (inspect/dump! {:as format} snapshot)))

(defn- whole [s]
  (some->> s (re-matches #"-?\d{1,18}") parse-long))

(defn- options [{:strs [q sort from n]}]
  {:q q :sort sort :from (whole from) :n (whole n)})

(defn- tick
  "Returns the counts of the last look, in one line of JSON."
  [{:keys [target actions]} {:keys [look history growth error]}]
  (json/write-str {:name (:name target) :live (:live? target) :rev (:rev look) :at (:at-ms (:snapshot look))
                   :took (:took-ms look)
                   :error error :actions (vec actions)
                   :counts (when look (overview/counts look growth))
                   :history history}))

(defn- stream [{:keys [looks] :as console}]
  {:events (fn events [send!]
             (while true
               (send! (tick console (looks/look! looks)))
               (dotimes [_ 2] ; only the second write to a closed connection fails: at most one look is wasted
                 (Thread/sleep (quot (long tick-ms) 2))
                 (send! ""))))})

(defn- answer
  "Returns the data for a path, or nil if the block or channel that it names is gone."
  [{:keys [looks target before]} {:keys [path query]}]
  (let [{:keys [look growth sites]} (looks/latest looks)
        lines (fn lines [site] (source/lines ((:paths target)) site))
        earlier (some->> sites first :blocks (map :site) frequencies)
        id (whole (query "id"))]
    (case path
      "/api/overview" (overview/overview look growth lines)
      "/api/problems" (problems/problems look growth lines)
      "/api/sites" (blocks/sites look earlier (options query))
      "/api/blocks" (blocks/blocks look (options query))
      "/api/block" (blocks/block look id lines)
      "/api/channels" (channels/channels look (options query))
      "/api/channel" (channels/channel look id)
      "/api/threads" (channels/threads look (options query))
      "/api/scopes" (scopes/scopes look)
      "/api/graph" (graph/drawn look {:of (query "of") :hops (or (whole (query "hops")) 2)})
      "/api/timeline" (timeline/drawn target (or (whole (query "last-ms")) 5000))
      "/api/before" (when before {:rows (vec (take 1000 (:rows (blocks/sites before nil {:n 1000}))))})
      ::unknown)))

(defn- get-it [{:keys [looks] :as console} {:keys [path] :as request}]
  (case path
    "/api/stream" (stream console)
    "/api/dump.json" {:type "application/json; charset=utf-8" :body (text :json (:snapshot (:look (looks/latest looks))))}
    "/api/dump.edn" {:type "application/edn; charset=utf-8" :body (text :edn (:snapshot (:look (looks/latest looks))))}
    "/metrics" {:type "application/openmetrics-text; version=1.0.0; charset=utf-8"
                :body (inspect/metrics (:snapshot (:look (do (looks/look! looks) (looks/latest looks)))))}
    (let [data (answer console request)]
      (when-not (= ::unknown data) (json data)))))

(defn- post-it [{:keys [looks actions target]} {:keys [path]}]
  (let [action ({"/api/prove" :prove "/api/record" :record} path)]
    (when (and (contains? actions action) (:live? target))
      (json (case action
              :prove {:rev (:rev (:look (looks/prove! looks)))}
              :record (do ((:record! target)) {}))))))

(defn routes
  "Returns the routes of a console {:target :looks :actions :before}."
  [console]
  (fn route [{:keys [method] :as request}]
    (try
      (if (= "POST" method) (post-it console request) (get-it console request))
      (catch ExceptionInfo e
        (if (:skein/error (ex-data e))
          (assoc (json {:error (error/untold (ex-message e))}) :status 400)
          (throw e))))))
