;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.cli-test
  "The commands, on a process of its own that hangs and has not switched its inspector on."
  (:require
   [clojure.data.json :as json]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.inspect :as inspect]
   [skein.inspect.attach :as attach]
   [skein.inspect.cli :as cli]
   [skein.inspect.process :refer [class-path lines-of run start without-inspect]]
   [skein.inspect.remote :as remote]
   [skein.skip :refer [skip!]])
  (:import
   (java.io File)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private program
  "Two blocks with crossed puts, made when a line comes in; it ends when the input does."
  '(do (require '[skein.async :as a])
       (println "up")
       (read-line)
       (let [x (a/chan 1) y (a/chan 1)]
         (a/go (a/>! x 1) (a/>! x 2) (a/<! y))
         (a/go (a/>! y 1) (a/>! y 2) (a/<! x)))
       (def idle (a/chan))
       (def server (a/go (a/<! idle)))
       (a/<!! (a/go :settled))
       (println "hung")
       (read-line)))

(defn- eventually [f]
  (let [end (+ (System/nanoTime) (* 60 1000000000))]
    (loop [] (or (f) (when (pos? (- end (System/nanoTime))) (recur))))))

(deftest a-process-that-hangs
  (let [process (start class-path program [])
        in (lines-of process)
        pid (str (.pid process))
        go-on (fn go-on [] (doto (.getOutputStream process) (.write (.getBytes "\n")) .flush))]
    (try
      (is (= "up" (.readLine in)))
      (testing "its inspector is off, and top switches it on"
        (let [[code out err] (run "top" pid "1")]
          (is (= 0 code))
          (is (re-find #"^No block seen yet" out))
          (is (re-find #"inspector of process \d+ was off" err)))
        (is (re-find #"^No block seen yet.*\n.* before it was switched on .*\./skein ps \d+ --heap" (second (run "ps" pid)))
            "who looks next is told too")
        (is (re-find #"The snapshot shows no \"main\"\. If there is a thread of that name, it runs, or waits for something other than a channel\. It shows nothing that waits\. A heap shows more waits, .*: run \./skein dump \d+ x\.edn --heap"
                     (peek (run "why" pid "main")))))
      (go-on)
      (is (= "hung" (.readLine in)))
      (testing "ps proves the deadlock"
        (let [out (eventually #(let [[_ out] (run "ps" pid "--prove")] (when (= 2 (count (re-seq #"PROVEN" out))) out)))]
          (is (re-find #"PROVEN  go-\d+, NO_SOURCE_FILE:\d+ \(a/>! x 2\), can never continue" (str out)))
          (is (re-find #"1  parked   NO_SOURCE_FILE:\d+ \(a/<! idle\)" (str out)))
          (testing "and why explains a block"
            (let [[_ id] (re-find #"(go-\d+) waits for chan" (str out))]
              (is (re-find #"for chan-\d+\. Judging by their locals, no block could end that" (nth (run "why" pid id) 1)))
              (is (re-find #"There is no block 100000: .* A heap shows more waits, perhaps under other numbers: run \./skein dump \d+ x\.edn --heap, and give x\.edn to ps and why\.\n$"
                           (peek (run "why" pid "go-100000"))))))))
      (testing "why lists names for a name that is wrong"
        (is (re-find #"The snapshot shows no \"chan-x\"\. .* It shows chan-\d+, .*go-\d+" (peek (run "why" pid "chan-x")))))
      (testing "top shows it again and again"
        (let [[code out] (run "top" pid "2")]
          (is (= [0 2] [code (count (re-seq #"\d+ blocks?, \d+ threads? wait" out))]))))
      (testing "its steps can be recorded"
        (is (thrown-with-msg? clojure.lang.ExceptionInfo #"are not recorded" (remote/timeline-of pid 1000)))
        (remote/record! pid true)
        (is (= [["(a/<! idle)" true]] (map (juxt (comp :form :site) :open?) (:slices (remote/timeline-of pid 1000)))) "nothing moves in it")
        (remote/record! pid false))
      (testing "ps --json prints what dump writes, and the reports"
        (let [temporary (fn temporary [ending] (str (doto (File/createTempFile "dump" ending) .deleteOnExit)))
              edn (temporary ".edn"), json (temporary ".json")
              _ (do (run "dump" pid edn) (run "dump" edn json))
              [code out err] (run "ps" edn "--json")
              said (json/read-str out)]
          (is (= [0 ""] [code err]))
          (is (= (json/read-str (slurp json)) (dissoc said "deadlocks" "lints")))
          (is (= ["proven" "proven"] (map #(% "verdict") (said "deadlocks"))))
          (is (str/starts-with? (get-in said ["deadlocks" 0 "says"]) "go-"))
          (is (vector? (said "lints"))))
        (is (= (parse-long pid) (get (json/read-str (nth (run "ps" "--prove" pid "--json") 1)) "pid"))))
      (testing "dump writes files"
        (doseq [[ending read-it] {".edn" inspect/read-snapshot ".json" (comp json/read-str slurp) ".txt" slurp}]
          (let [file (File/createTempFile "dump" ending), path (.getPath file)]
            (is (= [0 (str path "\n") ""] (run "dump" pid path)))
            (is (seq (read-it path)))
            (.delete file)))
        (is (= 1 (first (run "dump" pid "no/such/folder/x.edn"))))
        (is (str/starts-with? (peek (run "dump" pid "no/such/folder/x.edn")) "skein: can't write no/such/folder/x.edn: ")))
      (testing "ps lists it, with Skein, in the order of numbers"
        (let [out (nth (run "ps") 1)]
          (is (re-find (re-pattern (str "(?m)^ *" pid "  skein  ")) out))
          (is (apply < (map (comp parse-long second) (re-seq #"(?m)^ *(\d+)" out)))))
        (is (some (fn this? [{:strs [pid skein command]}] (= [(.pid process) true true] [pid skein (str/starts-with? command "clojure.main -e")]))
                  (json/read-str (nth (run "ps" "--json") 1)))))
      (finally
        (.destroy process)
        (.waitFor process 60 TimeUnit/SECONDS)))
    (is (re-find #"can't be inspected: there is no such process" (peek (run "ps" pid))))))

(def ^:private program-that-hangs
  "A block that waits for another, which nobody answers. The collector would remove both."
  '(do (require '[skein.async :as a])
       (Class/forName "skein.rt.schedule.Detached") ; which the monitor else loads at its first look, perhaps after "hung"
       (println "starts")
       (def asked (promise))
       (defn ask []
         (let [c (a/chan), port (a/go (a/<! c))]
           (deliver asked (mapv (fn [x] (java.lang.ref.WeakReference. x)) [c port]))
           port))
       (let [main (Thread/currentThread)
             waits? (fn waits? [^java.lang.ref.WeakReference r] (pos? (.takerCount ^skein.rt.Channel (.get r))))
             says (fn says []
                    (while (not (and (every? waits? @asked) (= Thread$State/WAITING (.getState main)))) (Thread/onSpinWait))
                    (def asked nil) ; in a proof a weak reference counts like others
                    (println "hung"))]
         (doto (Thread. says) (.setDaemon true) .start)
         (a/<!! (a/go (a/<! (ask)))))))

(deftest a-process-that-nobody-prepared-is-left-as-it-is
  (let [log (File/createTempFile "jvm" ".log")
        process (start class-path program-that-hangs ["-Xmn150m" "-XX:MetaspaceSize=100m" (str "-Xlog:gc,class+load:file=" log)])
        in (lines-of process)
        pid (str (.pid process))]
    (try
      (is (= ["starts" "hung"] [(.readLine in) (.readLine in)]))
      (let [before (slurp log)]
        (testing "ps lists it, and says what shows more"
          (is (re-find (re-pattern (str "(?m)^ *" pid "  skein  ")) (nth (run "ps") 1)))
          (doseq [command [["ps" pid] ["ps" pid "--prove"] ["why" pid "main"] ["dump" pid "x.edn"]]]
            (let [[code out err] (apply run command)]
              (is (= [1 ""] [code out]) command)
              (is (re-find #"inspector of process \d+ is off.*--heap" err)))))
        (testing "the heap has both blocks, however often it is written"
          (dotimes [_ 3]
            (let [[code out] (run "ps" pid "--heap")]
              (is (= 0 code))
              (is (re-find #"^2 blocks \(2 stuck\), 1 thread waits" out)))))
        (is (= "" (subs (slurp log) (count before))) "it has loaded no class and collected nothing"))
      (finally (.destroy process) (.delete log)))))

(deftest text-fits-the-screen
  (is (= "a\nb\nc\n" (cli/fitted "a\nb\nc\n" nil)) "plain if there is no screen")
  (is (str/ends-with? (cli/fitted "  one line\ntwo\n" [24 6]) "J  one…\ntwo") "a row is cut")
  (is (str/ends-with? (cli/fitted "PROVEN  go-17 waits.\n  x\n" [24 9]) "JPROVEN\ngo-17\nwaits.\n  x") "a sentence is not")
  (is (str/ends-with? (cli/fitted "abcdefgh ij\n" [24 3]) "Jabc\ndef\ngh\nij"))
  (is (= ["1" "2"] (take 2 (str/split-lines (subs (cli/fitted "1\n2\n3\n4\n5\n" [4 60]) 7))))))

(deftest every-command-has-help
  (doseq [args [["ps" "--help"] ["why" "-h"]]]
    (let [[code out err] (apply run args)]
      (is (= [0 true ""] [code (str/starts-with? out "usage: ") err]) args))))

(deftest bad-arguments-are-refused-in-a-sentence
  (is (= [2 "" "skein: 'no.edn' is neither the number of a process nor a file; ./skein ps lists the processes.\n"] (run "why" "no.edn" "1")))
  (is (= [2 "" "skein: A dump is not a heap file, so it can't be named x.hprof. jcmd PID GC.heap_dump -all FILE writes a heap file; FILE is its whole path.\n"]
         (run "dump" "1" "x.hprof")))
  (is (= [2 "" "skein: 'x' is neither the number of a process nor a file; ./skein ps lists the processes.\n"] (run "ps" "x")))
  (is (= [2 "" "skein: '.' is a folder. ps takes the number of a process, a heap file or a dump; ./skein ps lists the processes.\n"] (run "ps" ".")))
  (is (= [2 "" "skein: x.json is JSON, which ./skein console and other tools read. ps, why and dump read dumps that end in .edn.\n"] (run "ps" "x.json")))
  (is (= [2 "" "skein: '' is neither the number of a process nor a file; ./skein ps lists the processes.\n"] (run "ps" "")))
  (is (= [2 "" "skein: there is no option --all; ./skein ps --help shows its usage.\n"] (run "ps" "1" "--all") (run "ps" "--all")))
  (let [file (doto (File/createTempFile "dump" ".edn") .deleteOnExit), path (str file)]
    (is (= [2 "" (str "skein: --heap is for processes, and " path " is a file.\n")] (run "ps" path "--heap") (run "why" "--heap" path "1"))))
  (doseq [[args says] {["ps" "1" "--prove" "--heap"] "--prove and --heap can't be given together"
                       ["ps" "--heap"] "ps without PID takes no --heap"
                       ["ps" "--json" "--prove"] "ps without PID takes no --prove"
                       ["why" "1" "2" "--json"] "why takes no --json"
                       ["ps" "1" "2"] "ps does not take '2' after its other arguments"
                       ["dump" "1" "--heap"] "dump lacks FILE"
                       ["top" "1" "--heap"] "top takes no --heap"
                       ["why"] "why lacks PID and WAITER"
                       ["why" "1"] "why lacks WAITER"
                       ["dump" "1"] "dump lacks FILE"
                       ["top"] "top lacks PID"
                       ["timeline" "1"] "timeline lacks FILE"}]
    (is (= [2 "" (str "skein: " says "; ./skein " (first args) " --help shows its usage.\n")] (apply run args)) args))
  (is (= [2 "" "skein: the rounds of top must be a number from 1, not '0'.\n"] (run "top" "1" "0")))
  (is (= [2 "" "skein: top and timeline take the number of a running process, not 'x.edn'; ./skein ps lists the processes, and shows a file.\n"]
         (run "top" "x.edn")))
  (is (= [2 "" "skein: there is no command 'bottom'.\n"] (run "bottom"))))

(deftest json-is-printed-whole-or-not-at-all
  (doseq [source ["999999999" "no.edn" "."]
          :let [[code out err] (run "ps" source "--json")]]
    (is (= ["" err] [out (peek (run "ps" source))]) source)
    (is (= (first (run "ps" source)) code)))
  (is (= 1 (first (run "ps" "999999999" "--json")))))

(deftest an-option-may-be-given-twice
  (is (re-find #"^skein: Process 999999999 can't be inspected" (peek (run "ps" "999999999" "--heap" "--heap")))))

(deftest a-process-without-the-inspector-is-refused
  (let [process (start without-inspect program [])
        pid (str (.pid process))]
    (try
      (is (= "up" (.readLine (lines-of process))))
      (is (= [1 "" (str "skein: Process " pid " can't be inspected: it does not have skein.inspect on its class path. ./skein ps " pid " --heap needs nothing there.\n")]
             (run "top" pid)))
      (finally (.destroy process)))))

(deftest a-process-without-skein-is-not-said-to-lack-the-inspector
  (let [process (start without-inspect '(do (println "up") (read-line)) [])
        pid (str (.pid process))]
    (try
      (is (= "up" (.readLine (lines-of process))))
      (is (= [1 "" (str "skein: process " pid " has not loaded Skein, so there are no blocks and channels to show. ./skein ps " pid
                     " --heap may show threads that wait for ever for locks and promises.\n")]
             (run "ps" pid)))
      (finally (.destroy process)))))

(deftest a-timeline-of-a-process-is-written-to-a-file
  (let [process (start class-path program [])
        pid (str (.pid process))
        file (File/createTempFile "timeline" ".json"), path (.getPath file)]
    (try
      (is (= "up" (.readLine (lines-of process))))
      (is (= [2 "" "skein: the seconds must be a number from 1 to 3600, not 'x'.\n"] (run "timeline" pid path "x")))
      (let [[code out err] (run "timeline" pid path "1")]
        (is (= [0 (str path "\n")] [code out]))
        (is (str/includes? err "inspector of process ") "it says why the timeline may be empty")
        (is (str/ends-with? err "skein: recording for 1 s ...\n"))
        (is (vector? (get (json/read-str (slurp path)) "traceEvents"))))
      (is (thrown-with-msg? clojure.lang.ExceptionInfo #"are not recorded" (remote/timeline-of pid 1000)) "it records no longer")
      (testing "if it records already, the record is used and continues"
        (remote/record! pid true)
        (is (= [0 (str path "\n")] (take 2 (run "timeline" pid path "3600"))))
        (is (map? (remote/timeline-of pid 1000)))
        (remote/record! pid false))
      (testing "it dies meanwhile"
        (let [ended (future (run "timeline" pid path "3"))]
          (eventually #(try (remote/timeline-of pid 0) (catch clojure.lang.ExceptionInfo _)))
          (.destroy process)
          (let [[code _ err] @ended]
            (is (= 1 code))
            (is (re-find #"skein: Process \d+ can't be inspected: it ended meanwhile, or nothing answers there \(.*\)\.\n$" err)))))
      (finally (.destroy process) (.delete file)))))

(deftest other-processes-are-refused
  (let [process (.start (ProcessBuilder. ^java.util.List (list "cat")))
        pid (str (.pid process))]
    (try
      (is (= [1 "" (str "skein: Process " pid " can't be inspected: it is not a JVM, it does not answer, or it forbids tools to attach (-XX:+DisableAttachMechanism).\n")]
             (run "ps" pid)))
      (is (.isAlive process) "it is left alone")
      (finally (.destroy process)))))

(deftest a-stopped-process-is-said-to-be-stopped
  (if-not (.exists (File. "/proc/self/status"))
    (skip! "there is no /proc")
    (let [process (start without-inspect '(do (println "up") (read-line)) [])
          pid (str (.pid process))
          signal (fn signal [option] (.waitFor (.start (ProcessBuilder. ^java.util.List (list "sh" "-c" (str "kill " option " " pid))))))]
      (try
        (is (= "up" (.readLine (lines-of process))))
        (signal "-STOP")
        (is (eventually #(= "T" (@#'attach/status pid "State"))) "it stops soon after")
        (is (= [1 "" (str "skein: Process " pid " can't be inspected: it is stopped, so it does not answer. kill -CONT " pid " lets it go on.\n")]
               (run "ps" pid)))
        (signal "-CONT")
        (is (= 0 (first (run "ps" pid "--heap"))))
        (finally (.destroyForcibly process))))))

(def ^:private older
  "A process with the bean of an older version, which lacks most operations; it gives version 2 when a line comes in."
  '(let [version (atom 0), name (javax.management.ObjectName. "skein.inspect:type=Inspector")]
     (.registerMBean (java.lang.management.ManagementFactory/getPlatformMBeanServer)
                     (reify javax.management.DynamicMBean
                       (getAttribute [_ _] (int @version))
                       (getMBeanInfo [_] (javax.management.MBeanInfo. "Old" "" nil nil nil nil))
                       (invoke [_ operation _ _] (throw (javax.management.ReflectionException. (NoSuchMethodException. operation)))))
                     name)
     (doto (Thread. (fn [] @(promise)) "skein-inspect") (.setDaemon true) .start) ; as while an inspector is on
     (println "up")
     (read-line)
     (reset! version 2)
     (println "2")
     (read-line)))

(deftest an-older-inspector-is-refused
  (let [process (start class-path older [])
        in (lines-of process)
        pid (str (.pid process))]
    (try
      (is (= "up" (.readLine in)))
      (is (= [1 "" (str "skein: Process " pid " can't be inspected: it has version 0 of the inspector, this is 2.\n")] (run "ps" pid)))
      (doto (.getOutputStream process) (.write (.getBytes "\n")) .flush)
      (is (= "2" (.readLine in)))
      (is (= [1 "" (str "skein: Process " pid " can't be inspected: its inspector is older than this one, and can't do that.\n")]
             (run "ps" pid)))
      (finally (.destroy process)))))

(def ^:private program-that-refuses
  "A process whose collector does not run when asked to, as its inspector says after 20 s."
  '(do (require 'skein.inspect)
       (skein.inspect/start!)
       (alter-var-root #'skein.inspect/deadlocks
                       (constantly (fn refuse [_] (throw (ex-info "The garbage collector did not run." {})))))
       (println "up")
       (read-line)))

(deftest refusals-of-the-process-are-one-sentence
  (let [process (start class-path program-that-refuses [])
        pid (str (.pid process))]
    (try
      (is (= "up" (.readLine (lines-of process))))
      (is (= 0 (first (run "ps" pid))))
      (is (= [1 "" (str "skein: Process " pid " can't be inspected: The garbage collector did not run.\n")]
             (run "ps" pid "--prove")))
      (finally (.destroy process)))))
