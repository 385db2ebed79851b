;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.serve
  "`skein wf --serve`: serves the report as a page to the user of this machine, by `skein.page`.

  - `run`   serves it until the process is interrupted

  The page asks for the report, as HTML, whenever the stream of events says that there is a newer one."
  (:require
   [clojure.data.json :as json]
   [skein.cli.questions :as questions]
   [skein.page :as page]
   [skein.wf.html :as html])
  (:import
   (java.io OutputStream PrintStream)
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(def ^:const ^:private event-ms "The time between two events of the stream." 500)

(defn- event
  "Returns the data for the page, in JSON, which must be one line."
  [{:keys [rev at state says reading]}]
  (let [{:keys [total-bytes bytes-read]} (when (= "counting" state) reading)]
    (json/write-str {:rev rev, :at at, :state state, :says says, :total total-bytes
                     :done (when bytes-read (bytes-read))})))

(defn- stream [state]
  {:events (fn events [send!]
             (while true
               (send! (event @state))
               (Thread/sleep (long event-ms))))})

(defn- wanted
  "Returns the reader's settings of each section, from parameters such as {\"t3\" \"0 up all\"}: sort by column 0, smallest first, show all rows."
  [query]
  (into {} (for [[id text] query
                 :let [[_ by up all] (re-matches #"(\d{1,3})?( up)?( all)?" text)]]
             [id {:by (some-> by parse-long), :up? (some? up), :all? (some? all)}])))

(defn- routes [state]
  (fn route [{:keys [method path query]}]
    (when (= "GET" method)
      (case path
        "/api/stream" (stream state)
        "/api/report" (when-let [result (:result @state)]
                        {:type "text/html; charset=utf-8", :body (html/report result (wanted query))})
        nil))))

(defn- files []
  (merge (page/client) (update-vals html/files page/resource)))

(defn- show! [state kind result]
  (swap! state (fn newer [{:keys [rev] :as state}]
                 (assoc state :rev (inc (long rev)), :at (System/currentTimeMillis), :state kind, :result result, :reading nil))))

(defn- print-url!
  "Writes the address to standard output, and a note on it to standard error. Anyone with the address can see the report."
  [^OutputStream out ^PrintStream notes url]
  (.write out (.getBytes (str url "\n") "UTF-8"))
  (.flush out)
  (.println notes "Open it in a browser on this machine. Ctrl-C ends it."))

(defn- wait-for-interrupt []
  (try (.await (CountDownLatch. 1))
       (catch InterruptedException _ nil)))

(defn run
  "Serves the report on the logs at `paths` until the process or this thread is interrupted. Returns the exit code.

  count-once  a function of the options that counts the logs, and calls the function :show of the options with the result"
  [paths {:keys [follow? port] :as options} {:keys [out ^PrintStream notes] :as streams} count-once]
  (let [state (atom {:rev 0, :at (System/currentTimeMillis), :state (if follow? "waiting" "counting")})
        {:keys [url stop!]} (page/serve! {:port (or port 0), :files (files), :routes (routes state)})
        say (fn say [text] (.println notes ^String text) (swap! state assoc :says text))]
    (try
      (print-url! out notes url)
      (if follow?
        (questions/follow paths (assoc options :show (partial show! state "following"), :say say) streams)
        (let [code (count-once (assoc options :show (partial show! state "done")
                                      :on-reading (fn reading [reading] (swap! state assoc :reading reading))))]
          (wait-for-interrupt)
          code))
      (finally (stop!)))))
