;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.verbose-test
  "Functions that print only if verbose, and the places where verbosity has effect."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [are deftest is testing]]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.trace.verbose :as verbose :refer [*verbose* condv ifv printfv printlnv verbose? with-verbose]])
  (:import
   (clojure.lang Compiler$CompilerException ExceptionInfo)
   (java.io StringReader)))

(set! *warn-on-reflection* true)

(defmacro ^:private lines
  "The lines that the body prints."
  [& body]
  `(let [text# (with-out-str ~@body)]
     (if (= "" text#) [] (str/split-lines text#))))

(defn- load-demo
  "Loads code as the file demo/orders.clj, so that its lines are known."
  [& code]
  (binding [*ns* *ns*]
    (clojure.lang.Compiler/load (StringReader. (str "(ns skein.trace.verbose-test.demo (:require [skein.trace.verbose :as t]))\n"
                                                    (str/join "\n" code)))
                                "demo/orders.clj" "orders.clj")))

(deftest lines-are-printed-only-when-verbose
  (is (= [] (lines (printfv "%d" 1) (printlnv 1 2))))
  (is (= ["1 of a" "1 2 x" "plain"]
         (map (fn bare [line] (str/replace line #"^verbose_test\.clj:\d+ " ""))
              (lines (with-verbose (printfv "%d of %s" 1 "a") (printlnv 1 2 "x") (printfv "plain\n"))))))
  (testing "they return nil, and evaluate their arguments only then"
    (let [n (atom 0)]
      (is (nil? (printfv "%d" (swap! n inc))))
      (is (= 0 @n))
      (is (nil? (let [v (volatile! nil)] (lines (vreset! v (with-verbose (printfv "%d" (swap! n inc))))) @v)))
      (is (= 1 @n))))
  (testing "a long one is whole"
    (is (<= 5000 (count (first (lines (with-verbose (printfv "%s" (apply str (repeat 5000 "x")))))))))))

(deftest tags-choose-the-output
  (is (= 1 (count (lines (with-verbose [:db] (printfv :db "a") (printfv :net "b") (printfv "c") (printlnv "d"))))))
  (is (= 2 (count (lines (with-verbose (printfv :db "a") (printfv "c"))))))
  (is (= [true false false] (with-verbose [:db] [(verbose? :db) (verbose? :net) (verbose?)])))
  (is (= [false false] [(verbose? :db) (verbose?)])))

(deftest the-source-line-is-printed
  (is (= ["orders.clj:3 3 orders" "orders.clj:4 condv (< n 5) fired => :few" "orders.clj:5 ifv (< n 5) true => 1"]
         (lines (with-verbose
                  (load-demo "(defn f [n]" "  (t/printfv \"%d orders\" n)" "  (t/condv (< n 5) :few :else :many)"
                             "  (t/ifv (< n 5) 1 2))" "(f 3)"))))))

;;;; condv and ifv

(defn- sign [n] (condv (neg? n) :negative, (zero? n) :zero, :else :positive))
(defn- none [n] (condv (neg? n) :negative))
(defn- count-down [n] (condv (pos? n) (recur (dec n)), :else n))
(defn- nested [n] (condv (pos? n) (condv (even? n) :even, :else :odd), :else :none))

(deftest condv-is-cond
  (is (= [:negative :zero :positive] (map sign [-1 0 1])))
  (is (= [:negative nil] (map none [-1 1])))
  (is (nil? (condv)))
  (is (= 1 (condv nil 0 :else 1)))
  (is (= 3 (verbose/condv false 1, nil 2, 1 3, true 4, :else 5)) "through an alias")
  (is (= 0 (count-down 1000000)) "clauses are in tail position")
  (is (= [:even :odd :none] (map nested [2 1 0])))
  (is (= ["even" :no] [(ifv (even? 2) "even" :no) (ifv false 1 :no)]))
  (is (nil? (ifv false 1)))
  (is (= [] (lines (sign 1) (none 1) (ifv true 1 2))) "quiet"))

(defn- said [f]
  (map (fn bare [line] (str/replace line #"^verbose_test\.clj:\d+ " "")) (lines (with-verbose (f)))))

(deftest condv-says-which-clause-fired
  (are [expected f] (= expected (said f))
    ["condv (neg? n) fired => :negative"] (fn [] (sign -1))
    ["condv (zero? n) fired => :zero"] (fn [] (sign 0))
    ["condv :else fired => :positive"] (fn [] (sign 1))
    ["condv: no clause fired"] (fn [] (none 1))
    ["condv: no clause fired"] (fn [] (condv))
    ["condv (pos? n) fired" "condv (pos? n) fired" "condv :else fired => 0"] (fn [] (count-down 2))
    ["condv (pos? n) fired" "condv (even? n) fired => :even"] (fn [] (nested 2))
    ["ifv false false => 2"] (fn [] (ifv false 1 2))
    ["condv true fired => (1 …)"] (fn [] (condv true (iterate inc 1))))
  (testing "the value is the same, and is evaluated once"
    (let [n (atom 0)]
      (lines (with-verbose (is (= [1] (condv true [(swap! n inc)])))))
      (is (= 1 @n))))
  (testing "an exception goes through"
    (is (= [] (said (fn [] (try (condv true (throw (ex-info "no" {}))) (catch ExceptionInfo _ nil))))))))

(deftest odd-clauses-are-refused-at-compile-time
  (doseq [form '[(skein.trace.verbose/condv 1) (skein.trace.verbose/condv 1 2 3)]]
    (is (= :skein/bad-argument (try (eval form) (catch Compiler$CompilerException e (:skein/error (ex-data (ex-cause e)))))))))

(deftest condv-parks-in-a-block
  (let [f (fn f [c] (a/go (condv (= 1 (a/<! c)) (a/<! c), :else :other)))
        with-values (fn with-values [& xs] (f (a/to-chan! xs)))]
    (is (= [2 :other] (map await-port [(with-values 1 2) (with-values 3 4)])))
    (is (= ["condv (= 1 (a/<! c)) fired => 2"] (said (fn [] (await-port (with-values 1 2))))))
    (is (= [3 nil] (map await-port [(a/go (ifv true (a/<! (a/go 3)))) (a/go (ifv false 1))])))))

;;;; Where it is seen

(defn- levels-in-bare-threads
  "Returns what a platform thread and a virtual thread see that Skein has not started."
  []
  (let [seen [(promise) (promise)]
        look (fn look [p] (fn run [] (deliver p *verbose*)))]
    (.start (Thread/ofPlatform) (look (seen 0)))
    (.start (Thread/ofVirtual) (look (seen 1)))
    (within-deadline (mapv deref seen))))

(deftest blocks-and-threads-see-the-level
  (with-verbose
    (is (true? (await-port (a/go *verbose*))))
    (is (= [true true] (await-port (a/go (a/<! (a/timeout 1)) [(verbose?) (a/<! (a/go (a/<! (a/timeout 1)) (verbose?)))]))))
    (is (true? (await-port (a/async (a/<! (a/timeout 1)) (verbose?)))))
    (is (true? (await-port (a/thread (verbose?)))))
    (is (true? (await-port (a/io-thread (verbose?))))))
  (testing "a binding inside a block holds across its parks"
    (is (= [false true true false]
           (await-port (a/go (let [before (verbose?)
                                   inside (with-verbose [(verbose?) (do (a/<! (a/timeout 1)) (verbose?))])]
                               (-> [before] (into inside) (conj (verbose?)))))))))
  (testing "threads of others see the root"
    (is (= [false false] (with-verbose (levels-in-bare-threads))))
    (try
      (is (= :all (verbose/set-verbose! :all)))
      (is (= [:all :all] (levels-in-bare-threads)))
      (finally (verbose/set-verbose! false)))))

(deftest the-level-outlives-a-reload
  (try
    (verbose/set-verbose! true)
    (require 'skein.trace.verbose :reload)
    (is (verbose?))
    (finally (verbose/set-verbose! false))))
