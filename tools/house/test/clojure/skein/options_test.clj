;; SPDX-License-Identifier: Apache-2.0
(ns skein.options-test
  "Checks that every public function and macro takes options in the same way, see doc/decisions/options.md."
  (:require
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.channels :as channels]
   [skein.async.flow :as flow]
   [skein.async.limit :as limit]
   [skein.async.parallel :as parallel]
   [skein.async.reactive :as reactive]
   [skein.async.window :as window]
   [skein.fold :as fold]
   [skein.fold.lines :as lines]
   [skein.project :as project]
   [skein.scope :as s]
   [skein.sim :as sim]
   [skein.test :as t]
   [skein.trace :as trace]
   [skein.virtual :as v]))

(set! *warn-on-reflection* true)

(defn f "Is traced." [x] x)

(def ^:private known
  "Var -> function that calls it with an options map. The other arguments are good, or are refused only after the options are checked."
  {#'a/alts! #(a/<?? (a/async (a/alts! [(a/go 1)] %)))
   #'a/alts!! #(a/alts!! [(a/go 1)] %)
   #'a/do-alts #(a/do-alts identity [(a/go 1)] %)
   #'channels/batch #(channels/batch (merge {:size 1} %) (a/chan))
   #'channels/gate #(channels/gate (merge {:policy :drop} %) (a/chan))
   #'flow/create-flow #(flow/create-flow %)
   #'flow/map->step #(flow/map->step (merge {:describe f :transform f} %))
   #'flow/process #(flow/process f %)
   #'flow/ping #(flow/ping (flow/create-flow {}) %)
   #'flow/ping-proc #(flow/ping-proc (flow/create-flow {}) :no %)
   #'flow/futurize #(flow/futurize f %)
   #'limit/rate-limiter #(limit/rate-limiter (merge {:rate 1} %))
   #'limit/concurrency-limiter #(limit/concurrency-limiter (merge {:n 1} %))
   #'parallel/parallel-map #(parallel/parallel-map (merge {:n 1} %) f (a/chan))
   #'reactive/subscriber #(reactive/subscriber % (a/chan))
   #'window/wmap #(window/wmap (merge {:n 1} %) f (a/go nil) (a/chan))
   #'v/wmap #(v/wmap % f [])
   #'v/wrun! #(v/wrun! % f [])
   #'v/retry #(v/retry % (fn [] 1))
   #'s/scope #(s/scope [_ %])
   #'fold/fold #(fold/fold % fold/count [])
   #'fold/explain #(fold/explain % fold/count [])
   #'lines/lines #(lines/lines % "LICENSE")
   #'lines/records #(lines/records % "LICENSE" "|")
   #'lines/slices #(lines/slices % "LICENSE")
   #'trace/trace-vars #(trace/trace-vars* % 'skein.options-test [#'f])
   #'trace/trace-vars* #(trace/trace-vars* % 'skein.options-test [#'f])
   #'trace/trace-ns #(trace/trace-ns* (merge {:match #"^none$"} %) 'skein.options-test)
   #'trace/trace-ns* #(trace/trace-ns* (merge {:match #"^none$"} %) 'skein.options-test)
   #'trace/with-traced #(trace/with-traced* 'skein.options-test % ['f] (fn []))
   #'trace/trace-forms (fn [options] (eval `(trace/trace-forms ~options 1)))
   #'trace/with-limits #(trace/with-limits % 1)
   #'sim/check #(sim/check* (merge {:schedules 1} %) (fn []) nil)
   #'sim/everywhere #(sim/everywhere* % (fn [] (sim/target (a/go 1))) nil)
   #'sim/holds? #(sim/check* (merge {:schedules 1} %) (fn []) nil)
   #'sim/run #(sim/run* % (fn []))
   #'sim/replay #(sim/replay* "k1.aa:" (sim/checked %) (fn []) nil)
   #'t/defsim #(sim/check* (merge {:schedules 1} %) (fn []) nil)
   #'t/leak-free #(t/leak-free %)})

(def ^:private last-as-in-core-async
  "Functions of core.async, whose options are where core.async has them."
  #{#'a/alts! #'a/alts!! #'a/do-alts #'flow/ping #'flow/ping-proc #'flow/futurize #'flow/process})

(def ^:private options-are-the-argument
  "Functions of one map and nothing else, and macros whose options stand beside the name that they bind or define."
  #{#'s/scope #'t/defsim #'flow/create-flow #'flow/map->step #'t/leak-free #'trace/with-limits})

(def ^:private without-options
  "Vars whose argument names look like options but are none: var -> what the map is."
  {#'sim/value-of "what `run` has returned"})

(defn- option-like? [arg]
  (or (map? arg)
      (and (symbol? arg) (re-find #"^(options\??|opts|config|limits|.*-or-options)$" (name arg)))))

(defn- takes-options?
  "Returns whether the names of the var's arguments say that it takes options."
  [v]
  (some (fn in? [args] (some option-like? (tree-seq vector? seq args))) (:arglists (meta v))))

(defn- public-vars []
  (for [n (project/main-namespaces)
        :when (re-find #"^skein\.(async|virtual|scope|fold|fold\.lines|reducers|trace|sim|test|async\.(?!flow\..).*)$" (str n))
        [_ v] (do (require n) (ns-publics (the-ns n)))
        :when (not (:no-doc (meta v)))]
    v))

(def ^:private in-lanes
  "Functions with options in modules that are not on this class path. Their own tests call them with unknown options."
  '#{skein.spark/connect skein.spark/lines skein.spark/slices skein.spark/range* skein.spark/parallel skein.spark/fold skein.spark/explain skein.spark.parquet/rows})

(defn- arglists
  "Returns the argument vectors of a public `defn` or `defmacro` form, or nil."
  [[kind sym & more]]
  (when (and (#{'defn 'defmacro} kind) (not (:private (meta sym))) (not (:no-doc (meta sym))))
    (let [body (drop-while #(or (string? %) (map? %)) more)]
      (if (vector? (first body)) [(first body)] (map first (filter seq? body))))))

(defn- lane-arglists
  "Returns a map from the name of each public function of the lanes to its argument vectors, read from their sources."
  []
  (into {} (for [file (project/lane-clojure)
                 :let [forms (filter seq? (project/forms file)), [_ ns-sym & more] (first forms)]
                 :when (not-any? :no-doc (filter map? more))
                 form forms
                 :let [found (arglists form)]
                 :when found]
             [(symbol (str ns-sym) (str (second form))) found])))

(deftest every-function-of-the-lanes-with-options-is-listed
  (is (= in-lanes (set (keep (fn [[sym args]] (when (some option-like? (tree-seq sequential? seq args)) sym)) (lane-arglists))))))

(deftest every-function-with-options-is-in-the-table
  (is (= #{} (set/difference (set (filter takes-options? (public-vars))) (set (keys known)) (set (keys without-options)))))
  (is (= #{} (set/difference (set (keys known)) (set (public-vars)))) "and nothing else is"))

(defn- refusal
  "Returns the exception of Skein's that `call` throws, perhaps inside one of the compiler's, or nil."
  [call options]
  (try (call options) nil
       (catch Exception e (first (filter (comp :skein/error ex-data) (take-while some? (iterate ex-cause e)))))))

(deftest unknown-option-is-refused-and-known-ones-listed
  (doseq [[v call] known
          :let [e (refusal call {:no-such-option 1})]]
    (testing (str v)
      (is (= :skein/bad-option (:skein/error (ex-data e))))
      (is (str/includes? (str (ex-message e)) ":no-such-option"))
      (is (re-find #":\w" (str/replace (str (ex-message e)) ":no-such-option" ""))))))

(deftest a-nil-option-counts-as-absent
  (doseq [[v call] known
          :let [option ({#'a/alts! :priority #'a/alts!! :priority #'a/do-alts :priority
                         #'channels/batch :within #'channels/gate :on-drop
                         #'limit/rate-limiter :burst #'limit/concurrency-limiter :name
                         #'flow/map->step :init #'flow/create-flow :io-exec #'flow/process :workload
                         #'flow/ping :timeout-ms #'flow/ping-proc :timeout-ms #'flow/futurize :exec
                         #'reactive/subscriber :window #'v/retry :deadline-ms #'s/scope :deadline-ms
                         #'fold/fold :grain #'fold/explain :grain
                         #'lines/lines :charset #'lines/records :as #'lines/slices :delimiter
                         #'trace/trace-vars :sink #'trace/trace-vars* :sink #'trace/with-traced :sink
                         #'trace/trace-ns :except #'trace/trace-ns* :except #'trace/with-limits :depth #'trace/trace-forms :args?
                         #'t/leak-free :grace-ms} v
                        (if (str/starts-with? (str (symbol ^clojure.lang.Var v)) "skein.sim") :seed :on-error))
                option (if (= #'t/defsim v) :seed option)]]
    (testing (str v " " option)
      (is (not (#{:skein/bad-option :skein/bad-number :skein/not-a-function :skein/bad-workload}
                (:skein/error (ex-data (refusal call {option nil}))))))))
  (trace/untrace-all))

(defn- place
  "Returns where the options stand in the arguments: :first, :last or :alone."
  [args]
  (let [args (vec (remove '#{&} args)), i (first (keep-indexed (fn [i arg] (when (option-like? arg) i)) args))]
    (cond (nil? i) nil
          (= 1 (count args)) :alone
          (zero? (long i)) :first
          (= (inc (long i)) (count args)) :last
          :else :between)))

(deftest options-come-first
  (doseq [v (keys known)
          :let [places (set (keep place (:arglists (meta v))))]]
    (cond
      (options-are-the-argument v) nil
      (last-as-in-core-async v) (is (= #{:last} places) (str v))
      :else (is (= #{} (set/difference places #{:first :alone})) (str v))))
  (doseq [[sym args] (lane-arglists) :when (in-lanes sym)]
    (is (= #{:first} (set (keep place args))) (str sym))))

(deftest a-time-limit-of-0-or-below-ends-at-once
  (doseq [ms [0 -1 -1.5 Long/MIN_VALUE]]
    (testing (str ms)
      (is (nil? (a/<!! (a/timeout ms))))
      (is (= :late (channels/<!!within ms (a/chan) :late)))
      (is (= [1] (a/<!! (channels/batch {:size 9 :within ms} (doto (a/chan 1) (a/put! 1))))))
      (is (nil? (v/sleep ms)))
      (is (= :skein/timeout (:skein/error (ex-data (refusal (fn [ms] (v/with-timeout ms (Thread/sleep 60000))) ms)))))
      (is (= :skein/timeout (:skein/error (ex-data (refusal (fn [ms] (v/retry {:deadline-ms ms} (fn [] (Thread/sleep 60000)))) ms)))))
      (is (= 1 (let [n (atom 0)] (v/retry {:backoff-ms ms :max-backoff-ms ms} (fn [] (if (zero? @n) (throw (ex-info "no" {:n (swap! n inc)})) @n))))))
      (is (= :skein/deadline-passed
             (:skein/error (ex-data (refusal (fn [ms] (s/scope [sc {:deadline-ms ms}] (s/fork sc (Thread/sleep 60000)))) ms)))))
      (is (= :skein/deadline-passed (:skein/error (ex-data (refusal (fn [ms] (s/scope [_ {:deadline-ms ms}] 1)) ms)))))
      (is (= {} (let [g (flow/create-flow {})] (flow/start g) (try (flow/ping g {:timeout-ms ms}) (finally (flow/stop g)))))))))
