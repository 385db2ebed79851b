;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.api-test
  "What skein.async exports, against core.async's jar and against what must not clash."
  (:require
   [clojure.core.async]
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.async]
   [skein.fresh-jvm :as fresh-jvm]))

(set! *warn-on-reflection* true)

(defn- contract
  "What a caller relies on in the public vars of the namespace `n`."
  [n]
  (update-vals (ns-publics n)
               (fn [v]
                 (let [m (meta v)]
                   {:arglists (:arglists m) :macro (boolean (:macro m)) :deprecated (:deprecated m)
                    :method? (some? (:protocol m))
                    :protocol? (and (map? @v) (contains? @v :on-interface))
                    :function? (fn? @v)}))))

(def ^:private own
  "What core.async does not have."
  '#{<!!within <!within <? <?? async cause close-with! closed? label! rethrow})

(def ^:private bridge-only
  "What only the bridge has, or skein.async.spi: what is deprecated, the protocols of hubs, and what macros and state machines call."
  '#{onto-chan to-chan map< map> filter< filter> remove< remove> mapcat< mapcat> unique partition partition-by
     Mux muxch* Mult tap* untap* untap-all* Mix admix* unmix* unmix-all* toggle* solo-mode* Pub sub* unsub* unsub-all*
     do-alt defblockingop ioc-alts! do-alts fn-handler unblocking-buffer?})

(deftest names-that-core-async-has-too-have-its-arguments
  (let [theirs (contract 'clojure.core.async)]
    (is (= 88 (count theirs)))
    (is (= (apply dissoc theirs bridge-only) (apply dissoc (contract 'skein.async) own)))))

(deftest clojures-names-are-hidden-only-where-core-async-hides-them
  (is (= '#{into map merge reduce take transduce}
         (set/intersection (set (keys (ns-publics 'skein.async))) (set (keys (ns-publics 'clojure.core)))))))

(deftest names-that-test-suites-define-are-free
  (let [reserved '#{park park-run park-runner pause pause-run runner locals-test identity-chan rand-timeout
                    mapping pipeline-tester identity-mapping identity-async multiplier-async sleep-mapping
                    slow-fib default-chan DEREF_WAIT test-dyn xerox check-expanding-transducer P x R}
        exported (set (keys (ns-publics 'skein.async)))]
    (is (= #{} (set/intersection reserved exported)))
    (is (= #{} (set/intersection (set (keys (ns-publics 'clojure.test))) exported)))))

(deftest every-var-knows-where-it-is-defined
  (doseq [[sym v] (ns-publics 'skein.async)
          :let [{:keys [file line protocol]} (meta v)]
          :when (not protocol)] ; Clojure does not tell where a protocol's methods are
    (is (re-matches #"skein/async\.clj" (str file)) (str sym))
    (is (pos-int? line) (str sym))))

(defn- fresh-jvm
  "What a new JVM, with these options, prints for the form."
  [form & options]
  (fresh-jvm/output options ["-e" (pr-str form)]))

(deftest loading-it-starts-no-thread
  (is (= "[false true]"
         (fresh-jvm
           '(let [threads (fn [] (set (map (fn [^Thread t] (.getName t)) (keys (Thread/getAllStackTraces)))))
                  before (threads)]
              (require 'skein.async)
              (prn [(contains? (loaded-libs) 'clojure.core.async) (= before (threads))]))))))

(deftest go-checking-refuses-to-block-in-a-block
  (is (= "[java.lang.IllegalStateException java.lang.IllegalStateException [2 3] [1] nil]"
         (fresh-jvm
           '(do
              (require '[skein.async :as a])
              (let [refusal (fn [f] (try (f) (catch Throwable t (class t))))]
                (prn [(a/<!! (a/go (refusal (fn [] (a/<!! (a/chan))))))
                      (a/<!! (a/go (a/<! (a/timeout 1)) (refusal (fn [] (a/alts!! [(a/chan)])))))
                      (a/<!! (a/go (mapv (fn [c] (inc (a/<! c))) [(a/go 1) (a/go 2)])))
                      (a/<!! (a/into [] (let [out (a/chan)]
                                          (a/pipeline 1 out (map (fn [c] (a/<!! c))) (a/to-chan! [(a/go 1)]))
                                          out)))
                      (a/<!! (a/thread (a/<!! (a/thread nil))))])))
           "-Dclojure.core.async.go-checking=true"))))

(deftest every-thread-finds-the-compiler-that-is-being-loaded
  (is (= "{1 300}"
         (fresh-jvm
           '(do
              (require '[skein.async :as a])
              ;; As in a jar with compiled classes, where skein.async does not load it.
              (dosync (alter @#'clojure.core/*loaded-libs* disj 'skein.impl.go))
              (remove-ns 'skein.impl.go)
              (let [work (fn [i]
                           (Thread/sleep (long i)) ; loading takes a fraction of a second
                           (try
                             (a/<!! (binding [*ns* (the-ns 'skein.async)] (eval '(go 1))))
                             (catch Throwable t (ex-message t))))]
                (prn (frequencies (mapv deref (mapv (fn [i] (future (work i))) (range 300)))))
                (shutdown-agents)))))))

(deftest the-compiler-loads-while-a-thread-loads-a-program
  (is (= "[1 2]"
         (fresh-jvm
           '(do
              (require '[skein.async :as a])
              (dosync (alter @#'clojure.core/*loaded-libs* disj 'skein.impl.go))
              (remove-ns 'skein.impl.go)
              ;; Like a program that is started by requiring-resolve, and waits at its top level for a thread that
              ;; compiles a block.
              (locking clojure.lang.RT/REQUIRE_LOCK
                (prn (deref (future (a/<!! (binding [*ns* (the-ns 'skein.async)] (eval '(go [1 2]))))) 20000 nil)))
              (shutdown-agents))))))
