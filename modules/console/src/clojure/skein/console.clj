;; SPDX-License-Identifier: Apache-2.0
(ns skein.console
  "A page that shows a running program: what can never go on, who waits for whom, and where.

  * `serve!` shows this process, another one, or a file

      (let [console (serve! {:port 0})]
        (stop! console))
      ;=> nil

  From a shell: `./skein console PID`. The server is that command's own process then, and a program that hangs is no trouble to it.
  The page shows no value that the program has computed, and changes nothing in the program unless :actions says so."
  (:require
   [skein.console.api :as api]
   [skein.console.looks :as looks]
   [skein.console.target :as target]
   [skein.impl.check :as check]
   [skein.page :as page]))

(set! *warn-on-reflection* true)

(def ^:private modules
  ["app" "dom" "overview" "tables" "block" "graph" "timeline" "compare"])

(defn- files []
  (let [file (fn file [name] (page/resource (str "skein/console/page/" name)))]
    (into {"/" (file "index.html") "/style.css" (file "style.css")}
          (map (fn js [m] [(str "/" m ".js") (file (str m ".js"))]))
          modules)))

(def ^:private known
  {:port [(fn port? [x] (and (int? x) (<= 0 (long x) 65535))) "a port, or 0 for a free one"]
   :target [string? "the number of a process, HOST:PORT of its management agent, or the path of a dump or heap file"]
   :before [string? "the path of a dump or heap file, to compare with"]
   :actions [(fn actions? [x] (and (set? x) (every? #{:prove :record} x))) "a set of :prove and :record"]})

(defn serve!
  "Starts a console on 127.0.0.1. Returns {:url string :port n}, for `stop!`. The page is at :url, which has a token in it: who has it
  sees what the console sees.

  options
    :port     0, the default, takes a free one
    :target   this process by default; \"4711\" is a process, \"host:9010\" one whose management agent listens there,
              \"x.edn\" a dump, \"x.hprof\" a heap file
    :before   a dump or heap file with which the page compares the target
    :actions  #{:prove} gives the page a button that runs the garbage collector of the target; :record one that records the
              steps of blocks for the timeline, until the inspector is off

  A console that no page watches takes no snapshot. Throws :skein/no-port, :skein/not-inspectable, :skein/not-a-dump,
  :skein/not-a-heap-file."
  ([] (serve! {}))
  ([options]
   (let [{:keys [port actions before] :as options} (check/options "serve!" options known)
         before (some-> before target/target looks/looks looks/latest :look)
         target (target/target (:target options))
         looks (looks/looks target)
         console {:target target :looks looks :actions (set actions) :before before}]
     (try
       (let [server (page/serve! {:port (or port 0) :files (files) :routes (api/routes console)})]
         (.start (Thread/ofVirtual) (fn first-look [] (looks/look! looks))) ; so it is there when the page comes
         (assoc (select-keys server [:url :port]) ::server server ::target target))
       (catch Exception e
         ((:close! target))
         (throw e))))))

(defn stop!
  "Ends a console that `serve!` has returned: its port is free again, and its target is left as it was. Returns nil."
  [{::keys [server target]}]
  ((:stop! server))
  ((:close! target))
  nil)
