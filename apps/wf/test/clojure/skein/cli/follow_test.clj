;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.follow-test
  "`skein wf --follow` at a terminal, in a pipe, and on a full disk. The terminal is tmux; without it those tests are skipped."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is use-fixtures]]
   [skein.cli :as cli]
   [skein.deadline :refer [within-deadline]]
   [skein.skip :refer [skip!]])
  (:import
   (java.io ByteArrayOutputStream File FileOutputStream IOException OutputStream PrintStream)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (java.util.concurrent LinkedBlockingQueue Semaphore)))

(set! *warn-on-reflection* true)

(use-fixtures :each (fn without-terminal [run-test]
                      (System/setProperty "skein.stdout.terminal" "false")
                      (try (run-test) (finally (System/clearProperty "skein.stdout.terminal")))))

(defn- temp-log ^File []
  (let [folder (.toFile (Files/createTempDirectory "skein-live" (make-array FileAttribute 0)))]
    (.deleteOnExit folder)
    (doto (io/file folder "access.log") .deleteOnExit)))

(defn- append! [^File file texts]
  (with-open [out (FileOutputStream. file true)] (.write out (.getBytes (str/join texts)))))

(defn- line [n]
  (str "10.0.0." n " - - [30/Mar/2006:10:00:00 -0700] \"GET /page-" n " HTTP/1.1\" 200 " n " \"-\" \"x\"\n"))

;;;; At a terminal

(def ^:private tmux-there?
  (delay (try (zero? (.waitFor (.start (ProcessBuilder. ["tmux" "-V"])))) (catch IOException _ false))))

(def ^:private ^:dynamic *server* "The name of a test's own tmux." nil)

(defn- tmux [& arguments]
  (let [process (.start (doto (ProcessBuilder. ^java.util.List (into ["tmux" "-L" *server*] arguments))
                          (.redirectErrorStream true)))]
    (slurp (.getInputStream process))))

(defn- screen [] (tmux "capture-pane" "-p" "-t" "live"))

(defn- await-screen
  "Waits until the text on the screen satisfies `good?`. Returns the text."
  [good?]
  (within-deadline
    (loop [shown (screen)]
      (if (good? shown)
        shown
        ;; Another process paints it, and does not say when it has finished.
        (do (Thread/sleep 50)
            (recur (screen)))))))

(defn- await-text [text] (await-screen #(str/includes? % text)))

(defn- at-terminal
  "Runs `skein wf ARGUMENTS` in a terminal of that size while f runs."
  [[rows columns] arguments f]
  (if-not @tmux-there?
    (skip! "there is no tmux")
    (let [java (str (System/getProperty "java.home") "/bin/java")
          command (str/join " " (concat ["exec" "env" "JAVA_TOOL_OPTIONS=" java "-XX:TieredStopAtLevel=1" "-cp" (str "'" (System/getProperty "java.class.path") "'")
                                         "clojure.main" "-m" "skein.cli" "wf"]
                                  arguments))]
      (binding [*server* (str "skein-" (random-uuid))]
        (try
          (tmux "new-session" "-d" "-s" "live" "-x" (str columns) "-y" (str rows) (str "sh -c \"" command "\"; echo ended $?; cat"))
          (f)
          (finally (tmux "kill-server")))))))

(deftest the-screen-is-live
  (let [log (doto (temp-log) (append! (map line (range 50))))]
    (at-terminal [24 100] ["--follow" log]
      (fn []
        (let [shown (await-text "50 lines: 50")]
          (is (str/includes? shown "> URLs"))
          (is (str/includes? shown "q quit")))
        (append! log [(line 7) (line 7)])
        (is (re-find #"3 +21 B .*/page-7" (await-text "52 lines: 52")))
        (tmux "send-keys" "-t" "live" "Down" "Down")
        (await-text "> Not found")
        (tmux "send-keys" "-t" "live" "Up" "Up" "Enter" "s")
        (is (re-find #"URLs  .*, by bytes\n.*\n.*/page-49\n" (await-text "by bytes")))
        (tmux "send-keys" "-t" "live" "/" "page-4" "Enter")
        (is (not (str/includes? (await-text "1-11 of 11") "/page-39")))
        (tmux "send-keys" "-t" "live" "Escape" "q")
        (let [shown (await-text "ended 0")]
          (is (str/includes? shown "52 lines: 52 counted") "the whole report is left on the terminal's own screen")
          (is (not (str/includes? shown "q quit"))))))))

(deftest the-screen-fits-its-terminal
  (let [log (doto (temp-log) (append! (map line (range 50))))]
    (at-terminal [8 40] ["--follow" log]
      (fn []
        (doseq [[rows columns] [[8 40] [5 200] [60 30] [24 80]]]
          (tmux "resize-window" "-t" "live" "-y" (str rows) "-x" (str columns))
          (let [fits? (fn fits? [shown]
                        (let [lines (str/split-lines shown)]
                          (and (= rows (count lines)) (str/starts-with? (first lines) "50 lines") (str/starts-with? (peek lines) "↑ ↓ move"))))]
            (is (fits? (await-screen fits?)))))))))

;;;; In a pipe, on a full disk

(defn- full-disk []
  (proxy [OutputStream] []
    (write
      ([_] (throw (IOException. "No space left on device")))
      ([_ _ _] (throw (IOException. "No space left on device"))))))

(defn- follow [out & arguments]
  (let [err (ByteArrayOutputStream.)
        code (within-deadline (cli/run (map str (list* "wf" "--follow" arguments)) {:out out, :err (PrintStream. err true "UTF-8")}))]
    {:code code, :err (.toString err "UTF-8")}))

(deftest a-full-disk-ends-it-with-a-message
  (let [log (doto (temp-log) (append! [(line 1)]))]
    (is (= {:code 1, :err "skein wf: can't write to standard output: No space left on device\n"} (follow (full-disk) "--quiet" "--by" "url" log)))))

(deftest malformed-lines-on-a-full-disk-do-not-lose-the-report
  (if-not (.exists (io/file "/dev/full"))
    (skip! "there is no /dev/full")
    (let [log (doto (temp-log) (append! [(line 1) (line 2) (line 3) "bad\n"]))
          out (ByteArrayOutputStream.)
          {:keys [code err]} (follow out "--quiet" "--by" "url" "--malformed" "/dev/full" log)]
      (is (= 1 code))
      (is (str/includes? err "/dev/full: can't be written: No space left on device") err))))

(deftest a-pipe-gets-one-report-after-another
  (let [log (doto (temp-log) (append! [(line 1)]))
        reports (LinkedBlockingQueue.)
        places (Semaphore. 2)
        ;; The reader has gone, so writing the third report fails. That ends the command, which otherwise ends only when interrupted.
        out (proxy [OutputStream] []
              (write [^bytes bytes]
                (when-not (.tryAcquire places) (throw (IOException. "Broken pipe")))
                (.put reports (String. bytes "UTF-8"))))
        ended (future (follow out "--quiet" "--by" "url" "--format" "csv" log))]
    (within-deadline
      (is (= "tally,key,hits,bytes\r\nurl,/page-1,1,1\r\n" (.take reports)))
      (append! log [(line 2)])
      (is (= "tally,key,hits,bytes\r\nurl,/page-1,1,1\r\nurl,/page-2,1,2\r\n" (.take reports)))
      (append! log [(line 3)])
      (is (= {:code 0, :err ""} @ended)))))

(deftest a-report-that-was-written-is-not-written-again-at-the-end
  (let [log (doto (temp-log) (append! [(line 1)]))
        report "tally,key,hits,bytes\r\nurl,/page-1,1,1\r\n"
        process (.start (doto (ProcessBuilder. ^java.util.List (list (str (System/getProperty "java.home") "/bin/java") "-XX:TieredStopAtLevel=1"
                                                                 "-cp" (System/getProperty "java.class.path") "-Dskein.stdout.terminal=false"
                                                                 "clojure.main" "-m" "skein.cli" "wf" "--follow" "--quiet" "--by" "url" "--format" "csv"
                                                                 (str log)))
                          (.redirectError java.lang.ProcessBuilder$Redirect/DISCARD)))]
    (try
      (within-deadline
        (is (= report (String. (.readNBytes (.getInputStream process) (count report)) "UTF-8")))
        (.destroy (.toHandle process)) ; which leaves the streams open
        (is (= "" (slurp (.getInputStream process)))))
      (finally (.destroyForcibly process)))))
