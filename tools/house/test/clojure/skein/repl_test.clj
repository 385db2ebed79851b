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
(def ^:private ^CountDownLatch half-typed (CountDownLatch. 1))
(defn read-half "The reader calls it: by then it has read what precedes the call." [] (.countDown half-typed))

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

(deftest ctrl-c-drops-a-form-that-is-half-typed
  (within-deadline
    (let [{:keys [out ^Thread thread ^PipedWriter typed type! ctrl-c]} (start-repl)]
      (type! "(defn f [x #=(skein.repl-test/read-half)")
      (.await half-typed)
      (ctrl-c)
      (while (> 2 (count (re-seq #"=> " (str out)))) (Thread/yield)) ; what is typed before the prompt may belong to the dropped form
      (type! "[:fresh (inc 1)]")
      (.close typed)
      (.join thread)
      (is (str/includes? (str out) "=> [:fresh 2]")))))

(deftest an-interrupt-that-is-lost-is-repeated
  (let [state (atom :runs), begun (CountDownLatch. 1), lost (CountDownLatch. 1), ended (promise)
        thread (Thread. ^Runnable (fn []
                                    (.countDown begun)
                                    (while (not (Thread/interrupted)) (Thread/onSpinWait)) ; as `require` does
                                    (.countDown lost)
                                    (deliver ended (try (Thread/sleep 60000) :slept (catch InterruptedException _ :interrupted)))))
        ctrl-c (on-ctrl-c thread state (fn [_]) (fn pause [] (.await lost)))]
    (within-deadline
      (.start thread)
      (.await begun)
      (binding [*err* (StringWriter.)] (ctrl-c nil))
      (is (= :interrupted @ended)))))

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
