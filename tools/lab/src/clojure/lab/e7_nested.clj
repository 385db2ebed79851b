;; SPDX-License-Identifier: Apache-2.0
(ns lab.e7-nested
  "Blocks that wait for blocks that wait for blocks. After \"Clojure & core.async: go blocks everywhere?\", 2015.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e7-nested"
  (:require
   [clojure.walk :as walk]
   [lab.measure :as measure]))

(set! *warn-on-reflection* true)
(measure/alias-async! 'a)

(def ^:private sizes
  {:full {:calls 100000, :nesting 20, :budget-ms 1000}
   :quick {:calls 2000, :nesting 20, :budget-ms 150}
   :tiny {:calls 10, :nesting 20, :budget-ms 0}})

(measure/when-on "skein"
  (defmacro ^:private async [& body] `(a/async ~@body)))

(measure/when-on ["core.async-1.7.701" "core.async-1.9.865"]
  (defn call-now "Calls `f` at once, where core.async would give the block to a pool." [f] (f))

  (defmacro ^:private async
    "Starts a block of core.async on its caller's thread, as the article's macro does. The article's macro
    passes its result in a ThreadLocal and loses it when the body parks; this one does not."
    [& body]
    (walk/postwalk-replace {'clojure.core.async.impl.dispatch/run `call-now}
                           ((requiring-resolve 'clojure.core.async.impl.go/go-impl) &env body))))

(defn- ready [] (doto (a/chan 1) (a/put! :done) a/close!))
(defn- later [] (let [c (a/chan 1)] (a/take! (a/timeout 5) (fn [_] (a/put! c :done))) c))

(defn- with-go [n leaf] (a/go (if (pos? (long n)) (a/<! (with-go (dec (long n)) leaf)) (a/<! (leaf)))))
(defn- with-async [n leaf] (async (if (pos? (long n)) (a/<! (with-async (dec (long n)) leaf)) (a/<! (leaf)))))
(defn- plain [n leaf] (if (pos? (long n)) (plain (dec (long n)) leaf) (leaf)))

(defn- run [{:keys [calls nesting]}]
  (doseq [[form call] [["go" #(a/<!! (with-go nesting ready))]
                       ["async" #(a/<!! (with-async nesting ready))]
                       ["plain function" #(plain nesting (constantly :done))]]]
    (measure/measure! {:row (str form ", one after the other"), :form form, :expected {:done calls}}
                      #(frequencies (repeatedly calls call)))
    (measure/measure! {:row (str form ", pmap"), :form form, :expected {:done calls}}
                      #(frequencies (pmap (fn [_] (call)) (range calls)))))
  (measure/measure! {:row "async whose body parks 5 ms, once", :expected :done}
                    #(a/<!! (with-async nesting later))))

(defn -main "Runs the experiment." [] (measure/main sizes run))
