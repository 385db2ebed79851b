;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.cli
  "The commands that inspect another process, or its heap file or dump: `./skein ps`, `top`, `why`, `dump` and `timeline`."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.inspect :as inspect]
   [skein.inspect.attach :as attach]
   [skein.inspect.dump :as dump]
   [skein.inspect.remote :as remote]
   [skein.inspect.timeline :as timeline])
  (:import
   (java.io IOException)
   (java.lang ProcessBuilder$Redirect)
   (java.util List)))

(set! *warn-on-reflection* true)

(def ^:private usage
  "usage: ./skein ps [--json]                  the JVMs, and which have loaded Skein
       ./skein ps PID [--prove | --heap] [--json]
                                            the blocks and deadlocks of one
       ./skein top PID [ROUNDS]             the same as ps, every two seconds, and where the number of blocks grows
       ./skein why PID WAITER [--heap]      why go-42, chan-3, main or skein-worker-0 waits, by the name that ps prints
       ./skein dump PID FILE [--heap]       a snapshot of it: .edn, which ps and why read, or .json or text
       ./skein timeline PID FILE [SECONDS]  when each of its blocks ran and waited in 5 s, as JSON for ui.perfetto.dev
Except for top and timeline, PID may also be a heap file, such as x.hprof, or a dump, such as x.edn.
top and timeline switch the inspector of the process on. The other commands need it to be on, unless you give --heap: then
the process is paused while it writes its heap to a temporary file, and need not have skein.inspect. --prove runs the garbage
collector of the process first. --json prints JSON for scripts: of the JVMs, or of a snapshot as dump writes it, with the reports on
deadlocks and what looks wrong.")

(defn- stop
  "Ends the command with a message."
  [code message]
  (throw (ex-info message {::code code})))

(defn- warn [& parts]
  (binding [*out* *err*] (println (apply str "skein: " parts))))

(defn- moving
  "Returns a snapshot of a process, for top and timeline, which show what moves from now on. Switches its inspector on; warns if it was off."
  [pid]
  (when-not (re-matches #"\d+" pid) (stop 2 (str "top and timeline take the number of a running process, not '" pid "'; ./skein ps lists the processes, and shows a file.")))
  (let [{:keys [was-off?] :as snapshot} (remote/snapshot-of pid false)]
    (when was-off?
      (warn "the inspector of process " pid " was off. It is on now, and sees a block or thread after its next step. "
            "./skein ps " pid " --heap shows those that wait already, unless they were collected."))
    (dissoc snapshot :was-off?)))

(defn- live
  "Returns a snapshot of a process whose inspector is on. Stops if it is off, without switching it on:
  blocks that wait for ever would perhaps be collected."
  [pid prove]
  (when-not (attach/on? pid)
    (when-not (attach/has-skein? pid)
      (stop 1 (str "process " pid " has not loaded Skein, so there are no blocks and channels to show. ./skein ps " pid
                   " --heap may show threads that wait for ever for locks and promises.")))
    (stop 1 (str "the inspector of process " pid " is off, so it does not know what waits. The same command with --heap shows that now. "
                 "To see more the next time, call (skein.inspect/start!) at the start of the program.")))
  (dissoc (remote/snapshot-of pid prove) :was-off?))

(defn- of-heap [pid]
  (remote/heap-of pid (fn told [used] (warn "process " pid " is paused while it writes its heap of " (quot (long used) 1000000) " MB to a file."))))

(defn- snapshot-of
  "Returns the snapshot of a process or file."
  [source options]
  (let [how (some options ["--prove" "--heap"])]
    (cond
      (re-matches #"\d+" source)
      (case how
        nil (live source false)
        "--prove" (live source true)
        "--heap" (of-heap source))
      (str/ends-with? source ".json") (stop 2 (str source " is JSON, which ./skein console and other tools read. ps, why and dump read dumps that end in .edn."))
      (or (str/blank? source) (not (.exists (io/file source)))) ; some JDKs take "" for the working folder
      (stop 2 (str "'" source "' is neither the number of a process nor a file; ./skein ps lists the processes."))
      (.isDirectory (io/file source)) (stop 2 (str "'" source "' is a folder. ps takes the number of a process, a heap file or a dump; ./skein ps lists the processes."))
      how (stop 2 (str how " is for processes, and " source " is a file."))
      :else (inspect/read-snapshot source))))

(defn- jvms
  "Returns the JVMs of this user as [{:pid :command :skein}]. :skein is whether it has loaded Skein."
  []
  (let [asked (mapv (fn ask [{:keys [pid] :as process}] [process (future (attach/has-skein? pid))]) (remote/processes))
        end (+ (System/currentTimeMillis) 5000)] ; a process that is stopped never answers
    (mapv (fn answer [[{:keys [pid command]} skein?]]
            {:pid (parse-long pid) :command command :skein (deref skein? (max 0 (- end (System/currentTimeMillis))) false)})
          asked)))

(defn- print-json [x]
  (dump/write-json *out* x)
  (newline))

(defn- ps
  ([options]
   (let [jvms (jvms)]
     (if (options "--json")
       (print-json jvms)
       (doseq [{:keys [pid command skein]} jvms]
         (println (format "%8d  %-5s  %s" pid (if skein "skein" "") command))))))
  ([options source]
   (let [snapshot (snapshot-of source options)]
     (if (options "--json")
       (print-json (assoc snapshot :deadlocks (inspect/deadlocks nil snapshot) :lints (inspect/lints snapshot)))
       (inspect/dump! nil snapshot)))))

(defn- screen
  "Returns [lines columns] of the terminal to which the command writes, or nil if it writes to none."
  []
  (let [stty (-> (ProcessBuilder. ^List (list "sh" "-c" "stty size <&1 >&2")) (.redirectOutput ProcessBuilder$Redirect/INHERIT))
        size (try (slurp (.getErrorStream (.start stty))) (catch IOException _))] ; there is no sh
    (some->> size (re-matches #"([1-9]\d*) ([1-9]\d*)\s*") rest (mapv parse-long))))

(defn- lines-on-screen
  "Returns a line as lines of at most `width` characters: a row, which begins with a
  space, is cut, and a sentence is wrapped."
  [width line]
  (cond
    (<= (count line) (long width)) [line]
    (str/starts-with? line " ") [(str (subs line 0 (dec (long width))) "…")]
    :else (map str/trimr (re-seq (re-pattern (str "\\S.{0," (dec (long width)) "}(?= |$)|\\S{1," width "}")) line))))

(defn fitted
  "Returns `text` fitted to the size of a screen, or unchanged if there is none."
  [text [height width]]
  (if height
    (let [on-screen (partial mapcat (partial lines-on-screen width))
          lines (on-screen (str/split-lines text))
          more (on-screen ["... a larger screen, or ./skein ps, shows more"])]
      (str "\033[H\033[2J" ; moves to the first line and clears the screen
           (str/join "\n" (if (< (count lines) (long height)) lines (concat (take (- (long height) 1 (count more)) lines) more)))))
    text))

(defn- top
  "Shows a process every two seconds, `rounds` times or until the process or the command ends. It compares each fifth
  snapshot, and the last one, to show the places that grow."
  ([pid] (top pid nil))
  ([pid rounds]
   (when-not (re-matches #"([1-9]\d*)?" (str rounds)) (stop 2 (str "the rounds of top must be a number from 1, not '" rounds "'.")))
   (loop [i 1, looks []]
     (let [snapshot (moving pid)
           looks (if (= 1 (mod i 5)) (vec (take-last 6 (conj looks snapshot))) looks)]
       (println (fitted (with-out-str
                          (inspect/dump! nil snapshot)
                          (when (next looks)
                            (run! (comp println :says) (inspect/growth nil (cond-> looks (not (identical? snapshot (peek looks))) (conj snapshot))))))
                        (screen)))
       (when-not (or (= (str i) rounds) (.checkError System/out)) ; nobody reads a pipe that is closed
         (Thread/sleep 2000)
         (recur (inc i) looks))))))

(defn- why [options source waiter]
  (try
    (println (:says (inspect/why waiter (snapshot-of source options))))
    (catch clojure.lang.ExceptionInfo e
      (if (and (= :skein/bad-argument (:skein/error (ex-data e))) (re-matches #"\d+" source) (not (options "--heap")))
        (stop 1 (str (error/untold (ex-message e)) " A heap shows more waits, perhaps under other numbers: run ./skein dump " source
                     " x.edn --heap, and give x.edn to ps and why."))
        (throw e)))))

(defn- dump! [options source path]
  (dump/format-of path) ; refuses a bad name before the process is asked
  (inspect/dump! {:to path} (snapshot-of source options))
  (println path))

(defn- recorded
  "Returns the timeline of a process. If the process does not record steps, it does so for `ms`."
  [pid ms]
  (let [{:keys [record! timeline close!]} (remote/connect pid)]
    (try
      (or (try (timeline ms) (catch clojure.lang.ExceptionInfo _))
          (do (record! true)
              (warn "recording for " (quot (long ms) 1000) " s ...")
              (try (Thread/sleep (long ms)) (timeline ms) (finally (record! false)))))
      (finally (close!)))))

(defn- timeline!
  ([pid path] (timeline! pid path "5"))
  ([pid path seconds]
   (let [s (parse-long seconds)]
     (when-not (and s (<= 1 (long s) 3600)) (stop 2 (str "the seconds must be a number from 1 to 3600, not '" seconds "'.")))
     (moving pid) ; says why the process can't be inspected, and why nothing may be shown
     (let [slices (recorded pid (* 1000 (long s)))]
       (dump/to-file path (fn write [out] (timeline/write-chrome out slices)))
       (println path)))))

(def ^:private commands
  "name -> [function, the arguments that it needs, those that it may have, its options]. The function of a command with
  options takes the set of those that are given first."
  {"ps" [ps [] ["PID"] #{"--prove" "--heap" "--json"}]
   "top" [top ["PID"] ["ROUNDS"] #{}]
   "why" [why ["PID" "WAITER"] [] #{"--prove" "--heap"}]
   "dump" [dump! ["PID" "FILE"] [] #{"--prove" "--heap"}]
   "timeline" [timeline! ["PID" "FILE"] ["SECONDS"] #{}]})

(defn- checked
  "Returns the function of a command and its arguments. Ends the command if the arguments are wrong."
  [command args]
  (let [[f needed more known] (or (commands command) (stop 2 (str "there is no command '" command "'.")))
        refuse (fn refuse [& why] (stop 2 (apply str (concat why ["; ./skein " command " --help shows its usage."]))))
        {options true, args false} (group-by (fn option? [a] (str/starts-with? a "--")) args)
        options (set options)]
    (when-some [unknown (first (remove (into #{} (mapcat peek) (vals commands)) options))] (refuse "there is no option " unknown))
    (when (every? options ["--prove" "--heap"]) (refuse "--prove and --heap can't be given together"))
    (when (< (count args) (count needed)) (refuse command " lacks " (str/join " and " (drop (count args) needed))))
    (when-some [extra (first (drop (+ (count needed) (count more)) args))] (refuse command " does not take '" extra "' after its other arguments"))
    (when-some [unfit (first (remove known options))] (refuse command " takes no " unfit))
    (when-let [unfit (and (empty? args) (some options ["--prove" "--heap"]))] (refuse command " without PID takes no " unfit))
    [f (cond->> args (seq known) (cons options))]))

(defn run
  "Runs a command with its arguments. Returns the exit code: 0, 1 if the command failed, or 2 if the arguments are wrong."
  [& [command & args]]
  (try
    (if (some #{"--help" "-h"} args)
      (println usage)
      (let [[f args] (checked command args)] (apply f args)))
    (flush)
    0
    (catch clojure.lang.ExceptionInfo e
      (warn (error/untold (ex-message e)))
      (::code (ex-data e) (if (= :skein/bad-argument (:skein/error (ex-data e))) 2 1)))))

(defn -main
  "Runs the command that the arguments name, and exits."
  [& args]
  (System/exit (apply run args)))
