;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.cli
  "The command `./skein console`."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.console :as console]
   [skein.inspect.remote :as remote]))

(set! *warn-on-reflection* true)

(def ^:private usage
  "usage: ./skein console                             the JVMs of this user
       ./skein console TARGET [OPTIONS]            a page that shows one
       ./skein console TARGET BEFORE               the same, compared with an earlier dump or heap file
TARGET is the number of a process, HOST:PORT of its management agent, a dump such as x.edn or
x.json, or a heap file such as x.hprof.
--prove     adds a button that runs the garbage collector of the process, which proves deadlocks
--record    adds a button that records steps, for the timeline
--heap      shows the heap of the process as it is now. The process is paused meanwhile, and need not have skein.inspect
--large     the same, for a heap of more than 4 GiB
--port N    the port; by default a free one")

(defn- stop [message]
  (throw (ex-info message {::code 2})))

(defn- options
  "Returns the arguments as options of `serve!`."
  [args]
  (loop [[arg & more] args, options {}]
    (cond
      (nil? arg) options
      (#{"--prove" "--record"} arg) (recur more (update options :actions (fnil conj #{}) (keyword (subs arg 2))))
      (#{"--heap" "--large"} arg) (recur more (assoc options :heap (if (or (= "--large" arg) (= :large (:heap options))) :large true)))
      (= "--port" arg) (let [port (some->> (first more) (re-matches #"\d{1,5}") parse-long)]
                         (when-not (and port (<= (long port) 65535)) (stop "--port takes a number up to 65535; 0 takes a free port."))
                         (recur (next more) (assoc options :port port)))
      (str/starts-with? arg "-") (stop (str "there is no option " arg "; ./skein console --help lists the options."))
      (:before options) (stop (str "console takes a target and an earlier file, but also got '" arg "'."))
      (:target options) (recur more (assoc options :before arg))
      :else (recur more (assoc options :target arg)))))

(defn run
  "Runs the command with its arguments. Returns its exit code, which is 1 if it failed and 2 if the arguments are wrong, or a
  running console."
  [& args]
  (try
    (cond
      (empty? args) (doseq [{:keys [pid command]} (remote/processes)] (println (format "%8s  %s" pid command)))
      (some #{"--help" "-h"} args) (println usage)
      :else
      (let [given (options args)]
        (when-not (:target given) (stop "these options need a target: the number of a process, HOST:PORT or a file."))
        (let [console (console/serve! given)]
          (println (:url console))
          (println "Open it in a browser on this machine. Ctrl-C ends it.")
          console)))
    (catch clojure.lang.ExceptionInfo e
      (binding [*out* *err*] (println (str "skein: " (ex-message e))))
      (::code (ex-data e) (if (= :skein/bad-option (:skein/error (ex-data e))) 2 1)))
    (finally (flush))))

(defn -main
  "Runs the command and exits. If the command has started a console, the process stays until it is killed, and then stops the console."
  [& args]
  (let [result (apply run args)]
    (if (:url result)
      (.addShutdownHook (Runtime/getRuntime) (Thread. ^Runnable (fn stop [] (console/stop! result))))
      (System/exit (or result 0)))))
