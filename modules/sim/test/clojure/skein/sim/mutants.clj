;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.mutants
  "`./skein schedules mutants [TEXT...]`: puts small bugs into mult, mix, pub, pipeline, merge, scopes and windows, one at a time,
  and looks whether the tests of skein.sim.primitives find each. A mutant is a copy of one file, first on the class path of a
  JVM of its own."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :as test])
  (:import
   (java.io File)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (java.util List)
   (java.util.concurrent TimeUnit)
   (javax.tools ToolProvider)))

(set! *warn-on-reflection* true)

(def ^:private tests
  '[skein.sim.primitives.hubs-test skein.sim.primitives.pipes-test skein.sim.primitives.scopes-test])

(def ^:private ^:const max-seconds "Of a mutant's JVM; what takes longer hangs, and is killed." 120)

(def ^:private async "skein/impl/async/")

(def mutants
  "File -> [what it says, what the mutant says instead], where the file says that once. There are no mutants of what a channel
  does under its lock: with one carrier, no other task sees it."
  [[(str async "mult.clj")
    ["(doseq [[tap close?] @(:taps h) :when close?]" "(doseq [[tap _] @(:taps h)]"]
    ["(when (give-all h v except) (<! (gather/signal g)))" "(give-all h v except)"]
    ["(when-not (identical? ch except) (give h ch v))" "(give h ch v)"]
    ["(recur (<! source) nil)" "(recur (<! source) except)"]
    ["(if (some (fn same? [[c]] (identical? c ch)) taps)" "(if false"]
    ["(if (identical? c ch) [ch close?] t)" "t"]
    ["(when (nil? @(:taps h))" "(when true"]
    ["(port/poll! source)\n                     (drop-waiting h)" "(port/poll! source)"]
    ["(swap! (:taps h) without ch)\n  (port/put! (:change h) true)" "(swap! (:taps h) without ch)"]
    ["(begin h)\n      (port/put! (:change h) true))" "(begin h)\n nil)"]
    ["(identical? ch (:change h)) (recur)" "(identical? ch (:change h)) nil"]
    ["(port/close-as! tap from)" "nil"]]
   [(str async "gather.clj")
    ["(do (expect g)" "(do"]
    ["(.set ^AtomicInteger (.-shares g) 1)" "(.set ^AtomicInteger (.-shares g) 2)"]]
   [(str async "mix.clj")
    ["solos (complement mutes))" "solos (complement pauses))"]
    ["(= :pause solo-mode) solos" "(= :pause solo-mode) (complement pauses)"]
    ["(or (solos ch) (not (pauses ch)))" "(not (pauses ch))"]
    ["(if (seq solos) solos (complement mutes))" "(complement mutes)"]
    ["(do (swap! (:inputs h) without ch) (recur nil nil))" "(recur ports passes?)"]
    ["(swap! (:inputs h) without ch)\n  (change! h)" "(swap! (:inputs h) without ch)"]
    ["(swap! (:inputs h) changed ch (constantly {}))\n  (change! h)" "(swap! (:inputs h) changed ch (constantly {}))"]
    ["(>! out v) (recur ports passes?)" "(do (>! out v) true) (recur ports passes?)"]
    ["(identical? ch (:change h)) (recur nil nil)" "(identical? ch (:change h)) (recur ports passes?)"]
    ["(changed inputs ch #(merge % attributes))" "(changed inputs ch (constantly attributes))"]
    ["(comp (map first) (filter read?)) inputs)" "(filter read?) (set (map first inputs)))"]]
   [(str async "pub.clj")
    ["(if (get topics topic) topics (assoc topics topic made))" "(assoc topics topic made)"]
    ["(run! (fn close [[ch]] (port/close-as! ch from)) (vals @(:topics h)))" "nil"]
    ["(mult/untap m ch)" "m"]
    ["(swap! (:topics h) dissoc topic)" "topic"]
    ["(reset! (:topics h) {})" "nil"]
    ["(chan ((:buf-fn h) topic))" "(chan)"]]
   [(str async "pipeline.clj")
    ["(when (more?)" "(when true"]
    ["(when (>! items item)\n              (begin v item)\n              (recur))" "(begin v item) (when (>! items item) (recur))"]
    ["(port/close-as! items from)" "nil"]
    ["(when-not (port/failed? port) (close! items))" "(close! items)"]
    ["(do (discard item) (abandon items))" "(abandon items)"]
    ["(close! items)\n  (loop []\n    (when-some [item (port/poll! items)]\n      (discard item)\n      (recur)))" "(close! items)"]
    ["(or ex-handler report)" "report"]
    ["(close! results)\n" "\n"]
    ["(fn no-more-jobs [_] (close! jobs))" "(fn no-more-jobs [_])"]
    ["(chan (dec (long n)))" "(chan n)"]
    ["(dotimes [_ n] (begin-work jobs do-job workload))" "(begin-work jobs do-job workload)"]
    ["(when close? (port/close-as! to items))" "(port/close-as! to items)"]
    ["close? (port/failing to)" "false (port/failing to)"]]
   [(str async "ops.clj")
    ["(recur (filterv (fn other [c] (not (identical? c ch))) open))" "(recur open)"]
    ["(when (>! out v) (recur open))" "(do (>! out v) (recur open))"]
    ["(when (>! out v) (recur open))))))\n    (port/close-as! out (first (filter port/failed? chs)))" "(when (>! out v) (recur open))))))\n    (port/close-as! out (first chs))"]
    ["(port/closing (merge-block chs out) out)" "(merge-block chs out)"]]
   ["skein/scope.clj"
    ["(not (or body? (seq live)))" "(not body?)"]
    ["(not (or body? (seq live)))" "(empty? live)"]
    ["(when cancelled? (.cancel region))" "nil"]
    ["(swap! (.-state ^Scope (check-scope \"(cancel! s)\" scope)) assoc :cancelled? true)" "(deref (.-state ^Scope scope))"]
    ["(sort-by (fn number [^Region region] (.number region)) live)" "live"]
    ["(neg? (- (long outer) ns))" "(pos? (- (long outer) ns))"]
    ["(do (.cancel (Cancellable/innermost))\n          (recur true))" "(recur true)"]
    ["(when interrupted? (.interrupt (Thread/currentThread)))" "nil"]
    ["(.cancel region)\n    nil))" "nil))"]
    ["(not (told-before? failures thrown))" "true"]
    ["(zero? (long timeout-ms)) (expire s)" "(zero? (long timeout-ms)) nil"]
    ["(when (:closed? (swap! state (fn ends [s] (settled (update s :live disj region)))))" "(when (:closed? (settled (swap! state update :live disj region)))"]]
   ["skein/async/streams.clj"
    ["(do (a/>! held true) (recur))" "(recur)"]
    ["(not (a/>! out result))) (scope/cancel! s)" "(not (a/>! out result))) nil"]
    ["thrown (throw thrown)" "thrown nil"]]
   ["skein/virtual/window.clj"
    ["(when (< number n)" "(when (<= number n)"]]
   ["skein/rt/scope/Window.java"
    ["servers.size() >= n ||" "servers.size() > n ||"]
    ["return List.copyOf(servers);" "return List.of();"]
    ["return closed && servers.isEmpty() ||" "return closed ||"]
    ["while (!servers.isEmpty())" "while (servers == null)"]
    ["this.ordered = ordered;" "this.ordered = false;"]]])

(defn- all-mutants []
  (for [[file & edits] mutants, [from to] edits] {:file file :from from :to to}))

;;;; A mutant's JVM

(defn- root
  "The folder of modules/async."
  ^File []
  (io/file "modules" "async" "src"))

(defn- mutated
  "The text of the file with the edit made."
  [{:keys [^String file ^String from ^String to]}]
  (let [text (slurp (io/file (root) (if (str/ends-with? file ".java") "java" "clojure") file))
        at (.indexOf text from)]
    (when (or (neg? at) (<= 0 (.indexOf text from (inc at))))
      (throw (ex-info (str file " must say this once: " from) {})))
    (str (subs text 0 at) to (subs text (+ at (count from))))))

(defn- write!
  "Puts the mutated file into `dir`, compiled if it is Java."
  [{:keys [^String file] :as mutant} ^File dir]
  (let [target (io/file dir file)]
    (io/make-parents target)
    (spit target (mutated mutant))
    (when (str/ends-with? file ".java")
      (let [options ["-cp" (System/getProperty "java.class.path") "-d" (str dir) (str target)]]
        (when-not (zero? (.run (ToolProvider/getSystemJavaCompiler) nil nil nil (into-array String options)))
          (throw (ex-info (str file " does not compile.") {})))))))

(defn- delete! [^File dir]
  (run! (fn [^File f] (.delete f)) (reverse (file-seq dir))))

(defn- command
  "The command of a JVM that runs the tests with `dir` first on the class path."
  ^List [dir]
  [(str (System/getProperty "java.home") "/bin/java") "--add-opens" "java.base/java.lang=ALL-UNNAMED" "-XX:TieredStopAtLevel=1"
   "-cp" (str dir File/pathSeparator (System/getProperty "java.class.path")) "clojure.main" "-m" "skein.sim.mutants" "--tests"])

(def ^:private ^:const a-test-failed "The exit code that says so; any other but 0 means that the mutant does not even load." 3)

(defn- outcome
  "Runs the tests with `dir` first on the class path: what it prints last, the test that has failed; or nil if all pass."
  [dir]
  (let [builder (doto (ProcessBuilder. (command dir)) (.redirectErrorStream true))
        _ (.put (.environment builder) "SKEIN_SIM_SEED" "1")
        process (.start builder)
        lines (future (with-open [in (io/reader (.getInputStream process))] (vec (line-seq in))))]
    (if (.waitFor process max-seconds TimeUnit/SECONDS)
      (condp = (.exitValue process)
        0 nil
        a-test-failed (peek @lines)
        (throw (ex-info (apply str "A mutant does not load:\n" (interpose "\n" @lines)) {})))
      (do (.destroyForcibly process) "it hangs"))))

(defn- run-mutant [mutant]
  (let [dir (.toFile (Files/createTempDirectory "skein-mutant" (make-array FileAttribute 0)))]
    (try
      (when mutant (write! mutant dir))
      (outcome dir)
      (finally (delete! dir)))))

(defn- run-tests
  "Runs the tests up to the first that fails, prints its name and exits with `a-test-failed`. If all pass, exits with 0."
  []
  (apply require tests)
  (doseq [n tests, v (sort-by (comp :line meta) (filter (comp :test meta) (vals (ns-interns n))))]
    (binding [test/*report-counters* (ref test/*initial-report-counters*)
              test/*test-out* (java.io.StringWriter.)]
      (test/test-vars [v])
      (let [{:keys [fail error]} @test/*report-counters*]
        (when (pos? (+ (long fail) (long error)))
          (println (str (:name (meta v))))
          (System/exit a-test-failed)))))
  (System/exit 0))

;;;; All of them

(defn- one-line [text]
  (str/replace (str/trim text) #"\s+" " "))

(defn run
  "Tries the mutants whose file or edit has one of `texts` in it, or all, and prints what became of each. Returns whether at
  least 90 % were killed."
  [texts]
  (let [wanted? (fn [{:keys [file from]}] (or (empty? texts) (some #(str/includes? (str file " " from) %) texts)))
        chosen (filterv wanted? (all-mutants))]
    (run! mutated chosen) ; what can't be made is said at once
    (if-some [failed (run-mutant nil)]
      (println "Without a mutant a test fails:" failed)
      (let [killed (count (filter (fn [{:keys [file from to] :as mutant}]
                                    (let [by (run-mutant mutant)]
                                      (println (format "%-9s %s: %s  =>  %s%s" (if by "killed" "SURVIVED") file (one-line from) (one-line to)
                                                       (if by (str "   by " by) "")))
                                      (flush)
                                      by))
                                  chosen))]
        (println (format "%d of %d mutants killed" killed (count chosen)))
        (<= 0.9 (/ killed (double (max 1 (count chosen)))))))))

(defn -main
  "In a mutant's JVM: runs the tests."
  [& _]
  (run-tests))
