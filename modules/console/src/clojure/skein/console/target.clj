;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.target
  "What a console looks at: {:name :live? :look :paths :close!}. `:look` is a function of `prove`, whether the garbage collector is to
  run first, that returns a snapshot. `:paths` is a function that returns the folders and jars in which to look for source. What
  lives has `:record!`, which has steps recorded, and `:timeline`, a function of `last-ms` that returns them, too.

  * `this-process`, `process`, `heap`, `file`
  * `target` chooses by what is given"
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.console.json :as json]
   [skein.impl.error :as error]
   [skein.inspect :as inspect]
   [skein.inspect.remote :as remote])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)))

(set! *warn-on-reflection* true)

(defn- own-paths []
  (cons (System/getProperty "user.dir")
        (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))))

(def ^:private watched
  "How many consoles look at this process, and whether its inspector was on before the first."
  (atom {:n 0}))

(defn- watch! []
  (swap! watched (fn more [{:keys [n] :as m}] (if (zero? (long n)) {:n 1 :was-on (inspect/on?)} (update m :n inc))))
  (when-not (inspect/on?) (inspect/start!)))

(defn- unwatch! []
  (let [{:keys [n was-on]} (swap! watched update :n dec)]
    (when (and (zero? (long n)) (not was-on)) (inspect/stop!))))

(defn this-process
  "Returns this process as a target. Its inspector is on as long as one such target is open."
  []
  (watch!)
  {:name (str "this process, " (.pid (java.lang.ProcessHandle/current)))
   :live? true
   :look (fn look [prove]
           (when prove (inspect/deadlocks {:prove true}))
           (inspect/snapshot))
   :timeline (fn timeline [last-ms] (inspect/timeline {:last-ms last-ms}))
   :record! (fn record! [] (inspect/start! {:level :events}))
   :paths own-paths
   :close! unwatch!})

(defn process
  "Returns the process `pid`, a string, or the one whose management agent listens at HOST:PORT, as a target. A connection that
  breaks is made again at the next look. If a look has switched its inspector on, or `:record!` the recording, `:close!` switches that
  off again. Throws :skein/not-inspectable."
  [pid]
  (let [first-one (remote/connect pid) ; its class path and name stay the same when the connection ends
        connection (atom first-one)
        switched-on? (atom false) ; by this console, at one of its looks
        records? (atom false)
        drop! (fn drop! [] (when-some [open (first (reset-vals! connection nil))] ((:close! open))))
        ask (fn ask [operation argument]
              (try
                ((operation (or @connection (reset! connection (remote/connect pid)))) argument)
                (catch Exception e (drop!) (throw e))))
        name (str "process " pid (some->> (:command first-one) (str ", ")))]
    {:name name
     :live? true
     :look (fn look [prove]
             (let [{:keys [was-off?] :as snapshot} (ask :look prove)]
               (assoc snapshot :was-off? (swap! switched-on? #(or % (boolean was-off?))))))
     :timeline (partial ask :timeline)
     :record! (fn record! [] (ask :record! true) (reset! records? true))
     :paths (fn paths [] (concat (:paths first-one) (own-paths)))
     :close! (fn close! []
               (when-some [{:keys [stop! record!]} @connection]
                 (try (cond @switched-on? (stop!)
                            @records? (record! false))
                      (catch ExceptionInfo _))) ; it has ended
               (drop!))}))

(def ^:const ^:private large-heap "From how many bytes on a heap file must be asked for twice." (* 4 1024 1024 1024))

(defn heap
  "Returns what the process `pid`, a string, has in its heap now, as a target that does not live. The process stands still while it
  writes a heap file, which is deleted when it is read. `told` gets a sentence before. Throws :skein/not-inspectable, also if the heap
  has more than 4 GiB and `large?` is false."
  [pid large? told]
  (let [{:keys [paths close!]} (remote/connect pid)
        _ (close!)
        snapshot (remote/heap-of pid
                   (fn before [used]
                     (when (and (not large?) (< (long large-heap) (long used)))
                       (error/fail! :skein/not-inspectable
                                    (str "Process " pid " has " (quot (long used) 1000000) " MB in its heap, and would stand still for a minute or more. With "
                                         "--large it is done all the same.")
                                    {:pid pid}))
                     (told (str "Process " pid " stands still while it writes its heap, up to " (quot (long used) 1000000) " MB."))))]
    {:name (str "process " pid ", its heap")
     :live? false
     :look (fn look [_] snapshot)
     :paths (fn all [] (concat paths (own-paths)))
     :close! (fn close! [])}))

(defn- checked
  "Returns `snapshot` if its parts are what the views expect, at first sight. Anybody may have written the file."
  [path snapshot]
  (doseq [part [:blocks :threads :channels :scopes :failures :folds :locks]
          :when (not (and (or (nil? (part snapshot)) (sequential? (part snapshot))) (every? map? (part snapshot))))]
    (error/fail! :skein/not-a-dump (str path " is no dump of the inspector: its " (name part) " are no list of maps.") {:path path}))
  snapshot)

(defn file
  "Returns a dump, as .edn or .json, or a heap file as a target. Throws :skein/not-a-dump, :skein/not-a-heap-file."
  [path]
  (let [snapshot (checked path (cond
                                 (str/ends-with? path ".edn") (inspect/read-dump path)
                                 (str/ends-with? path ".json") (json/read-dump path)
                                 :else (inspect/read-heap path)))]
    {:name (str (.getName (io/file path)) ", a file")
     :live? false
     :look (fn look [_] snapshot)
     :paths own-paths
     :close! (fn close! [])}))

(defn target
  "Returns the target that `s` names: nil this process, digits a process, HOST:PORT its management agent, else a file. `:heap?` asks
  for the heap of a process, see `heap`. Throws :skein/not-inspectable, :skein/not-a-dump, :skein/not-a-heap-file."
  [s & [{:keys [heap? large? told] :or {told identity}}]]
  (cond
    (nil? s) (this-process)
    (.isFile (io/file s)) (file s)
    (re-matches #"\d+|[^/\\]+:\d+" s) (if heap? (heap s large? told) (process s))
    :else (error/fail! :skein/not-inspectable (str "There is no file " s ", and it is neither the number of a process nor HOST:PORT.") {:pid s})))
