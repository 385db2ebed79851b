;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli
  "The commands of `./skein` that count logs and write sample logs.

  - `run`    arguments and streams -> exit code
  - `-main`  the same on the process's streams, then exits

  Exit codes: 0 when all went well, 1 when Skein failed, 2 when the arguments or an input were wrong. Errors are one line each
  on standard error; `--trace` adds the stack trace. If the reader closes a pipe, no more is written to it, and that
  is no error."
  (:require
   [skein.cli.options :as options]
   [skein.cli.terminal :as terminal]
   [skein.cli.wf :as wf]
   [skein.impl.error :as error]
   [skein.wf.sample-log :as sample-log]
   [skein.wf.units :as units])
  (:import
   (java.io File FileDescriptor FileOutputStream IOException OutputStream PrintStream)))

(set! *warn-on-reflection* true)

(def version
  "The version of Skein. A test checks that deps.edn has the same one."
  "0.1.0-SNAPSHOT")

;;;; sample-log

(defn- print-line [^PrintStream err & texts]
  (.println err ^String (apply str texts)))

(defn- write-text [^OutputStream out ^String text]
  (.write out (.getBytes text "UTF-8"))
  (.flush out))

(def ^:private sample-log-options
  [["-o" "--output FILE"]
   (options/whole-number "--seed N" Long/MIN_VALUE Long/MAX_VALUE)
   [nil "--clean" :id :clean?]
   [nil "--no-final-newline" :id :no-final-newline?]
   [nil "--force" :id :force?]
   [nil "--trace" :id :trace?]
   [nil "--help" :id :help?]])

(def ^:private sample-log-help
  "Writes a made-up web-server log of any size. The same seed gives the same log.

usage: skein sample-log SIZE [OPTION...]
       SIZE is a number of bytes, or one with K, M, G or T: 500, 10M, 2.5G

  -o, --output FILE    write to FILE instead of standard output
  --force              overwrite FILE if it exists and is not empty
  --seed N             any whole number, default 1
  --clean              no odd lines; otherwise about 1 in 100 is cut short, empty, too long ...
  --no-final-newline   leave out the last line feed
  --trace              show the stack trace of an error
  --help               this text

examples:
  skein sample-log 1G --seed 7 -o access.log
  skein sample-log 10M | skein wf -

A log ends with the line that reaches SIZE, so a small log is the beginning of a large one.
Without --force the command refuses to overwrite a FILE that is not empty.
")

(defn- output-file
  "Returns the file to write to. Refuses to overwrite a file that is not empty unless `force?`."
  ^File [^String path {:keys [force?]}]
  (let [file (File. path)]
    (cond
      (.isDirectory file)
      (error/fail! [:skein/file :directory] (str path ": is a directory; name a file in it") {:input path})
      (and (.isFile file) (pos? (.length file)) (not force?))
      (error/fail! [:skein/file :exists] (str path ": exists; give --force to overwrite it") {:output path})
      :else file)))

(defn- write-failed! [path ^IOException e]
  (error/fail! [:skein/file :unwritable] (str path ": can't be written: " (.getMessage e)) {:output path}))

(defn- write-file
  "Writes the log to a file. Deletes a file that could not be finished."
  [path options]
  (let [file (output-file path options)
        file? (or (not (.exists file)) (.isFile file))
        ^OutputStream out (try (FileOutputStream. file) (catch IOException e (write-failed! path e)))]
    (try
      (with-open [out out] (sample-log/write! out options))
      (catch IOException e
        (when file? (.delete file))
        (write-failed! path e)))))

(defn- print-written [{:keys [err]} path n start]
  (let [elapsed-ns (max 1 (- (System/nanoTime) (long start)))]
    (print-line err path ": " (units/grouped n) " bytes in " (units/decimal elapsed-ns 1000000000 3) " s, "
                (units/speed n elapsed-ns))))

(defn- sample-log [{:keys [output clean? no-final-newline?] :as options} sizes {:keys [out] :as streams}]
  (when-not (= 1 (count sizes))
    (options/fail! (if (empty? sizes)
                     "no SIZE given; give the size of the log, such as 10M"
                     (str "give one SIZE, not " (count sizes) ": " (error/preview (vec sizes))))))
  (let [options (assoc options
                       :size-bytes (units/parse-size (first sizes))
                       :odd? (not clean?)
                       :final-newline? (not no-final-newline?))
        start (System/nanoTime)]
    (if output
      (print-written streams output (write-file output options) start)
      (sample-log/write! out options))
    0))

;;;; All commands

(def ^:private commands
  {"wf" {:run wf/run, :options wf/option-specs, :help wf/help}
   "sample-log" {:run sample-log, :options sample-log-options, :help sample-log-help}})

(def ^:private general-help
  "Skein: concurrency for Clojure, and a fast counter of web-server logs.

usage: skein COMMAND [ARGUMENT...]

  wf FILE...        count web-server logs
  sample-log SIZE   write a made-up web-server log
  help COMMAND      print what a command does, with examples; also COMMAND --help
  --version         print the version

example:
  skein wf examples/access.log
")

(defn- print-version [{:keys [out]}]
  (write-text out (str "skein " version "\n"))
  0)

(defn- run-command [command arguments {:keys [out] :as streams}]
  (let [{:keys [run help] specs :options} (commands command)
        [options others] (options/parse specs arguments)
        options (assoc (options/with-file specs options) :given (vec (remove (set others) arguments)))]
    (cond
      (:help? options) (do (write-text out help) 0)
      (:version? options) (print-version streams)
      :else (run options others streams))))

(defn- help [command {:keys [out]}]
  (if-let [text (if command (:help (commands command)) general-help)]
    (do (write-text out text) 0)
    (options/fail! (str "unknown command " (error/preview command) "; the commands are wf and sample-log"))))

(defn- dispatch [command arguments streams]
  (cond
    (contains? commands command) (run-command command arguments streams)
    (contains? #{nil "help" "--help" "-h"} command) (help (first arguments) streams)
    (= command "--version") (print-version streams)
    :else (options/fail! (str "unknown command " (error/preview command) "; the commands are wf, sample-log and help"))))

;;;; Failures

(defn- explain
  "Prints the error, and returns the exit code."
  [command ^Throwable e {:keys [err]}]
  (let [{:skein/keys [error] :keys [failures problem]} (ex-data e)
        prefix (if (contains? commands command) (str "skein " command ": ") "skein: ")]
    (cond
      failures (doseq [{:keys [message]} failures] (print-line err prefix message))
      error (print-line err prefix (error/untold (ex-message e))
                        (when (= problem :usage)
                          (str " (see: skein " (if (contains? commands command) (str command " ")) "--help)")))
      (instance? IOException e) (print-line err prefix "can't write to standard output: " (ex-message e))
      :else (print-line err prefix "failed: " e "; --trace shows where"))
    (if (and error (not= problem :unwritable)) 2 1)))

(defn run
  "Runs one command and returns its exit code.

  arguments  seq of strings, as on the command line
  streams    {:out OutputStream, :err PrintStream}; neither is closed

  Throws nothing: an error is printed to :err as one line."
  [[command & arguments] {:keys [^PrintStream err] :as streams}]
  (try
    (dispatch command arguments streams)
    (catch Throwable e
      ;; The user of a command gets a line, not a stack trace.
      (if (terminal/broken-pipe? e)
        0
        (let [code (explain command e streams)]
          (when (some #{"--trace"} arguments) (.printStackTrace e err))
          code)))
    (finally (.flush err))))

(defn -main
  "Runs a command on the process's own streams and ends the process with its exit code."
  [& arguments]
  (System/exit (run arguments {:out (FileOutputStream. FileDescriptor/out), :err System/err})))
