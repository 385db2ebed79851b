;; SPDX-License-Identifier: Apache-2.0
(ns skein.errors-test
  "Kinds of errors, and the stack traces and reports of exceptions of blocks."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! <? <?? async go]]
   [skein.async.streams :as st]
   [skein.deadline :refer [within-deadline]]
   [skein.errors :as errors]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.scope :as s]
   [skein.uncaught :refer [await-uncaught]]
   [skein.virtual :as v])
  (:import
   (java.io StringReader StringWriter)
   (skein.rt Channel Uncaught)))

(set! *warn-on-reflection* true)

(defn- with-uncaught
  "[value exception] of `f` and of the uncaught exception that satisfies `expected?`."
  [expected? f]
  (await-uncaught expected? f))

(defn- number-format? [e] (instance? NumberFormatException e))

(deftest an-error-has-a-kind
  (let [own (ex-info "x" {:skein/error :skein/bad-argument})]
    (is (= :skein/bad-argument (errors/kind own) (errors/kind (RuntimeException. (Exception. ^Throwable own)))))
    (is (= [nil nil nil] (map errors/kind [(ex-info "x" {}) (Exception.) nil])))
    (is (= :skein/bad-argument (errors/kind (ex-info "y" {} own))))))

;; A program in a file of its own, so that its lines are known.
(Compiler/load (StringReader. (str/join "\n" ["(ns skein.errors-test.demo (:require [skein.async :refer [<! <!! >!! chan go]]))"
                                              "(defn parse [s] (Long/parseLong s))"
                                              "(defn fetch [in] (go (parse (<! in))))"
                                              "(defn handler [in] (go (inc (<! (fetch in)))))"
                                              "(defn feed [in waits?]"
                                              "  (future (while (not (waits?)) (Thread/onSpinWait)) (>!! in \"x1\")))"
                                              "(defn main [waits?] (let [in (chan)] (feed in waits?) (<!! (handler in))))"]))
               "demo/async.clj" "async.clj")

(defn- blocked?
  "Returns whether `thread` waits, which the main program does once its block is parked."
  [^Thread thread]
  (contains? #{Thread$State/WAITING Thread$State/TIMED_WAITING} (.getState thread)))

(defn- run-demo []
  (let [main (promise)
        caller (Thread. (fn run [] ((resolve 'skein.errors-test.demo/main) (fn waits? [] (blocked? @main)))))]
    (deliver main caller)
    (.start caller)
    (.join caller)))

(defn- demo-error [] (second (with-uncaught number-format? run-demo)))

(defn- lines-of [trace]
  (dedupe (keep (fn [{:keys [file line]}] (when (= "async.clj" file) line)) trace)))

(deftest the-trace-names-the-waiters
  (let [^Throwable e (demo-error)
        trace (errors/async-trace e)]
    (is (= [2 3 4 7] (lines-of trace)))
    (is (= "(<! (fetch in))" (:op (first (filter (comp #{:awaited-by} :via) trace)))))
    (is (every? #{'skein.errors-test.demo 'skein.errors-test} (keep :ns trace)) "no machinery")
    (testing "in the exception itself, which is otherwise as it was"
      (is (= NumberFormatException (class e)))
      (is (= "For input string: \"x1\"" (ex-message e)))
      (is (nil? (ex-cause e)))
      (is (some (fn [^StackTraceElement el] (= "awaited-by" (.getMethodName el))) (.getStackTrace e))))))

(defn- waiting-forms
  "Returns the waiting forms in the stack trace of the exception that ends a block. `start`, a
  function of its port, waits for the block."
  [start]
  (let [in (a/chan)
        ^Channel port (start (async (<! in) (throw (ex-info "x" {}))))]
    (within-deadline
      (a/put! in 1)
      (keep :op (errors/async-trace (try (<?? port) (catch Exception e e)))))))

(defmacro ^:private taken-from [port] `(let [port# ~port] [(<? port#)]))

(deftest a-wait-is-shown-as-the-user-wrote-it
  (is (= ["(<? inner)"] (waiting-forms (fn [inner] (async (<? inner))))))
  (is (= ["(-> inner <?)"] (waiting-forms (fn [inner] (async (-> inner <?))))))
  (is (= ["(a/<!within inner 60000 :late)"]
         (waiting-forms (fn [inner] (async (a/<!within inner 60000 :late) (<? inner))))))
  (is (= ["(a/alt! inner ([v] v))"] (waiting-forms (fn [inner] (async (a/alt! inner ([v] v)) (<? inner))))))
  (is (= ["(taken-from inner)"] (waiting-forms (fn [inner] (async (taken-from inner))))) "a macro of one's own")
  (is (= ["(<! inner)"] (waiting-forms (fn [inner] (async (when inner (<! inner)) (<? inner))))) "inside a macro"))

(defn- failing [x] (throw (ex-info "x" {:x x})))
(defn- read-window [] (doall (v/pmap 2 failing [1])))
(defn- transduce-window [] (into [] (v/pmap 2 failing) [1]))
(defn- run-window [] (v/prun! 2 failing [1]))
(defn- race-one [] (v/race (fn [] (failing 1))))
(defn- all-of-one [] (v/all (fn [] (failing 1))))
(defn- map-in-parallel [] (<?? (st/pmap 2 failing (a/to-chan! [1]))))
(defn- map-as-completed [] (<?? (st/pmap {:n 2 :ordered? false} failing (a/to-chan! [1]))))

(deftest exceptions-of-many-calls-show-who-called
  (doseq [[f caller] {read-window 'read-window, transduce-window 'transduce-window, run-window 'run-window
                      race-one 'race-one, all-of-one 'all-of-one
                      map-in-parallel 'map-in-parallel, map-as-completed 'map-as-completed}
          :let [frames (errors/async-trace (try (within-deadline (f)) (catch Exception e e)))]]
    (testing (str caller)
      (is (= 'failing (:fn (first frames))))
      (is (some (fn [{:keys [via fn]}] (and (= caller fn) (#{:awaited-by :spawned-by} via))) frames))
      (is (every? #{'skein.errors-test} (keep :ns frames)) "no machinery"))))

(defn- pst-lines [& args]
  (let [out (StringWriter.)]
    (binding [*err* out, *e nil] (apply errors/pst args))
    (str/split-lines (str out))))

;; Editors leave out frames without them.
(deftest every-frame-has-a-file-and-a-line
  (doseq [^StackTraceElement el (.getStackTrace ^Throwable (demo-error))
          :when (not (str/starts-with? (.getClassName el) "java."))]
    (is (.getFileName el) (str el))
    (is (pos? (.getLineNumber el)) (str el)))
  (is (some (fn [^StackTraceElement el] (= "skein.ASYNC.awaited-by(async.clj:4)" (str el)))
            (.getStackTrace ^Throwable (demo-error)))))

(deftest pst-needs-no-repl
  (pst-lines) ; so that the newest of a block has been shown
  (let [printed (promise)]
    (.start (Thread. (fn run []
                       (deliver printed (try (let [out (StringWriter.)]
                                               (binding [*err* out] (errors/pst))
                                               (str out))
                                             (catch Throwable e e))))))
    (is (string? (within-deadline @printed)) "a new thread has no *e")))

(deftest pst-shows-user-frames-and-who-awaited
  (let [lines (pst-lines (demo-error))]
    (is (= "NumberFormatException For input string: \"x1\"" (first lines)))
    (is (some #(str/includes? % "demo/parse (async.clj:2)") (take 12 lines)))
    (is (some #(str/includes? % "awaited by skein.errors-test.demo/handler (async.clj:4)  (<! (fetch in))") lines))))

(defn- divide [x] (/ 1 x))
(defn- fork-and-wait [] (s/scope [sc] (inc @(s/fork sc (divide 0)))))
(defn- run-in-scope [] (s/scope [sc] (s/go sc (<! (a/timeout 1)) (divide 0)) nil))
(defn- fail-in-body [] (s/scope [_] (divide 0)))

(deftest exceptions-of-scopes-name-the-waiters
  (let [fns (fn fns [f]
              (let [e (try (f) (catch ArithmeticException e e))]
                (dedupe (keep (fn [{:keys [via ns fn]}] (when (and ns (#{"divide" "fork-and-wait" "run-in-scope" "fail-in-body"} (str fn)))
                                                          [via fn]))
                              (errors/async-trace e)))))]
    (is (= '[[:frame divide] [:frame fork-and-wait] [:awaited-by fork-and-wait]] (fns fork-and-wait)))
    (is (= '[[:frame divide] [:frame run-in-scope] [:awaited-by run-in-scope]] (fns run-in-scope)))
    (is (= '[[:frame divide] [:frame fail-in-body]] (fns fail-in-body)) "thrown where it is caught, it is left alone"))
  (testing "no internal frames, in any exception"
    (let [{:keys [ns fn]} (nth (errors/async-trace (try (divide 0) (catch Exception e e))) 2)]
      (is (= '[skein.errors-test divide] [ns fn])))))

;; Each waits for a block in its own way, and returns the exception that ended it, if it gets one.
(defn- wait-rethrowing [port] (try (<?? port) (catch Exception e e)))
(defn- wait-for-value [port] (<!! port) (.thrown ^Channel port))
(defn- wait-for-one-of [port] (a/alts!! [port (a/chan)]) (.thrown ^Channel port))

(defn- error-while-waiting
  "The exception of a block that fails as soon as `ready?` finds that a thread, which may be a virtual one, waits for it
  by `wait`."
  [wait ready? virtual?]
  (let [in (a/chan)
        ^Channel port (async (<! in) (divide 0))
        thrown (promise)
        run (fn run [] (deliver thrown (wait port)))
        ^Thread thread (if virtual? (Thread/startVirtualThread run) (doto (Thread. ^Runnable run) .start))]
    (within-deadline
      (while (not (and (pos? (.takerCount port)) (ready? thread))) (Thread/onSpinWait))
      (a/>!! in 1)
      @thrown)))

(deftest a-waiting-thread-adds-its-stack
  (doseq [[wait name] [[wait-rethrowing 'wait-rethrowing] [wait-for-value 'wait-for-value] [wait-for-one-of 'wait-for-one-of]]
          [how ready? virtual?] [["asleep" blocked? false] ["barely waiting" any? false] ["asleep" blocked? true] ["barely waiting" any? true]]
          _ (range 50)
          :let [frames (errors/async-trace (error-while-waiting wait ready? virtual?))]]
    (is (= ['divide :awaited-by name] [(:fn (first (filter :ns frames))) ; Numbers/divide is above it
                                       (:via (peek frames))
                                       (some (comp #{name} :fn) frames)])
        (str how (when virtual? ", a virtual thread")))))

(deftest waiters-can-be-left-out-of-stack-traces
  (let [form '(do
                (require '[skein.async :as a] '[skein.errors :as errors])
                (defn wait-for [port] (try (a/<?? port) (catch Exception e e)))
                (let [in (a/chan)
                      inner (a/async (a/<! in) (throw (ex-info "x" {})))
                      outer (a/async (a/<? inner))
                      _ (a/put! in 1)
                      e (wait-for outer)]
                  (prn (dedupe (map :via (errors/async-trace e))) (count (.getSuppressed e))))
                (shutdown-agents))]
    (is (= "(:frame) 0" (str/trim (fresh-jvm/output ["-Dskein.async-trace=off"] ["-e" (pr-str form)]))))))

(deftest pst-accepts-exceptions-and-depths
  (is (= ["ExceptionInfo given"] (pst-lines (ex-info "given" {}) 0)))
  (is (= 4 (count (pst-lines (ex-info "given" {}) 3))))
  (testing "causes that go round in a circle"
    (let [a (Exception. "a"), b (Exception. "b" a)]
      (.initCause a b)
      (is (= ["Exception a" "Caused by: Exception b" "Caused by: Exception a"] (take 3 (pst-lines a 0))))))
  (testing "bad arguments are refused"
    (is (= :skein/bad-argument (try (errors/async-trace 5) (catch clojure.lang.ExceptionInfo e (errors/kind e)))))
    (is (= [:skein/bad-argument :skein/bad-argument]
           (map (fn error-of [args] (try (apply errors/pst args) (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e)))))
                [["x"] [(Exception.) -1]])))))

(deftest pst-shows-the-newest-exception-of-a-block
  (with-uncaught (fn mine? [e] (= "newest" (ex-message e)))
    (fn [] (go (throw (ex-info "newest" {} (Exception. "its cause"))))))
  (let [lines (pst-lines)]
    (is (= "ExceptionInfo newest" (first lines)))
    (is (some #{"Caused by: Exception its cause"} lines))
    (is (some #{"ExceptionInfo newest"} (pst-lines :all)))))

(deftest the-reason-for-nil-is-available-at-once
  (let [quiet (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ _]))
        before (Thread/getDefaultUncaughtExceptionHandler)]
    (Thread/setDefaultUncaughtExceptionHandler quiet)
    (try
      (is (= [] (remove (fn told? [i]
                          (<!! (if (odd? i)
                                 (go (throw (ex-info (str "why " i) {})))
                                 (a/io-thread (throw (ex-info (str "why " i) {})))))
                          (= (str "why " i) (ex-message (:error (last (errors/exceptions))))))
                        (range 2000))))
      (finally (Thread/setDefaultUncaughtExceptionHandler before)))))

(deftest a-second-failure-names-the-first
  (let [[_ second-error] (with-uncaught (fn null? [e] (instance? NullPointerException e)) run-demo)
        {:keys [because]} (first (filter (comp #{second-error} :error) (errors/exceptions)))]
    (is (= "NumberFormatException For input string: \"x1\" (async.clj:2)" because))
    (is (str/includes? (with-out-str (binding [*err* *out*] (errors/pst second-error)))
                       "after nil from a block that failed: NumberFormatException")))
  (testing "also when the first had failed before"
    (let [port (promise)
          _ (with-uncaught (fn mine? [e] (= "early" (ex-message e)))
              (fn [] (deliver port (go (throw (ex-info "early" {}))))))
          [_ late] (with-uncaught (fn mine? [e] (= "late" (ex-message e)))
                     (fn [] (go (when (nil? (<! @port)) (throw (ex-info "late" {}))))))]
      (is (some (fn [^StackTraceElement el] (str/includes? (.getMethodName el) "ExceptionInfo early"))
                (.getStackTrace ^Throwable late))))))

(defn- hops [n e]
  (if (zero? (long n))
    (async (<! (a/timeout 1)) (throw e))
    (let [inner (hops (dec (long n)) e)] (async (<? inner)))))

(deftest many-hops-stay-bounded-and-identical
  (let [e (ex-info "far" {:a 1})
        thrown (try (<?? (hops 100 e)) (catch Throwable t t))
        trace (errors/async-trace e)]
    (is (identical? e thrown))
    (is (= {:a 1} (ex-data e)))
    (let [logical (remove (comp #{:frame} :via) trace)]
      (is (<= 1 (count logical) 64))
      (is (apply distinct? logical)))))

(defn- fail-at [depth in caught]
  (async (if (zero? (long depth))
           (try (<? (async (<! in) (throw (ex-info "bottom" {})))) (catch Exception e (deliver caught e) (throw e)))
           (<? (fail-at (dec (long depth)) in caught)))))

(defn- start-at [depth in caught] (async (<? (fail-at depth in caught))))

(defn- waiting-fns [e] (dedupe (map :fn (filter :op (errors/async-trace e)))))

(deftest a-recursion-shows-who-called-it
  (let [in (a/chan)
        caught (promise)
        port (start-at 30 in caught)]
    (a/put! in 1)
    (is (thrown-with-msg? Exception #"bottom" (within-deadline (<?? port))))
    (is (= '[fail-at start-at] (waiting-fns @caught)) "also where it is caught at the bottom")))

(deftest a-deep-recursion-fails-in-linear-time
  (let [in (a/chan)
        caught (promise)
        port (start-at 20000 in caught)]
    (a/put! in 1)
    (is (thrown-with-msg? Exception #"bottom" (within-deadline (<?? port))))
    (is (= '[fail-at start-at] (waiting-fns @caught)) "the walk from the last of them gets to the start")))

;; A script may have any name.
(Compiler/load (StringReader. "(ns skein.errors-test.script (:require [skein.async :refer [async]]))
(defn fails [] (async (/ 1 0)))")
               "script" "script")

(deftest functions-are-named-whatever-their-file-is-called
  (let [fails (resolve 'skein.errors-test.script/fails)
        e (try (within-deadline (<?? (fails))) (catch ArithmeticException e e))
        frames (errors/async-trace e)]
    (is (some #{{:file "script", :line 2, :ns 'skein.errors-test.script, :fn 'fails}}
              (map #(select-keys % [:file :line :ns :fn]) frames)))
    (is (= {:class 'clojure.lang.Numbers, :method 'divide} (select-keys (first frames) [:class :method :ns :fn])))))

(deftest an-exception-without-a-stack-is-left-alone
  (let [e (proxy [RuntimeException] ["none" nil false false])]
    (is (identical? e (try (<?? (async (<! (a/timeout 1)) (throw e))) (catch Throwable t t))))
    (is (= [] (errors/async-trace e)))))

(deftest an-exception-without-a-stack-names-what-failed-before
  (let [e (proxy [RuntimeException] ["bare" nil false false])
        fails (fn fails [] (let [first-one (go (throw (ex-info "first" {})))]
                             (go (when (nil? (<! first-one)) (throw e)))))]
    (dotimes [_ 2] (with-uncaught #{e} fails))
    (is (str/includes? (:because (last (errors/exceptions))) "ExceptionInfo first"))
    (is (= 1 (count (filter (comp #{e} :error) (errors/exceptions)))))
    (is (str/includes? (second (pst-lines e)) "after nil from a block that failed: ExceptionInfo first"))))

(deftest an-async-block-names-its-spawner
  (let [e (try (<?? (async (throw (ex-info "at once" {})))) (catch Throwable t t))]
    (is (= [:frame :spawned-by] (dedupe (map :via (errors/async-trace e)))))))

(defn- spawn-orphan []
  (go (<! (a/timeout 1)) (throw (ex-info "orphan" {})))
  nil)

(deftest spawners-are-named-on-request
  (errors/set-spawn-traces! true)
  (try
    (let [[_ e] (with-uncaught (fn mine? [e] (= "orphan" (ex-message e)))
                  spawn-orphan)]
      (is (some #{[:spawned-by 'spawn-orphan]} (map (juxt :via :fn) (errors/async-trace e)))))
    (finally (errors/set-spawn-traces! false))))

(defn- kept [message]
  (count (filter (fn mine? [{:keys [error]}] (= message (ex-message error))) (errors/exceptions))))

(defn- collect-until [done?]
  (within-deadline (while (not (done?)) (System/gc) (Thread/yield))))

(deftest an-unobserved-failure-is-kept-once
  (testing "of an async block, when its port is garbage"
    (a/async (throw (ex-info "dropped" {})))
    (collect-until (fn [] (= 1 (kept "dropped"))))
    (is (= 1 (kept "dropped"))))
  (testing "not one that was taken"
    (is (thrown? clojure.lang.ExceptionInfo (<?? (async (throw (ex-info "taken" {}))))))
    (a/async (throw (ex-info "dropped later" {})))
    (collect-until (fn [] (= 1 (kept "dropped later"))))
    (is (= 0 (kept "taken"))))
  (testing "of a go block, at once"
    (with-uncaught (fn mine? [e] (= "gone" (ex-message e))) (fn [] (go (throw (ex-info "gone" {})))))
    (is (= 1 (kept "gone")))))

(deftest a-limited-number-of-failures-is-kept
  (dotimes [i 20]
    (with-uncaught (fn mine? [e] (= (str "n" i) (ex-message e))) (fn [] (go (throw (ex-info (str "n" i) {}))))))
  (is (= Uncaught/KEPT (count (errors/exceptions))))
  (is (= "n19" (ex-message (:error (last (errors/exceptions)))))))
