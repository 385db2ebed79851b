;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.target
  "A target is what a console shows: {:name :live? :look :paths :close!}. `:look` is a function that returns a snapshot; its argument
  says whether the garbage collector runs first. `:paths` is a function that returns the folders and jars in which to look for source.
  A live target also has `:record!`, which begins to record steps, and `:timeline`, a function of `last-ms` that returns them.

  * `this-process`, `process`, `heap`, `file`
  * `target` chooses one of them by its argument"
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

;; How many consoles show this process, and the level of its inspector before the first.
(defonce ^:private watched (atom {:n 0}))

(defn- watch! []
  (swap! watched (fn more [{:keys [n] :as m}] (if (zero? (long n)) {:n 1 :before (inspect/level)} (update m :n inc))))
  (inspect/start!))

(defn- unwatch! []
  (let [{:keys [n before]} (swap! watched update :n dec)]
    (when (and (zero? (long n)) (= :off before)) (inspect/stop!))))

(defn this-process
  "Returns this process as a target. The inspector stays on as long as such a target is open."
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
  "Returns the process `pid`, a string, or the one whose management agent listens at HOST:PORT, as a target. If the connection
  breaks, the next look connects again. If a look has switched the inspector on, or `:record!` the recording, `:close!` switches that
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
        _ (try ((:check! first-one)) (catch ExceptionInfo e (drop!) (throw e)))
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

(def ^:const ^:private large-heap "A heap of more bytes is read only with `large?`." (* 4 1024 1024 1024))

(defn heap
  "Returns the heap of the process `pid`, a string, as a target that is not live. Calls `told` with a sentence, and then has the process
  write a heap file. Meanwhile the process is paused. The file is deleted after it has been read. Throws :skein/not-inspectable, also
  if the heap has more than 4 GiB and `large?` is false."
  [pid large? told]
  (let [snapshot (remote/heap-of pid
                   (fn before [used]
                     (when (and (not large?) (< (long large-heap) (long used)))
                       (error/fail! :skein/not-inspectable
                                    (str "Process " pid " has " (quot (long used) 1000000) " MB in its heap, and would be paused for a minute or more. "
                                         "Use --large to write it anyway.")
                                    {:pid pid}))
                     (told (str "Process " pid " is paused while it writes its heap of " (quot (long used) 1000000) " MB to a file."))))
        paths (try (remote/paths-of pid) (catch ExceptionInfo _))] ; it has ended
    {:name (str "process " pid ", its heap")
     :live? false
     :look (fn look [_] snapshot)
     :paths (fn all [] (concat paths (own-paths)))
     :close! (fn close! [])}))

(defn- checked
  "Returns `snapshot` if its parts have the shape that the views expect. The file may come from anywhere."
  [path snapshot]
  (doseq [part [:blocks :threads :channels :scopes :failures :folds]
          :when (not (and (or (nil? (part snapshot)) (sequential? (part snapshot))) (every? map? (part snapshot))))]
    (error/fail! [:skein/file :foreign] (str path " is not a dump of the inspector: its " (name part) " are not a list of maps.") {:path path}))
  snapshot)

(defn file
  "Returns a dump, as .edn or .json, or a heap file as a target. Throws :skein/file."
  [path]
  (let [snapshot (checked path (if (str/ends-with? path ".json") (json/read-dump path) (inspect/read-snapshot path)))]
    {:name (str (.getName (io/file path)) ", a file")
     :live? false
     :look (fn look [_] snapshot)
     :paths own-paths
     :close! (fn close! [])}))

(defn target
  "Returns the target that `s` names: nil is this process, digits are a process, HOST:PORT is its management agent, and anything else
  is a file. With `:heap?` the target is the heap of a process, see `heap`. Throws :skein/bad-argument, :skein/not-inspectable, :skein/file."
  [s & [{:keys [heap? large? told] :or {told identity}}]]
  (cond
    (nil? s) (this-process)
    (.isFile (io/file s)) (file s)
    (and heap? (re-matches #"\d+" s)) (heap s large? told)
    (re-matches #"\d+|[^/\\]+:\d+" s) (if heap?
                                          (error/fail! :skein/bad-argument (str "The heap of " s " can't be read: give the number of a process of this machine.") {:pid s})
                                          (process s))
    :else (error/fail! :skein/bad-argument (str "There is no file " s ", and it is neither the number of a process nor HOST:PORT.") {:pid s})))
