;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.cli
  "The command `./skein console`."
  {:no-doc true}
  (:require
   [clojure.tools.cli :as cli]
   [skein.console :as console]
   [skein.impl.error :as error]
   [skein.inspect.remote :as remote])
  (:import
   (java.io Closeable)))

(set! *warn-on-reflection* true)

(def ^:private option-specs
  [[nil "--prove" "adds a button that runs the garbage collector of the process, which proves deadlocks"
    :id :actions, :parse-fn (constantly :prove), :multi true, :update-fn (fnil conj #{})]
   [nil "--record" "adds a button that records steps, for the timeline"
    :id :actions, :parse-fn (constantly :record), :multi true, :update-fn (fnil conj #{})]
   [nil "--heap" "shows the heap of the process, which is paused meanwhile, and need not have skein.inspect"
    :update-fn #(or % true)]
   [nil "--large" "the same, for a heap of more than 4 GiB" :id :heap, :parse-fn (constantly :large)]
   [nil "--port N" "the port; by default a free one"
    :parse-fn parse-long, :validate [#(<= 0 % 65535) "must be a number up to 65535; 0 takes a free port"]]
   ["-h" "--help" "this text"]])

(defn- usage [options]
  (str "usage: ./skein console                             the JVMs of this user
       ./skein console TARGET [OPTIONS]            a page that shows one
       ./skein console TARGET BEFORE               the same, compared with an earlier dump or heap file
TARGET is the number of a process, HOST:PORT of its management agent, a dump such as x.edn or
x.json, or a heap file such as x.hprof.
" options))

(defn- stop [message]
  (throw (ex-info message {::code 2})))

(defn- serve!
  "Starts the console that the arguments ask for, and returns it."
  [{:keys [options errors] [target before extra] :arguments}]
  (when errors (stop (str (first errors) "; ./skein console --help lists the options.")))
  (when extra (stop (str "console takes a target and an earlier file, but also got '" extra "'.")))
  (when-not target (stop "these options need a target: the number of a process, HOST:PORT or a file."))
  (let [console (console/serve! (cond-> (assoc options :target target) before (assoc :before before)))]
    (println (:url console))
    (println "Open it in a browser on this machine. Ctrl-C ends it.")
    console))

(defn run
  "Runs the command with its arguments. Returns its exit code, which is 1 if it failed and 2 if the arguments are wrong, or a
  running console."
  [& args]
  (try
    (let [{:keys [options summary] :as parsed} (cli/parse-opts args option-specs)]
      (cond
        (empty? args) (doseq [{:keys [pid command]} (remote/processes)]
                        (println (format "%8s  %s" pid command)))
        (:help options) (println (usage summary))
        :else (serve! parsed)))
    (catch clojure.lang.ExceptionInfo e
      (binding [*out* *err*] (println (str "skein: " (error/untold (ex-message e)))))
      (::code (ex-data e) (if (= :skein/bad-argument (:skein/error (ex-data e))) 2 1)))
    (finally (flush))))

(defn -main
  "Runs the command and exits. If the command has started a console, the process stays until it is killed, and then stops the console."
  [& args]
  (let [result (apply run args)]
    (if (instance? Closeable result)
      (.addShutdownHook (Runtime/getRuntime) (Thread. ^Runnable (fn stop [] (.close ^Closeable result))))
      (System/exit (or result 0)))))
