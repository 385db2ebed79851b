;; SPDX-License-Identifier: Apache-2.0
(ns skein.test-test
  (:require
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]
   [skein.async :as a :refer [<! <!! chan go]]
   [skein.deadline :refer [within-deadline]]
   [skein.inspect.survivors :as survivors]
   [skein.test :as t]
   [skein.virtual :as v])
  (:import
   (skein.rt Failure Uncaught Uncaught$Report)))

(set! *warn-on-reflection* true)

(defn- reports
  "Returns the reports while `fixture` runs `f`."
  [fixture f]
  (let [reported (atom [])]
    (binding [test/report #(swap! reported conj %)]
      (fixture f))
    @reported))

(deftest a-block-that-waits-is-a-leak
  (let [c (chan)
        ;; It parks on this thread, and so has parked when the fixture looks.
        [report :as all] (reports (t/leak-free {:grace-ms 20}) #(a/async (<! c)))]
    (is (= 1 (count all)))
    (is (str/includes? (:message report) "1 block has not ended:\n"))
    (is (str/includes? (:message report) "(<! c) at"))
    (a/close! c)))

(deftest a-block-that-blocks-is-a-leak-at-the-place-of-its-thread
  (let [p (promise)
        [report] (reports (t/leak-free {:grace-ms 1000}) #(go @p))]
    (is (re-find #"1 x \S+ at test_test.clj:\d+$" (:message report)))
    (deliver p nil)))

(deftest blocks-that-end-or-are-garbage-are-no-leaks
  (is (= [] (reports (t/leak-free) #(<!! (go (<! (go 1)))))))
  (is (= [] (reports (t/leak-free {:grace-ms 5000}) #(do (go (<! (chan))) nil))))
  (is (= [] (reports (t/leak-free {:grace-ms 1 :ignore (constantly true)}) #(go (<! (a/timeout 100)))))))

(defmacro ^:private silently
  "Evaluates the body while the default uncaught-exception handler prints nothing."
  [& body]
  `(let [before# (Thread/getDefaultUncaughtExceptionHandler)]
     (Thread/setDefaultUncaughtExceptionHandler
       (reify Thread$UncaughtExceptionHandler (~'uncaughtException [~'_ ~'_ ~'_])))
     (try ~@body (finally (Thread/setDefaultUncaughtExceptionHandler before#)))))

(deftest a-dropped-error-is-reported
  (let [thrown (ex-info "dropped" {})]
    (silently
      (is (some #(and (identical? thrown (:actual %)) (str/includes? (:message %) "perhaps work that an earlier test has started"))
                (reports (t/no-dropped-errors) #(<!! (go (throw thrown))))))
      (is (= [] (reports (t/no-dropped-errors) #(<!! (go 1)))))
      (is (= [] (reports (t/no-dropped-errors) #(try (a/<?? (go (throw (ex-info "taken" {})))) (catch Exception _)))))
      (is (= [] (reports (t/no-dropped-errors) #(try (a/<?? (a/thread (throw (ex-info "taken" {})))) (catch Exception _))))))))

(deftest an-error-after-the-end-of-the-test-is-reported
  (let [thrown (ex-info "dropped later" {}), gate (chan), port (promise), survivors survivors/survivors]
    (silently
      (with-redefs [survivors/survivors (fn [mark] ; the block continues when the fixture looks for blocks
                                          (a/close! gate)
                                          (<!! @port)
                                          (survivors mark))]
        (is (= [thrown] (map :actual (reports (t/no-dropped-errors) #(deliver port (go (<! gate) (throw thrown))))))))
      (a/close! gate))))

(deftest an-error-that-only-a-garbage-port-holds-is-reported
  (let [thrown (ex-info "dropped with its port" {})]
    (silently
      (is (= [thrown] (map :actual (reports (t/no-dropped-errors) #(a/async (throw thrown)))))))))

(deftest an-error-that-comes-when-the-fixture-looks-is-reported
  (let [thrown (ex-info "dropped with its future" {}), ended? (atom false), uncaught @#'t/uncaught]
    (silently
      (with-redefs-fn {#'t/uncaught (fn [] ; the future fails after the fixture has looked for blocks
                                      (when (compare-and-set! ended? true false) (Failure/of thrown))
                                      (uncaught))}
        #(is (= [thrown] (map :actual (reports (t/no-dropped-errors) (fn [] (reset! ended? true))))))))))

(deftest an-error-that-ends-a-thread-is-reported
  (doseq [run [#(.join (Thread/startVirtualThread %)) #(.join (doto (Thread. ^Runnable %) .start))]]
    (let [thrown (ex-info "dropped by a thread" {}), told (atom [])
          outer (Thread/getDefaultUncaughtExceptionHandler)
          handler (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ e] (swap! told conj e)))]
      (try
        (Thread/setDefaultUncaughtExceptionHandler handler)
        (is (= [thrown] (map :actual (reports (t/no-dropped-errors) (fn [] (run #(throw thrown)))))))
        (is (identical? handler (Thread/getDefaultUncaughtExceptionHandler)))
        (is (= [thrown] @told) "the handler of the program is still told")
        (finally (Thread/setDefaultUncaughtExceptionHandler outer))))))

(deftest an-error-that-is-taken-is-not-reported
  (doseq [start [#(go (throw %)) #(a/thread (throw %)) #(a/io-thread (throw %))]]
    (is (= [] (reports (t/no-dropped-errors) #(try (a/<?? (start (ex-info "taken" {}))) (catch Exception _)))))))

(deftest an-error-of-an-earlier-test-is-not-reported
  (let [thrown (ex-info "dropped earlier" {}), held (atom (a/async (throw thrown)))
        reported? (fn [] (some #(identical? thrown (.thrown ^Uncaught$Report %)) (Uncaught/last)))]
    (silently
      (is (= [] (reports (t/no-dropped-errors)
                         #(do (reset! held nil)
                              (within-deadline (while (not (reported?)) (System/gc))))))))))

(deftest a-test-that-hangs-is-reported
  (let [[report] (reports (t/deadline 50) #(try (<!! (chan)) (catch InterruptedException _)))]
    (is (str/includes? (:message report) "has not ended after 50 ms"))
    (is (str/includes? (:message report) "test_test.clj"))
    (is (re-find #"ms\. It is in skein.async/<!! at test_test.clj:\d+\.\n" (:message report)) "what the test waits for comes first")
    (is (re-find #"^[^\n]+\n[^\n]+\n1 x \"test-with-deadline\"" (:message report)) "the test's thread comes first")
    (is (not (re-find #"Finalizer|Reference Handler|skein-inspect|inbox|clojure.test\$" (:message report))) "threads and frames of others are left out"))
  (is (= [] (reports (t/deadline 30000) (fn [])))))

(deftest a-fixture-that-was-not-called-says-so
  (doseq [[made fixture] {"(leak-free)" t/leak-free, "(no-dropped-errors)" t/no-dropped-errors, "(deadline 5000)" t/deadline}]
    (is (thrown-with-msg? clojure.lang.ExceptionInfo
                          (re-pattern (java.util.regex.Pattern/quote (str "Call it, as in (use-fixtures :each " made ").")))
                          (fixture (fn []))))))

(deftest arguments-are-checked
  (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument]
         (for [f [#(t/leak-free {:other 1}) #(t/leak-free 5) #(t/deadline "1")]]
           (try (f) nil (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e))))))))

(deftest a-failure-has-the-name-of-its-test
  (let [names (atom []), ended (promise)
        hanging (intern *ns* (with-meta 'hanging {:test (fn [] (<!! (chan))) :file "a/hanging.clj" :line 7}))]
    (try
      (binding [test/report (fn [m]
                              (when (#{:fail :error} (:type m))
                                (swap! names conj [(:type m) (test/testing-vars-str m)])))]
        ((t/deadline 3000) #(do (test/test-var hanging) (deliver ended true))))
      (is (deref ended 20000 false))
      (is (= [[:fail "(hanging) (hanging.clj:7)"]] @names))
      (finally (ns-unmap (.ns ^clojure.lang.Var hanging) 'hanging)))))

(t/defsim a-simulated-test
  {:schedules 50}
  (let [c (chan)]
    (go (a/>! c 1))
    (is (= 1 (<!! c)))))

(deftest a-simulated-test-that-fails-has-its-line
  (let [line (inc (:line (meta #'a-simulated-test)))
        reported (atom [])]
    (binding [*file* "a/test.clj", test/report #(swap! reported conj %)]
      (eval (with-meta (list `t/defsim 'hangs-simulated {:schedules 1} `(<!! (chan))) {:line line}))
      (let [hangs (ns-resolve *ns* 'hangs-simulated)]
        (try (test/test-vars [hangs]) (finally (ns-unmap *ns* 'hangs-simulated)))))
    (is (= [["test.clj" line]] (map (juxt :file :line) (filter (comp #{:fail} :type) @reported)))
        "clojure.test prints the file without its folder too")))
