;; SPDX-License-Identifier: Apache-2.0
(ns skein.repl-test
  "What Ctrl-C does in `./skein repl`. The tests call its handler directly, because a process may be started with Ctrl-C ignored."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]])
  (:import
   (clojure.lang LineNumberingPushbackReader)
   (java.io PipedReader PipedWriter StringWriter)
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(load-file "tools/repl/run.clj")

(def ^:private run @(resolve 'repl.run/run))
(def ^:private on-ctrl-c @(resolve 'repl.run/on-ctrl-c))

(def ^CountDownLatch begun (CountDownLatch. 1))

(defn- start-repl
  "Returns a running REPL: :out, :thread, :type! that types a line, and :ctrl-c."
  []
  (let [typed (PipedWriter.), in (LineNumberingPushbackReader. (PipedReader. typed))
        out (StringWriter.), state (atom :reads)
        ^Runnable reads (bound-fn [] (binding [*in* in, *out* out, *err* out] (run state)))
        thread (doto (Thread. reads) .start)]
    {:out out, :thread thread, :typed typed
     :type! (fn [text] (.write typed (str text "\n")) (.flush typed))
     :ctrl-c (fn [] (binding [*err* out] ((on-ctrl-c thread state (fn [_]) (fn [])) nil)))}))

(deftest ctrl-c-ends-the-call-that-waits
  (within-deadline
    (let [{:keys [out ^Thread thread ^PipedWriter typed type! ctrl-c]} (start-repl)]
      (type! "(do (.countDown skein.repl-test/begun) (skein.async/<!! (skein.async/chan)))")
      (.await begun)
      (ctrl-c)
      (type! "[:still (inc 1)]")
      (.close typed)
      (.join thread)
      (is (re-find #"InterruptedException" (str out)))
      (is (str/includes? (str out) "[:still 2]")))))

(deftest a-second-ctrl-c-ends-the-process-and-none-does-at-the-prompt
  (let [state (atom :runs), exits (atom []), thread (Thread. ^Runnable (fn []))
        ctrl-c (on-ctrl-c thread state (fn [code] (swap! exits conj code)) (fn []))
        said (fn [] (let [said (StringWriter.)] (binding [*err* said] (ctrl-c nil)) (str said)))]
    (is (str/includes? (said) "Ctrl-C again ends the process"))
    (is (= [] @exits))
    (said)
    (is (= [130] @exits))
    (reset! state :reads)
    (is (str/includes? (said) "Ctrl-D"))
    (is (= [130] @exits))))
