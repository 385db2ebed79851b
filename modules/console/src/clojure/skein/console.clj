;; SPDX-License-Identifier: Apache-2.0
(ns skein.console
  "Serves a page that shows a running program: which blocks can never continue, who waits for whom, and on which line.

  * `serve!` shows this process, another one, or a file

  From a shell: `./skein console PID`. The server then runs in the command's own process, so it answers even if the program hangs.
  The page shows no value that the program has computed. Apart from switching the inspector on, it changes nothing in the program
  unless :actions allows it.

      (with-open [console (serve! {:port 0})]
        (string? (:url console)))
      ;=> true"
  (:require
   [skein.console.api :as api]
   [skein.console.looks :as looks]
   [skein.console.target :as target]
   [skein.impl.check :as check]
   [skein.impl.once :refer [defrecord-once]]
   [skein.page :as page])
  (:import
   (java.io Closeable)))

(set! *warn-on-reflection* true)

(def ^:private modules
  ["app" "dom" "overview" "tables" "block" "graph" "timeline" "compare"])

(defn- files []
  (let [file (fn file [name] (page/resource (str "skein/console/page/" name)))]
    (into (assoc (page/client) "/" (file "index.html") "/style.css" (file "style.css"))
          (map (fn js [m] [(str "/" m ".js") (file (str m ".js"))]))
          modules)))

(def ^:private known
  {:port [(fn port? [x] (and (int? x) (<= 0 (long x) 65535))) "a port from 1 to 65535, or 0 for a free one"]
   :target [string? "the number of a process, HOST:PORT of its management agent, or the path of a dump or heap file"]
   :heap [#{true :large} "true, or :large for more than 4 GiB"]
   :before [string? "the path of a dump or heap file, to compare with"]
   :actions [(fn actions? [x] (and (set? x) (every? #{:prove :record} x))) "a set of :prove and :record"]})

;; `end` is a delay, so that only the first close ends anything.
(defrecord-once ^:private Console [url port end]
  Closeable
  (close [_] @end))

(defn- told [text]
  (binding [*out* *err*] (println text)))

(defn serve!
  "Starts a console on 127.0.0.1. Returns it as a java.io.Closeable with :url and :port. The page is at :url, which contains a
  token. Anyone on this machine who has the URL sees what the console sees.

  `.close` ends the console and frees its port; a second call does nothing. If the console has switched on the inspector of
  another process, that inspector is switched off again. In this process the last console to end does that.

  options

  - :port     0, the default, chooses a free port
  - :target   this process by default; \"4711\" is a process, \"host:9010\" a process whose management agent listens there,
              \"x.edn\" or \"x.json\" a dump, \"x.hprof\" a heap file
  - :heap     true shows the heap of the process as it is now; the page is not live. The process need not have this module or
              skein.inspect. It is paused while it writes its heap to a file, which is then deleted. A heap of more than
              4 GiB is refused unless this is :large
  - :before   a dump or heap file with which the page compares the target
  - :actions  a set. :prove gives the page a button that runs the garbage collector of the target. :record gives it a button
              that starts to record the steps of blocks for the timeline; recording ends when the inspector is switched off

  A console that no page watches takes no snapshot. Throws :skein/port-in-use, :skein/not-inspectable, :skein/file."
  (^java.io.Closeable [] (serve! {}))
  (^java.io.Closeable [options]
   (let [{:keys [port actions before heap] :as options} (check/options "serve!" options known)
         before (some-> before target/target looks/looks looks/latest :look)
         target (target/target (:target options) {:heap? (some? heap), :large? (= :large heap), :told told})
         looks (looks/looks target)
         console {:target target :looks looks :actions (set actions) :before before}]
     (try
       (let [server (page/serve! {:port (or port 0) :files (files) :routes (api/routes console)})]
         (.start (Thread/ofVirtual) (fn first-look [] (looks/look! looks))) ; so it is there when the page comes
         (Console. (:url server) (:port server) (delay ((:stop! server)) ((:close! target)) nil)))
       (catch Exception e
         ((:close! target))
         (throw e))))))
