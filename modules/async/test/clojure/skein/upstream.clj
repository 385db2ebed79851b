;; SPDX-License-Identifier: Apache-2.0
(ns skein.upstream
  "Runs the same expression on Skein and on core.async, so that a test pins the behaviour of both."
  (:require
   [clojure.core.async]
   [clojure.core.async.impl.protocols]
   [clojure.string :as str]
   [clojure.test :as test]
   [clojure.walk :as walk]
   [skein.deadline :refer [within-deadline]]))

(set! *warn-on-reflection* true)

(def ^:private twins
  {"a" "clojure.core.async"
   "hubs" "clojure.core.async"
   "spi" "clojure.core.async"
   "impl" "clojure.core.async.impl.protocols"})

(defn- twin
  "The symbol that names in core.async what `sym` names here."
  [sym]
  (let [theirs (if-some [n (twins (namespace sym))]
                 (symbol n (name sym))
                 (::twin (meta (resolve sym)) sym))]
    (if (identical? sym theirs) sym (with-meta theirs (meta sym)))))

(defn- translate [form]
  (walk/postwalk (fn each [x] (if (symbol? x) (twin x) x)) form))

(defmacro deftwin
  "Defines a function twice, for Skein and for core.async: `both=` calls the right one. In
  the body a/ and impl/ name the library."
  [fn-name doc args & body]
  (let [theirs (symbol (str fn-name "-of-core-async"))]
    `(do
       (defn- ~theirs ~doc ~args ~@(translate body))
       (defn- ~(vary-meta fn-name assoc ::twin `'~theirs) ~doc ~args ~@body))))

(defn class-name
  "Returns the name of the class of `t`. Skein's own classes, which extend core.async's, count as those."
  [t]
  (let [c (class t)]
    (.getName (if (= "skein.base" (.getPackageName c)) (.getSuperclass c) c))))

(defn outcome
  "Returns the outcome of calling `f`: its value, or [:thrown class-name message], without Skein's keyword in the message."
  [f]
  (try (f) (catch Throwable t [:thrown (class-name t) (some-> (ex-message t) (str/replace #"\s\[:skein/[^]]*\]$" ""))])))

(defmacro both=
  "Asserts that the body evaluates to `expected` on Skein, and on core.async too. In the body
  a/ and impl/ name the library; each run has a thread and a deadline of its own."
  [expected & body]
  (let [theirs (translate body)]
    `(let [expected# ~expected
           ours# (within-deadline (outcome (fn [] ~@body)))
           theirs# (within-deadline (outcome (fn [] ~@theirs)))]
       (test/is (= expected# ours#) "on Skein")
       (test/is (= expected# theirs#) "on core.async"))))
