;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.terminal
  "Whether the process's output streams are terminals.

  - `output?`, `error?`   standard output; standard error
  - `size`                rows and columns
  - `color?`              whether text is to be in color"
  (:import
   (java.io IOException)
   (java.nio.file Files Path)))

(set! *warn-on-reflection* true)

(defn- terminal?
  "The launcher says so in a property; on Linux the process can see for itself."
  [^String property fd]
  (if-let [told (System/getProperty property)]
    (= told "true")
    (let [fd (Path/of (str "/proc/self/fd/" fd) (make-array String 0))]
      (and (Files/isSymbolicLink fd)
           (try
             (let [target (str (Files/readSymbolicLink fd))]
               (or (.startsWith target "/dev/pts/") (.startsWith target "/dev/tty")))
             (catch IOException _ false))))))

(defn output?
  "Whether standard output is a terminal."
  []
  (terminal? "skein.stdout.terminal" 1))

(defn error?
  "Whether standard error is a terminal."
  []
  (terminal? "skein.stderr.terminal" 2))

(defn size
  "Returns `[rows columns]` of the terminal, or nil when standard output is none or does not say."
  []
  (when (output?)
    (try
      (let [process (.start (doto (ProcessBuilder. ^"[Ljava.lang.String;" (into-array ["stty" "size"]))
                              (.redirectInput (java.io.File. "/dev/tty"))
                              (.redirectError java.lang.ProcessBuilder$Redirect/DISCARD)))
            [_ rows columns] (re-find #"^(\d+) (\d+)" (slurp (.getInputStream process)))]
        (when rows
          (let [size [(parse-long rows) (parse-long columns)]]
            (when (every? pos? size) size))))
      (catch IOException _ nil))))

(defn color?
  "Returns whether the text that `options` ask for is to be in color."
  [{:keys [color]}]
  (case color "always" true, "never" false, (output?)))
