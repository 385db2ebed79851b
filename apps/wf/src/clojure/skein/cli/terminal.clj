;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.terminal
  "The terminal, if the process's output streams are one.

  - `output?`, `error?`   standard output; standard error
  - `size`                rows and columns
  - `raw!`                delivers keys one by one -> a function that restores the terminal
  - `keys!`               calls a function for each key
  - `on-resize!`          calls a function when the size has changed
  - `color?`              whether text is to be in color
  - `write-report!`       writes to a pipe that the reader may have closed, see `broken-pipe?`"
  (:require
   [clojure.string :as str])
  (:import
   (java.io FileInputStream IOException PushbackInputStream)
   (java.nio.file Files Path)
   (sun.misc Signal SignalHandler)))

(set! *warn-on-reflection* true)

(defn- terminal?
  "Returns whether there is a terminal. The launcher sets a property; without it the process can find out itself on Linux."
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
  "Returns whether standard output is a terminal."
  []
  (terminal? "skein.stdout.terminal" 1))

(defn error?
  "Returns whether standard error is a terminal."
  []
  (terminal? "skein.stderr.terminal" 2))

(defn- stty
  "Runs stty on the terminal. Returns what it prints, or nil if there is no terminal or no stty."
  [& arguments]
  (try
    (let [process (.start (doto (ProcessBuilder. ^"[Ljava.lang.String;" (into-array (cons "stty" arguments)))
                            (.redirectInput (java.io.File. "/dev/tty"))
                            (.redirectError java.lang.ProcessBuilder$Redirect/DISCARD)))
          text (str/trim (slurp (.getInputStream process)))]
      (when (zero? (.waitFor process)) text))
    (catch IOException _ nil)))

(defn size
  "Returns `[rows columns]` of the terminal, or nil if standard output is not a terminal, or does not report its size."
  []
  (when (output?)
    (when-let [[_ rows columns] (re-find #"^(\d+) (\d+)" (or (stty "size") ""))]
      (let [size [(parse-long rows) (parse-long columns)]]
        (when (every? pos? size) size)))))

(defn raw!
  "Makes the terminal deliver keys one by one, without showing them. Ctrl-C still interrupts. Returns a function that restores
  the terminal, or nil if the terminal can't do this."
  []
  (when-let [before (stty "-g")]
    (when (stty "-icanon" "-echo" "min" "1")
      (fn restore [] (stty before)))))

(defn- escape-key
  "Returns the key that the sequence after an escape character stands for, or nil if the sequence is unknown."
  [^PushbackInputStream in]
  (let [kind (if (zero? (.available in)) -1 (.read in))]
    (if (#{(int \[) (int \O)} kind)
      (let [code (loop [text ""]
                   (let [c (char (.read in))]
                     (if (or (Character/isDigit c) (= \; c)) (recur (str text c)) (str text c))))]
        ({"A" :up, "B" :down, "C" :right, "D" :left, "H" :home, "F" :end, "1~" :home, "4~" :end, "5~" :page-up, "6~" :page-down} code))
      (do (when-not (neg? (long kind)) (.unread in (int kind)))
          :escape))))

(defn- key-of
  "Returns the key that begins with this byte, or nil if it is unknown."
  [in ^long first-byte]
  (case first-byte
    27 (escape-key in)
    (8 127) :backspace
    (10 13) :enter
    9 \tab
    32 \space
    (when (< 32 first-byte 127) (char first-byte))))

(defn keys!
  "Calls `on-key`, on a daemon thread, with each key that is pressed: a character, or :up :down :left :right
  :page-up :page-down :home :end :enter :escape :backspace."
  [on-key]
  (let [in (PushbackInputStream. (FileInputStream. "/dev/tty"))
        read-keys (fn read-keys []
                    (let [b (.read in)]
                      (when-not (neg? b)
                        (some-> (key-of in b) on-key)
                        (recur))))]
    (doto (Thread. ^Runnable read-keys "skein-keys")
      (.setDaemon true)
      (.start))))

(defn on-resize!
  "Calls `f` whenever the size of the terminal has changed, if the system reports that."
  [f]
  (try (Signal/handle (Signal. "WINCH") (reify SignalHandler (handle [_ _] (f))))
       (catch IllegalArgumentException _ nil)))

(defn color?
  "Returns whether `options` ask for text in color. By default that is so on a terminal."
  [{:keys [color]}]
  (case color "always" true, "never" false, (output?)))

;;;; Closed pipes

(defn broken-pipe?
  "Returns whether `e` means that the reader of a pipe has closed it."
  [^Throwable e]
  (and (instance? IOException e) (boolean (some-> (.getMessage e) (.contains "pipe")))))

(defn write-report!
  "Calls `f`, which writes the report to standard output. The reader may have closed the pipe; the rest of the command is done all
  the same."
  [f]
  (try (f) (catch IOException e (when-not (broken-pipe? e) (throw e)))))
