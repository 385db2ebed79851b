;; SPDX-License-Identifier: Apache-2.0
(ns lab.run
  "./skein lab: runs the experiments one after the other, each contestant in a process of its own. It prints tables, and writes a
  page and data to files. If it is interrupted, it reports the figures so far."
  (:require
   [clojure.java.io :as io]
   [clojure.pprint :as pprint]
   [clojure.string :as str]
   [clojure.tools.cli :as cli]
   [lab.experiments :as experiments]
   [lab.figures :as figures]
   [lab.machine :as machine]
   [lab.page :as page]
   [lab.process :as process]
   [lab.readings :as readings]
   [lab.vega :as vega]
   [skein.cli.terminal :as terminal]
   [skein.impl.error :as error])
  (:import
   (java.io File)
   (java.nio.file Files)
   (java.time ZonedDateTime)
   (java.time.format DateTimeFormatter)
   (java.time.temporal ChronoUnit)))

(set! *warn-on-reflection* true)

(def ^:private limits-ms "The time limit of a contestant for one figure." {:full 180000, :quick 30000, :tiny 60000})

;;;; The command line

(defn- folder
  "Returns the path of a folder, which is made. It is relative to the caller's folder, which the launcher
  passes on."
  [path]
  (let [caller (System/getenv "SKEIN_CALLED_FROM")
        folder (if (and caller (not (.isAbsolute (io/file path)))) (io/file caller path) (io/file path))]
    (.mkdirs folder)
    (str folder)))

(defn- writable-folder? [path]
  (let [folder (io/file path)]
    (and (.isDirectory folder) (.canWrite folder))))

(def ^:private option-specs
  [[nil "--quick" "small sizes: under 90 s, instead of about ten minutes"
    :id :size, :parse-fn (constantly :quick)]
   [nil "--size SIZE" "full, quick or tiny; tiny only shows that everything works"
    :parse-fn keyword, :validate [limits-ms "must be full, quick or tiny"]]
   [nil "--out FOLDER" "where to write, by default target/lab"
    :parse-fn folder, :validate [writable-folder? "must be a folder that can be written"]]
   ["-h" "--help" "this text"]])

(defn- usage [options]
  (str "usage: ./skein lab [OPTIONS...] [EXPERIMENT...]\n\n"
       "Reruns ten experiments that were published between 2009 and 2025, on core.async 1.7.701 and 1.9.865, on\n"
       "Clojure and the JDK, and on Skein. It writes report.html and results.edn. In a table, the column \"published\" has\n"
       "the figures of that time, and \"once\" marks the figure of a single run.\n\n"
       options
       "\n\nExperiments, by name or number; by default all of them:\n\n"
       (str/join (for [{:keys [id name title]} experiments/experiments]
                   (format "  %-4s %-13s %s\n" id name title)))))

(defn- usage-error! [message]
  (throw (ex-info (str message "; ./skein lab --help shows what there is") {::usage true})))

(defn- chosen [text]
  (or (experiments/named text) (usage-error! (str "there is no experiment '" text "'"))))

(defn parse
  "Returns {:size keyword, :out path, :experiments [experiment]} from arguments. With --help, :help is the
  usage."
  [args]
  (let [{:keys [options arguments errors summary]} (cli/parse-opts args option-specs)]
    (cond
      (:help options) {:help (usage summary)}
      errors (usage-error! (first errors))
      :else (merge {:size :full, :out "target/lab"}
                   options
                   {:experiments (or (seq (distinct (map chosen arguments))) experiments/experiments)}))))

;;;; Progress

(defn- begins!
  "Says which experiment begins, where the progress is not shown."
  [{:keys [id title]}]
  (when-not (terminal/error?)
    (binding [*out* *err*] (println (str "skein: " (str/upper-case id) " " title " ..."))))) ; as the launcher does

(defn- progress!
  "Shows the progress on a terminal."
  [text]
  (when (terminal/error?)
    (let [shown (if (< 100 (count text)) (str (subs text 0 99) "…") text)]
      (binding [*out* *err*] (print (str "\r\u001B[K" shown)) (flush)))))

(defn- progress-of [n-done n-all {:keys [id title]} library row]
  (str "[" n-done "/" n-all "] " (str/upper-case id) " " title ", " library (when row (str ": " row))))

;;;; Results

(defn- program-file ^File [n]
  (io/file (str "tools/lab/src/clojure/" (-> n (str/replace "." "/") (str/replace "-" "_")) ".clj")))

(defn- alone [n]
  (str/join " " (concat ["java"] (process/heap-flags n) ["-cp \"$(./skein classpath)\" clojure.main -m" n])))

(defn- finished
  "Returns the report on an experiment."
  [{:keys [experiment measurements failures]}]
  {:experiment experiment
   :measurements measurements
   :failures failures
   :reading (readings/reading (:id experiment) measurements)
   :command (alone (:ns experiment))
   :program (slurp (program-file (:ns experiment)))})

(defn- edn-of [results]
  (update results :experiments
          (partial mapv (fn [{:keys [experiment measurements failures reading]}]
                          (assoc (select-keys experiment [:id :name :title :source :published])
                                 :measurements measurements :failures failures :reading reading)))))

(defn write!
  "Writes report.html and results.edn into the folder `out`."
  [out results]
  (.mkdirs (io/file out))
  (spit (io/file out "results.edn")
        (str ";; SPDX-License-Identifier: Apache-2.0\n" (with-out-str (pprint/pprint (edn-of results)))))
  (spit (io/file out "report.html")
        (page/html results (merge {:css (slurp (io/resource "lab/page.css")), :js (slurp (io/resource "lab/page.js"))} (vega/scripts)))))

(defn- print-result! [{:keys [experiment measurements failures reading]}]
  (println (str "\n" (str/upper-case (:id experiment)) " " (:title experiment) "\n"))
  (run! println (figures/text experiment measurements))
  (when (seq measurements) (println (figures/legend experiment measurements)))
  (doseq [{:keys [library message]} failures] (println (str library ": " message)))
  (when reading (println (str "\n" reading)))
  (flush))

;;;; Running

(defn- run-library!
  "Adds the figures of one process to `state`: {:done [result], :now {:experiment :measurements :failures}}."
  [state {:keys [experiment library]} size shared progress]
  (let [failure (process/run (:ns experiment) library {"lab.size" (name size), "lab.shared" shared} (limits-ms size)
                             (fn [m]
                               (progress (:row m))
                               (swap! state update-in [:now :measurements] conj m)))]
    (when (and failure (not (:stopped? @state)))
      (swap! state update-in [:now :failures] conj {:library library, :message failure}))))

(defn- run-experiment! [state experiment size shared progress]
  (swap! state assoc :now {:experiment experiment, :measurements [], :failures []})
  (begins! experiment)
  (doseq [library (:libraries experiment) :when (not (:stopped? @state))]
    (progress experiment library nil)
    (run-library! state {:experiment experiment, :library library} size shared (partial progress experiment library)))
  (when-not (:stopped? @state)
    (let [result (finished (:now @state))]
      (progress! "")
      (print-result! result)
      (swap! state #(-> % (update :done conj result) (dissoc :now))))))

(defn- shared-folder ^File []
  (.toFile (Files/createTempDirectory "skein-lab" (make-array java.nio.file.attribute.FileAttribute 0))))

(defn- delete-all! [^File folder]
  (run! #(.delete ^File %) (reverse (file-seq folder))))

(defn- run-all! [state experiments size]
  (let [shared (shared-folder)
        n-all (reduce + (map (comp count :libraries) experiments))
        n-begun (atom 0)
        progress (fn [experiment library row]
                   (when-not row (swap! n-begun inc))
                   (progress! (progress-of @n-begun n-all experiment library row)))]
    (try
      (doseq [experiment experiments
              :let [folder (io/file shared (:id experiment))]
              :when (not (:stopped? @state))]
        (.mkdirs folder)
        (run-experiment! state experiment size (str folder) progress)
        (delete-all! folder))
      (finally (delete-all! shared)))))

(defn- results-of [{:keys [done now stopped?]} {:keys [size]} about]
  (assoc about
         :size size
         :note (when stopped? "This run was interrupted. These are the figures up to then.")
         :experiments (cond-> (vec done) (seq (concat (:measurements now) (:failures now))) (conj (finished now)))))

(defn- about [args]
  {:machine (machine/describe)
   :started (.format (.truncatedTo (ZonedDateTime/now) ChronoUnit/MINUTES) DateTimeFormatter/RFC_1123_DATE_TIME)
   :command (str/join " " (cons "./skein lab" args))})

(defn- busy-note []
  (let [load (double (machine/load-of-others))]
    (when (< 0.2 load)
      (format "Other programs used %.0f %% of this machine when the run began. The times are not reliable." (* 100 load)))))

(defn- run-and-tell! [options args]
  (let [state (atom {:done []})
        note (busy-note)
        known (about args)
        tell (delay (write! (:out options)
                            (update (results-of @state options known) :note #(or % note))))
        hook (Thread. (fn stop []
                        (swap! state assoc :stopped? true)
                        (process/stop!)
                        (progress! "")
                        @tell
                        (println (str "\nInterrupted. The figures so far are in " (:out options) "/report.html"))
                        (flush)))]
    (.addShutdownHook (Runtime/getRuntime) hook)
    (when note (println note))
    (run-all! state (:experiments options) (:size options))
    (when-not (:stopped? @state)
      (.removeShutdownHook (Runtime/getRuntime) hook)
      @tell
      (println (str "\nThe report is " (:out options) "/report.html, and the data is " (:out options) "/results.edn")))))

(defn -main
  "Runs the lab. Exits with 2 for a wrong command line."
  [& args]
  (let [options (try (parse args)
                     (catch clojure.lang.ExceptionInfo e
                       (when-not (::usage (ex-data e)) (throw e))
                       (binding [*out* *err*] (println (str "skein: " (error/untold (ex-message e)))))
                       (System/exit 2)))]
    (if (:help options)
      (print (:help options))
      (run-and-tell! options args))
    (flush)
    (shutdown-agents)))
