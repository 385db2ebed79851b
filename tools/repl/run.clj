;; SPDX-License-Identifier: Apache-2.0
;; ./skein repl
(ns repl.run
  "A REPL in which Ctrl-C ends the running call, not the process, and drops a form that is half typed: it
  interrupts the REPL's thread. Code that does not wait ignores the interrupt, so a second Ctrl-C ends the
  process."
  (:require
   [clojure.java.io :as io]
   [clojure.main :as main]
   [clojure.repl :as repl])
  (:import
   (clojure.lang Compiler DynamicClassLoader LineNumberingPushbackReader)
   (java.io File Reader)
   (java.util.concurrent LinkedBlockingQueue)))

(set! *warn-on-reflection* true)

(def ^:private help "usage: ./skein repl [--nrepl]

Ctrl-C interrupts; a second one ends the process. Ctrl-D ends the REPL. For line editing: rlwrap ./skein repl
--nrepl starts a server for editors, which writes its port to .nrepl-port. Options after it go to nREPL, such as --port 7888.
SKEIN_NREPL names nREPL's jar. By default that is the newest in the local Maven repository, where 'clojure -P -M:dev' puts it.
")

(defn- refuse! [message]
  (binding [*out* *err*] (println (str "skein: " message)))
  (System/exit 2))

(defn interruptible
  "Returns a reader of what `in` reads. A thread that waits for it can be interrupted, unlike one that waits
  for a terminal."
  ^LineNumberingPushbackReader [^Reader in]
  (let [typed (LinkedBlockingQueue.)
        pump (fn pump []
               (let [c (try (.read in) (catch java.io.IOException _ -1))] ; the terminal may be gone
                 (.put typed c)
                 (when-not (neg? c) (recur))))]
    (doto (Thread. ^Runnable pump "repl input") (.setDaemon true) .start)
    (LineNumberingPushbackReader.
      (proxy [Reader] []
        (read [^chars chars offset _]
          (let [c (int (.take typed))]
            (if (neg? c)
              (do (.put typed c) c)
              (do (aset chars offset (char c)) 1))))
        (close [])))))

(defn on-ctrl-c
  "Returns the function that Ctrl-C calls. `state` is an atom: :reads, :runs, or :interrupted. `pause` gives a
  form time to end."
  [^Thread thread state exit pause]
  (let [say (fn say [text] (binding [*out* *err*] (println text)))]
    (fn interrupt [_]
      (case (first (swap-vals! state {:reads :reads, :runs :interrupted, :interrupted :interrupted}))
        :reads (do (say "\nCtrl-D ends the REPL.") (.interrupt thread))
        :runs (do (dotimes [_ 3] ; an interrupt is lost if it comes while `require` loads a file
                    (when (= :interrupted @state) (.interrupt thread) (pause)))
                  (when (= :interrupted @state) (say "\nThe form does not react to its interrupt. Ctrl-C again ends the process.")))
        :interrupted (exit 130)))))

(defn- interruption? [thrown]
  (some #(instance? InterruptedException %) (take-while some? (iterate ex-cause thrown))))

(defn run
  "Reads, evaluates and prints until the end of the input. It keeps `state` up to date."
  [state]
  (binding [*in* (interruptible *in*)]
    (main/repl
      :init (fn [] (apply require main/repl-requires))
      :read (fn [request-prompt request-exit]
              (reset! state :reads)
              (try
                (let [form (main/repl-read request-prompt request-exit)]
                  (Thread/interrupted) ; clears an interrupt that came after the previous form
                  (reset! state :runs)
                  form)
                (catch Exception e
                  (if (interruption? e) request-prompt (throw e))))))))

;;;; nREPL

(defn- nrepl-jar
  "Returns the jar of nREPL: that of SKEIN_NREPL, or the newest in the local Maven repository. It is not in
  Maven's own registry, so it is on no class path."
  ^File []
  (let [clojure (re-find #"[^:]*(?=/org/clojure/clojure/)" (System/getProperty "java.class.path"))
        named (System/getenv "SKEIN_NREPL")
        found (filter #(re-find #"/nrepl-[0-9.]+\.jar$" (str %)) (file-seq (io/file (str clojure "/nrepl/nrepl"))))
        jar (if named (io/file named) (last (sort-by #(mapv parse-long (re-seq #"\d+" (.getName ^File %))) found)))]
    (cond
      (and jar (.isFile ^File jar)) jar
      named (refuse! (str "SKEIN_NREPL names " named ", but there is no such file."))
      :else (refuse! (str "there is no nREPL in " clojure ". 'clojure -P -M:dev' fetches it there. Or get the jar of nrepl 1.7.0 from "
                          "Clojars: SKEIN_NREPL=nrepl-1.7.0.jar ./skein repl --nrepl")))))

(defn- serve [arguments]
  (let [^Thread thread (Thread/currentThread)
        loader (DynamicClassLoader. (.getContextClassLoader thread))]
    (.addURL loader (.toURL (.toURI (nrepl-jar))))
    (.setContextClassLoader thread loader)
    (with-bindings {Compiler/LOADER loader}
      (apply (requiring-resolve 'nrepl.cmdline/-main) arguments))))

(defn -main [& [option & more :as arguments]]
  (cond
    (some #{"-h" "--help"} arguments) (print help)
    (= "--nrepl" option) (serve more)
    option (refuse! "repl takes --nrepl, or nothing; './skein clojure FILE' runs a program.")
    :else
    (let [state (atom :reads)]
      (repl/set-break-handler!
        (on-ctrl-c (Thread/currentThread) state (fn exit [code] (System/exit code)) (fn pause [] (Thread/sleep 1000))))
      (println (str "Clojure " (clojure-version) ". Ctrl-C interrupts, Ctrl-D ends."))
      (run state)
      (println)
      (System/exit 0))))
