;; SPDX-License-Identifier: Apache-2.0
(ns skein.lab-test
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [lab.experiments]
   [lab.factors]
   [lab.figures]
   [lab.measure]
   [lab.page]
   [lab.plots]
   [lab.process]
   [lab.readings]
   [lab.run]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]])
  (:import
   (java.io File)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (java.util List)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private deadline-s 300)

(defn- folder ^File []
  (.toFile (Files/createTempDirectory "skein-lab-test" (make-array FileAttribute 0))))

(defn- delete-all! [^File root]
  (run! #(.delete ^File %) (reverse (file-seq root))))

(defn- finished
  "Waits for a process, which is killed at the deadline. Returns the lines that it printed."
  [command]
  (let [out (File/createTempFile "skein-lab-test" ".txt")
        process (-> (ProcessBuilder. ^List (vec command)) (.redirectErrorStream true) (.redirectOutput out) .start)]
    (try
      (when-not (.waitFor process (long deadline-s) TimeUnit/SECONDS)
        (.destroyForcibly process))
      {:exit (.waitFor process), :lines (str/split-lines (slurp out))}
      (finally (.delete out)))))

;;;; The programs

(defn- programs-on [library]
  (for [{:keys [ns libraries]} lab.experiments/experiments :when (some #{library} libraries)] ns))

(defn- measurements
  "Returns the output of the programs of `library` at a tiny size, all in one process."
  [library shared]
  (let [form (pr-str (list 'run! '#((requiring-resolve (symbol % "-main"))) (vec (programs-on library))))
        command (lab.process/command "NS" library {"lab.size" "tiny", "lab.pipe" "true", "lab.stay" "true", "lab.shared" shared})
        {:keys [exit lines]} (finished (concat (drop-last 2 command) ["-e" (str form "(System/exit 0)")]))]
    (is (= 0 exit) (str/join "\n" lines))
    (for [line lines :when (str/starts-with? line "{")]
      (assoc (edn/read-string line) :library library))))

(deftest contestants-compute-the-same-answers
  (let [shared (folder)
        libraries (distinct (mapcat :libraries lab.experiments/experiments))
        all (doall (mapcat #(measurements % (str shared)) libraries))]
    (delete-all! shared)
    (is (= [] (filter :error all)))
    (doseq [library libraries]
      (is (<= (count (programs-on library)) (count (filter #(= library (:library %)) all))) library))
    (doseq [[row answers] (group-by :row (filter :answer all))]
      (is (apply = (map :answer answers)) row))))

(deftest factorising-gives-the-prime-factors
  (is (= [[2] [3] [2 2] [2 3] [3 3] [5 5] [2 2 2 2 2 2] [29 982451653]]
         (map lab.factors/factorize [2 3 4 6 9 25 64 28491097937])))
  (doseq [n (range 2 2000) :let [factors (lab.factors/factorize n)]]
    (is (= n (reduce * factors)))
    (is (every? #(.isProbablePrime (biginteger %) 20) factors))))

(deftest a-wrong-answer-and-an-exception-are-reported
  (is (str/includes? (with-out-str (lab.measure/measure! {:row "r" :expected 1} (constantly 2))) "wrong answer: 2, not 1"))
  (is (str/includes? (with-out-str (lab.measure/measure! {:row "r"} #(throw (ex-info "no" {})))) "ExceptionInfo: no")))

(deftest a-failure-in-a-thread-ends-its-figure
  (let [told (fn [f] (within-deadline (with-out-str (lab.measure/measure! {:row "r"} f))))
        forever (fn [begin!] (begin!) @(promise))
        failing (fn [] (.start (Thread. (fn [] (throw (ex-info "in a thread" {}))))))]
    (is (str/includes? (told #(forever failing)) "ExceptionInfo: in a thread"))
    (is (str/includes? (told #(forever (fn [] (a/go (throw (ex-info "in a block" {})))))) "ExceptionInfo: in a block"))
    (testing "many failures end their own figure alone"
      (is (str/includes? (told #(forever (fn [] (dotimes [_ 50] (failing))))) "ExceptionInfo: in a thread"))
      (is (re-find #"r +Skein +[\de.-]+ ms" (told (constantly 1)))))))

;;;; The run

(deftest a-contestant-that-fails-to-start-or-hangs-is-reported
  (testing "no such program"
    (is (re-find #"ended with exit code 1: .*no_such" (lab.process/run "lab.no-such" "clojure" {} 60000 identity))))
  (testing "a program that waits for ever"
    (is (re-find #"stopped, because it gave no figure" (lab.process/run "skein.sleeper" "skein" {} 2000 identity)))))

(deftest a-failed-contestant-does-not-stop-the-rest
  (let [[e1 e10] (map lab.experiments/named ["e1" "e10"])
        state (atom {:done []})
        library "tools.trace-0.8.0"]
    (with-out-str (#'lab.run/run-all! state [(assoc e1 :libraries [library "skein"]) (assoc e10 :libraries [library])] :tiny))
    (let [[{:keys [failures measurements reading]} after] (:done @state)]
      (is (= [library] (map :library failures)))
      (is (re-find #"ended with exit code 1: .*clojure/core/async" (:message (first failures))))
      (is (= #{"Skein"} (set (map :column measurements))))
      (is (some? reading))
      (is (= "e10" (:id (:experiment after))))
      (is (= [] (:failures after))))))

(defn- lab-command [& args]
  (concat [(str (System/getProperty "java.home") "/bin/java") "-cp" (System/getProperty "java.class.path")
           "clojure.main" "-m" "lab.run"] args))

(deftest a-run-writes-page-and-data
  (let [out (folder)
        {:keys [exit lines]} (finished (lab-command "--size" "tiny" "--out" (str out) "debugging"))
        results (edn/read-string (slurp (io/file out "results.edn")))
        page (slurp (io/file out "report.html"))]
    (delete-all! out)
    (is (= 0 exit))
    (is (some #{"E10 Debugging"} lines))
    (is (= ["e10"] (map :id (:experiments results))))
    (is (= [] (mapcat :failures (:experiments results))))
    (is (= #{"tools.trace 0.8.0" "Skein" "untraced"} (set (map :column (mapcat :measurements (:experiments results))))))
    (is (every? :reading (:experiments results)))
    (testing "the page is complete, and needs no network"
      (is (str/ends-with? page "</html>\n"))
      (is (str/includes? page "E10 Debugging"))
      (is (not (re-find #"(?:src|href)=\"(?!#|data:)" page)))
      (is (not (re-find #"@import|url\(" (subs page 0 (str/index-of page "</style>"))))))
    (is (not-any? #(str/includes? % "\u001B") lines) "progress is for terminals")))

(deftest an-interrupted-run-reports-its-results
  (let [out (folder)
        process (-> (ProcessBuilder. ^List (vec (lab-command "--size" "tiny" "--out" (str out) "e10" "e1" "e2")))
                    (.redirectErrorStream true) .start)]
    (with-open [lines (io/reader (.getInputStream process))]
      (is (some #(str/starts-with? % "E10 ") (line-seq lines)))
      (.destroy (.toHandle process))
      (is (some #(str/starts-with? % "Interrupted.") (line-seq lines))))
    (is (.waitFor process (long deadline-s) TimeUnit/SECONDS))
    (let [results (edn/read-string (slurp (io/file out "results.edn")))]
      (is (str/includes? (slurp (io/file out "report.html")) "interrupted"))
      (is (= "e10" (:id (first (:experiments results)))))
      (is (> 3 (count (:experiments results)))))
    (delete-all! out)))

(deftest arguments-are-understood-or-refused
  (let [parse lab.run/parse
        ids (fn [& args] (map :id (:experiments (parse args))))]
    (is (= ["e1" "e2" "e3" "e4" "e5" "e6" "e7" "e8" "e9" "e10"] (ids)))
    (is (= ["e7" "e1"] (ids "nested" "E1" "e7")))
    (is (= [:full :quick :tiny] (map (comp :size parse) [[] ["--quick"] ["--size" "tiny"]])))
    (is (:help (parse ["--help"])))
    (doseq [[args message] {["e11"] "no experiment 'e11'", ["--fast"] "Unknown option: \"--fast\"; ./skein lab --help"
                            ["--size" "huge"] "\"--size huge\": must be full, quick or tiny", ["--out"] "Missing required argument for \"--out FOLDER\""
                            ["--out" "README.md"] "\"--out README.md\": must be a folder that can be written"}]
      (is (thrown-with-msg? clojure.lang.ExceptionInfo (re-pattern message) (parse args))))))

;;;; Tables, sentences, plots

(def ^:private experiment
  {:id "e6" :title "T" :published {"a" "7 ms"} :base {:column "Skein"} :threads? true
   :plots [{:kind :bars :y :row :color :column}]})

(def ^:private measured
  [{:row "a" :column "Skein" :value 2.0 :unit "ms" :threads 0 :runs 9}
   {:row "a" :column "x" :value 5.0 :unit "ms" :threads 9 :runs 1}
   {:row "b" :column "x" :error "wrong answer: 1, not 2" :value 1.0 :unit "ms"}])

(deftest tables-hold-published-figures-and-ratios
  (is (= {:columns ["Skein" "x"]
          :rows [{:row "a" :published "7 ms" :cells [{:text "2.00 ms" :beside ["+0t"]} {:text "5.00 ms" :beside ["×2.50" "+9t" "once"]}]}
                 {:row "b" :published "" :cells [{:text ""} {:text "wrong answer: 1, not 2" :error? true}]}]}
         (lab.figures/table experiment measured)))
  (is (= ["   published  Skein        x" "a  7 ms       2.00 ms +0t  5.00 ms ×2.50 +9t once"
          "b                          wrong answer: 1, not 2"]
         (lab.figures/text experiment measured)))
  (is (re-find #"× is .* as Skein; \+t .*; once marks" (lab.figures/legend experiment measured)))
  (testing "if each figure is of one run, the legend says so"
    (let [once (map #(assoc % :runs 1) measured)]
      (is (= [["+0t"] ["×2.50" "+9t"]] (map :beside (:cells (first (:rows (lab.figures/table experiment once)))))))
      (is (re-find #"each figure is of one run" (lab.figures/legend experiment once)))))
  (is (= ["1230" "12.3" "0.123" "100" "2.00" "0"] (map lab.figures/digits [1234.5 12.34 0.1234 99.96 2 0.0])))
  (is (= ["56.7 ns" "123 µs" "12.3 ms" "2.00 ms"]
         (map lab.figures/duration [56.7 123456 12345678 2] ["ns" "ns" "ns" "ms"]))))

(deftest speed-ups-are-over-serial
  (let [serial {:row "serial" :column "Clojure" :value 6.0 :unit "ms" :cores 2 :runs 2}
        e3 (lab.experiments/named "e3")
        ms [serial (assoc serial :row "fold" :value 4.0) (assoc serial :row "fold" :column "Skein" :value 3.0)]]
    (is (= [[[]] [["×1.33" "s1.50"] ["s2.00"]]] (map #(keep :beside (:cells %)) (:rows (lab.figures/table e3 ms)))))
    (is (str/includes? (lab.figures/legend e3 ms) "on 2 cores"))
    (is (= "On 2 cores the speed-up over serial is: skein.fold ×2.00 and r/fold ×1.50." (lab.readings/reading "e3" ms)))))

(deftest a-wrong-answer-has-no-figure
  (is (nil? (lab.figures/value measured "b" "x")))
  (is (= [] (remove #(= "a" (:row %)) (mapcat (comp :values :data :spec) (lab.plots/plots experiment measured))))))

(deftest panels-are-in-the-order-of-their-numbers
  (let [e4 (lab.experiments/named "e4")
        cell (fn [n] {:row "r" :column "Skein go" :value 1.0 :unit "ms" :x 16 :panel (str n " compute")})]
    (is (= ["0 compute" "4 compute" "16 compute"]
           (map #(first (str/split (:title %) #":")) (lab.plots/plots e4 (map cell [4 16 0])))))))

(deftest sentences-say-who-is-faster
  (is (= ["5.00 times as fast as x" "as fast as x" "2.00 times slower than x" nil]
         (map #(lab.readings/faster 10 % "x") [50 10.5 5 nil])))
  (let [row "two go loops"
        reading (fn [ours theirs] (lab.readings/reading "e6" [{:row row :column "Skein" :value ours}
                                                              {:row row :column "core.async 1.7.701" :value theirs}]))]
    (is (= "By two go loops Skein passes 10.0 million numbers a second and is 3.00 times as fast as core.async 1.7.701." (reading 100 300)))
    (is (= "By two go loops Skein passes 3.33 million numbers a second and is 3.00 times slower than core.async 1.7.701." (reading 300 100))))
  (doseq [{:keys [id]} lab.experiments/experiments]
    (is (nil? (lab.readings/reading id [])) id)))

(deftest a-page-escapes-its-texts
  (is (= "{\"a\":[1,\"\\u003c/x>\\\"\\n\",null,true]}" (lab.page/json {:a [1 "</x>\"\n" nil true]})))
  (let [page (lab.page/html {:machine [["Java" "<b>"]] :started "now" :size :tiny :command "c" :note nil
                             :experiments [{:experiment experiment :measurements measured :failures [{:library "x" :message "<i>"}]
                                            :reading "R & D" :program "(< 1 2)" :command "java"}]}
                            {:css "" :js "" :scripts ["vega"] :missing nil})]
    (is (not (re-find #"<b>|<i>|\(< 1" page)))
    (is (every? #(str/includes? page %) ["&lt;b&gt;" "x: &lt;i&gt;" "R &amp; D" "(&lt; 1 2)" "×2.50" "class=\"bad\""]))))
