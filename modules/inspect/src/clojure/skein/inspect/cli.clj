;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.cli
  "The commands that look at another process: `./skein ps`, `./skein why` and `./skein dump`."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.inspect :as inspect]
   [skein.inspect.remote :as remote])
  (:import
   (java.io IOException)))

(set! *warn-on-reflection* true)

(def ^:private usage
  "usage: ./skein ps [PID [--prove]]     the JVMs; or the blocks and deadlocks of one
       ./skein why PID BLOCK         why a block of it waits, such as 42 or go-42
       ./skein dump PID FILE         all of it, as .edn, .json or text")

(defn- stop
  "Ends the command with a message."
  [code message]
  (throw (ex-info message {::code code})))

(defn- snapshot-of [pid prove]
  (when-not (re-matches #"\d+" pid) (stop 2 (str "a process is a number, not '" pid "'; ./skein ps lists them.")))
  (let [{:keys [was-off?] :as snapshot} (remote/snapshot-of pid prove)]
    (when was-off?
      (binding [*out* *err*]
        (println (str "skein: the inspector of process " pid " was off. It is on now, and sees a block from its next step on."))))
    (dissoc snapshot :was-off?)))

(defn- ps
  ([] (doseq [{:keys [pid command]} (remote/processes)] (println (format "%8s  %s" pid command))))
  ([pid] (inspect/dump (snapshot-of pid false) *out* :text))
  ([pid option]
   (when-not (= "--prove" option) (stop 2 usage))
   (inspect/dump (snapshot-of pid true) *out* :text)))

(defn- why [pid block]
  (let [id (some-> (re-matches #"(?:go-)?(\d+)" block) second parse-long)]
    (when-not id (stop 2 (str "a block is a number such as 42 or go-42, not '" block "'.")))
    (println (:says (inspect/why (snapshot-of pid false) id)))))

(defn- dump [pid path]
  (let [snapshot (snapshot-of pid false)
        format (cond (str/ends-with? path ".json") :json (str/ends-with? path ".edn") :edn :else :text)]
    (try (with-open [out (io/writer path)] (inspect/dump snapshot out format))
         (catch IOException e (stop 1 (str "can't write " path ": " (ex-message e)))))
    (println path)))

(defn run
  "Runs a command with its arguments; returns the exit code."
  [& [command & args]]
  (try
    (case [command (count args)]
      (["ps" 0] ["ps" 1] ["ps" 2]) (apply ps args)
      ["why" 2] (apply why args)
      ["dump" 2] (apply dump args)
      (stop 2 usage))
    (flush)
    0
    (catch clojure.lang.ExceptionInfo e
      (binding [*out* *err*] (println (str "skein: " (ex-message e))))
      (::code (ex-data e) 1))))

(defn -main
  "Runs the command that the arguments name, and exits."
  [& args]
  (System/exit (apply run args)))
