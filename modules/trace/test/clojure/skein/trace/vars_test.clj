;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.vars-test
  "Traced vars: the cases on which tools.trace breaks, and programs that must continue to work."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [are deftest is testing use-fixtures]]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.trace :as trace])
  (:import
   (clojure.lang Compiler ExceptionInfo IFn$LL RT)
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(def ^:private events (atom []))
(defn- keep! [event] (swap! events conj event))

(defn- calls [] (filterv (comp #{:call} :phase) @events))
(defn- traced? [v] (contains? (set (:traced (trace/status))) v))
(defn- phases [] (mapv :phase @events))

(use-fixtures :each (fn clean [run]
                      (reset! events [])
                      (try (run) (finally (trace/untrace-all)))))

(defn- wait-for
  "Waits until an event has `phase`; the event."
  [phase]
  (within-deadline
    (loop []
      (or (first (filter (comp #{phase} :phase) @events))
          (do (Thread/onSpinWait) (recur))))))

;; Traced functions. Tests that redefine a function use other names.
(declare odd-one?)
(defn even-one? [n] (if (zero? n) true (odd-one? (dec n))))
(defn odd-one? [n] (if (zero? n) false (even-one? (dec n))))
(defn add-one ^long [^long x] (inc x))
(defn scale ^double [^double x ^long n o] (* x (double n) (double (count o))))
(defn mixed (^long [^long x] x) ([x y] [x y]) ([x y & more] [x y more]))
(defn- hidden [x] [:hidden x])
(defn options [x & {:keys [size] :or {size 1}}] [x size])
(defn spread [& xs] (first xs))
(defn descend [n] (if (zero? n) 0 (inc (descend (dec n)))))
(defn fail-at [n] (if (zero? n) (throw (ex-info "at the bottom" {})) (fail-at (dec n))))
(def config {:a 1})
(def unbound)
(defmulti area :shape)
(defmethod area :square [{:keys [side]}] (* side side))
(defprotocol Sized (extent [x] [x unit]))
(defrecord Inline [n] Sized (extent [_] n) (extent [_ _] n))
(extend-type String Sized (extent ([s] (count s)) ([s _] (count s))))

(deftest primitive-functions-are-traced
  (trace/trace-vars {:sink keep!} add-one scale mixed)
  (is (= 4 (add-one 3)))
  (is (instance? IFn$LL add-one))
  (is (= 4 ((fn compiled [] (add-one 3)))))
  (is (= 12.0 (scale 2.0 3 [1 2])))
  (is (= [1 [1 2] [1 2 [3 4]]] [(mixed 1) (mixed 1 2) (mixed 1 2 3 4)]))
  (is (= [["3"] ["3"] ["2.0" "3" "[1 2]"] ["1"] ["1" "2"] ["1" "2" "3 4"]] (map :args (calls))))
  (is (= :prim-fn (trace/traceable #'add-one))))

(deftest multimethods-stay-multimethods
  (trace/trace-vars {:sink keep!} area)
  (defmethod area :line [_] 0)
  (is (= [9 0] [(area {:shape :square :side 3}) (area {:shape :line})]))
  (is (= #{:square :line} (set (keys (methods area)))))
  (is (some? (get-method area :line)))
  (remove-method area :line)
  (is (thrown? IllegalArgumentException (area {:shape :line})))
  (is (= [:call :return :call :return :call :throw] (phases)))
  (trace/untrace-vars area)
  (is (= 9 (area {:shape :square :side 3})))
  (is (= 6 (count @events))))

(deftest protocol-functions-are-traced-and-missed-calls-are-noted
  (trace/trace-vars {:sink keep!} extent)
  (is (= :protocol-fn (trace/traceable #'extent)))
  (is (str/includes? (:value (first @events)) "inline"))
  (is (= 3 (extent "abc")))
  (is (= [1] (map extent [(->Inline 1)])) "through the var")
  (is (= [["\"abc\""] ["#skein.trace.vars_test.Inline{:n 1}"]] (map :args (calls))))
  (testing "extended while traced"
    (extend-type Long Sized (extent ([n] n) ([n _] n)))
    (is (= 5 (extent 5)))
    (is (= 3 (count (calls)))))
  (testing "untraced after that"
    (trace/untrace-vars extent)
    (is (= [5 3 1] (map extent [5 "abc" (->Inline 1)])))
    (is (= 3 (count (calls))))))

(deftest a-redefined-function-stays-traced
  (eval '(do (in-ns 'skein.trace.vars-test) (clojure.core/defn changing [x] x)))
  (let [v (resolve 'skein.trace.vars-test/changing)]
    (trace/trace-vars* {:sink keep!} 'skein.trace.vars-test [v])
    (v 1)
    (eval '(do (in-ns 'skein.trace.vars-test) (clojure.core/defn changing [x] [:new x])))
    (is (= [:new 2] (v 2)))
    (is (= 2 (count (calls))))
    (is (traced? v))
    (with-redefs-fn {v (fn [x] [:redef x])} (fn [] (is (= [:redef 3] (v 3)))))
    (is (= [:new 4] (v 4)))
    (is (= 4 (count (calls))))
    (trace/untrace-vars* 'skein.trace.vars-test [v])
    (is (= [:new 5] (v 5)))
    (is (= 4 (count (calls))))))

(deftest untracing-restores-the-original
  (let [before [even-one? area extent spread]]
    (trace/trace-vars {:sink keep!} even-one? area extent spread)
    (is (every? false? (map identical? before [even-one? area extent spread])))
    (trace/trace-vars {:sink keep!} even-one?)
    (trace/untrace-all)
    (is (every? true? (map identical? before [even-one? area extent spread])))
    (is (= [] (:traced (trace/status))))))

(deftest any-value-may-be-in-a-var
  (doseq [[hostile text] [[(range) "(0 …)"] [(iterate inc 0) "(0 …)"]
                          [(doto (java.util.ArrayList.) (as-> l (.add ^java.util.ArrayList l l))) "[#<cycle>]"]]]
    (let [v (intern 'skein.trace.vars-test 'hostile hostile)]
      (is (= [:no (str "it holds " text ", which is not a function")] (within-deadline (trace/traceable v))))
      (is (= [] (within-deadline (trace/trace-ns {:match #"^hostile$"} skein.trace.vars-test))))))
  (ns-unmap 'skein.trace.vars-test 'hostile))

(defn swapped [x] [:old x])

(deftest removed-wrapper-that-returns-is-wrapped-again
  (let [before swapped]
    (trace/trace-vars {:sink keep!} swapped)
    (with-redefs [swapped (fn [x] [:redef x])] (trace/untrace-vars swapped))
    (is (= [:old 1] (swapped 1)))
    (is (= [] @events))
    (trace/trace-vars {:sink keep!} swapped)
    (is (= [:old 2] (swapped 2)))
    (is (= 2 (count @events)))
    (trace/untrace-vars swapped)
    (is (identical? before swapped))))

(deftest a-wrapped-traced-function-is-reported-once-a-call
  (let [v (intern 'skein.trace.vars-test 'made-of (fn made-of [x] [:made x]))
        before @v
        told (fn told [x] (reset! events []) (v x) (mapv :args (calls)))]
    (trace/trace-vars* {:sink keep!} 'skein.trace.vars-test [v])
    (let [captured @v]
      (alter-var-root v memoize)
      (is (= [[["1"]] [["1"]]] [(told 1) (told 1)]) "one line a call, memoized or not")
      (testing "a wrapper taken from the var works like the original"
        (trace/untrace-vars* 'skein.trace.vars-test [v])
        (is (= [:made 3] (captured 3)))
        (is (= [[] []] [(told 1) (told 2)])))
      (testing "and comes back as the original"
        (alter-var-root v (constantly captured))
        (is (= [] (told 1)))
        (trace/trace-vars* {:sink keep!} 'skein.trace.vars-test [v])
        (is (= [["4"]] (told 4)))
        (trace/untrace-vars* 'skein.trace.vars-test [v])
        (is (identical? before @v))))
    (ns-unmap 'skein.trace.vars-test 'made-of)))

(deftest redefinitions-are-never-lost-to-the-tracer
  (let [v (intern 'skein.trace.vars-test 'racing (fn racing [] 0))
        stop (atom false)
        tracing (a/thread (while (not @stop)
                            (trace/trace-vars* {:sink []} 'skein.trace.vars-test [v])
                            (trace/untrace-vars* 'skein.trace.vars-test [v])))
        calling (a/thread (loop [last-seen 0]
                            (let [n (long (v))]
                              (cond
                                (< n last-seen) [:went-back last-seen n]
                                @stop :fine
                                :else (recur n)))))]
    (within-deadline
      (dotimes [i 3000]
        (let [f (fn newest [] (inc (long i)))]
          (alter-var-root v (constantly f))
          (when-not (= (inc (long i)) (v)) (is (= (inc (long i)) (v)))))))
    (reset! stop true)
    (is (= :fine (await-port calling)))
    (await-port tracing)
    (is (= 3000 (v)))
    (is (not (traced? v)))
    (ns-unmap 'skein.trace.vars-test 'racing)))

(defn- refusal [x]
  (try (trace/trace-vars* nil 'skein.trace.vars-test [x])
       (catch ExceptionInfo e (select-keys (ex-data e) [:skein/error :reason]))))

(deftest non-functions-are-refused-with-a-reason
  (are [reason x] (= {:skein/error :skein/bad-argument :reason reason} (refusal x))
    "it holds {:a 1}, which is not a function" 'config
    "it has no value yet" 'unbound
    "it is a macro, whose calls are over when the program runs" 'clojure.core/when
    "there is no such var" 'nowhere/to-be-found
    "there is no such var" 'nowhere)
  (is (= 1 (:a config)))
  (is (vector? (trace/traceable #'config))))

(deftest arguments-are-checked
  (are [error f] (= error (try (f) (catch ExceptionInfo e (:skein/error (ex-data e)))))
    :skein/bad-argument #(trace/traceable 5)
    :skein/bad-argument #(trace/trace-vars* {} 'user [5])
    :skein/bad-argument #(trace/trace-vars* {} 'user 5)
    :skein/bad-argument #(trace/untrace-vars* 'user [5])
    :skein/bad-argument #(trace/untrace-vars* 'user 5)
    :skein/bad-argument #(trace/print-tree "1")))

(deftest missing-namespaces-are-refused
  (is (= :skein/bad-argument (try (trace/trace-ns no.such.namespace) (catch ExceptionInfo e (:skein/error (ex-data e))))))
  (is (= :skein/bad-argument (try (trace/untrace-ns 'no.such.namespace) (catch ExceptionInfo e (:skein/error (ex-data e)))))))

(deftest macros-refuse-bad-arguments
  (doseq [form '[(skein.trace/with-traced) (skein.trace/with-traced 5 1) (skein.trace/with-traced {:sink :ring} 5)]]
    (is (= :skein/bad-argument (try (eval form) (catch Exception e (:skein/error (ex-data (ex-cause e)))))))))

(deftest private-functions-are-traced-by-symbol-and-by-var
  (trace/trace-vars {:sink keep!} skein.trace.vars-test/hidden)
  (is (= [:hidden 1] (hidden 1)))
  (trace/untrace-vars #'skein.trace.vars-test/hidden)
  (hidden 2)
  (is (= [["1"]] (map :args (calls)))))

(deftest calls-in-a-dynamic-extent-alone-are-traced
  (is (= 2 (trace/with-traced {:sink keep!} [add-one]
             (let [other (Thread. (fn outside [] (add-one 10)))]
               (.start other)
               (.join other))
             (await-port (a/go (a/<! (a/go 1)) (add-one 1))))))
  (add-one 5)
  (is (= [["1"]] (map :args (calls))))
  (is (not (traced? #'add-one))))

(def ^:private named-here 'skein.trace.vars-test)

(deftest trace-ns-resolves-its-symbol-where-it-is-written
  (binding [*ns* (the-ns 'clojure.core)]
    (is (= [#'options] (trace/trace-ns {:sink keep! :match #"^options$"} named-here)) "a var")
    (is (= [] (trace/trace-ns {:match #"^nothing-of-this-name$"} str)) "an alias")))

(deftest traces-survive-a-reload
  (is (= [":traced 1" ":traced 2" "nil"]
         (str/split-lines
           (fresh-jvm/output [] ["-e" (pr-str '(do (require '[skein.trace :as trace])
                                                 (defn f [x] x)
                                                 (def calls (atom 0))
                                                 (trace/trace-vars {:sink (fn [e] (when (= :call (:phase e)) (swap! calls inc)))} f)
                                                 (require 'skein.trace :reload-all)
                                                 (f 1)
                                                 (println (if (= [#'f] (:traced (trace/status))) :traced :lost) @calls)
                                                 (defn f [x] [x])
                                                 (f 1)
                                                 (println (if (= [#'f] (:traced (trace/status))) :traced :lost) @calls)
                                                 (trace/untrace-vars f)
                                                 (f 1)
                                                 (prn (when (or (seq (:traced (trace/status))) (not= 2 @calls)) [(trace/status) @calls]))
                                                 (shutdown-agents)))])))))

;;;; Events of calls

(defn give [x] x)
(deftype Loud [])
(defmethod print-method Loud [x ^java.io.Writer w] (give x) (.write w "loud"))
(deftype Sore [])
(defmethod print-method Sore [_ _] (throw (Exception. "sore")))

(deftest values-are-printed-within-limits-and-unchanged
  (trace/trace-vars {:sink keep!} give)
  (let [n (atom 0)
        lazy (map (fn [x] (swap! n inc) x) (range 100))
        self (let [x (atom nil)] (reset! x x) x)]
    (within-deadline
      (run! give [(iterate inc 0) lazy self (Loud.) (Sore.) (vec (range 1000000)) (apply str (repeat 1000000 "x"))]))
    (is (= 0 @n))
    (is (= ["(0 …)" "(…)" "#<Atom #<cycle>>" "loud"] (take 4 (map :value (filter (comp #{:return} :phase) @events)))))
    (is (= 7 (count (calls))) "give, called by a print-method, is not traced")
    (is (every? (fn [e] (<= (count (str (:value e) (first (:args e)))) 800)) @events))
    (is (str/starts-with? (:value (@events 9)) "#<unprintable Sore"))))

(deftest a-lazy-error-is-thrown-where-the-sequence-is-used
  (trace/trace-vars {:sink keep!} give)
  (let [xs (give (map (fn [x] (/ 1 x)) [0]))]
    (is (= [:call :return] (phases)))
    (is (thrown? ArithmeticException (first xs)))))

(deftest functions-that-the-tracer-uses-are-traced-as-others
  (trace/trace-vars {:sink keep!} clojure.core/apply spread area clojure.core/conj clojure.core/str clojure.core/assoc)
  (is (= [1 1 "ab" 4 [1 2] 15]
         (let [values [(spread 1 2 3) (apply spread [1]) (str "a" "b") (area {:shape :square, :side 2}) (conj [] 1 2)
                       (apply + 1 2 3 4 [5])]]
           (trace/untrace-all)
           values)))
  (is (= '[spread apply spread str area conj apply] (map (comp symbol name :name) (calls)))))

(deftest infinite-arguments-stay-lazy
  (trace/trace-vars {:sink keep!} spread)
  (let [n (atom 0)]
    (is (= 0 (apply spread (iterate (fn [x] (swap! n inc) (inc (long x))) 0))))
    (is (<= (long @n) 1))))

(deftest keyword-arguments-arrive
  (trace/trace-vars {:sink keep!} options)
  (is (= [[1 1] [1 9] [1 8]] [(options 1) (options 1 :size 9) (options 1 {:size 8})]))
  (is (= [["1"] ["1" ":size 9"] ["1" "{:size 8}"]] (map :args (calls)))))

(defn- deepest
  "How deep `f` can recurse on a thread of this stack size."
  [f]
  (let [fits? (fn [n] (let [ok (promise)]
                        (doto (Thread. nil (fn [] (deliver ok (try (f n) true (catch StackOverflowError _ false)))) "deep" 600000)
                          (.start) (.join))
                        @ok))]
    (last (take-while fits? (iterate (fn [n] (* 2 (long n))) 16)))))

(deftest recursion-goes-nearly-as-deep
  (let [plain (long (deepest descend))]
    (trace/trace-vars {:sink []} descend)
    (is (<= plain (* 8 (long (deepest descend)))))))

(deftest a-stack-that-overflows-leaves-the-thread-as-it-was
  (trace/trace-vars {:sink keep!} descend give)
  (doseq [stack (range 150000 250000 20000)
          :let [outcome (promise)]]
    (reset! events [])
    (.start (Thread. nil (fn overflow []
                           (deliver outcome (try (trace/with-limits {:depth 1000000} (descend -1))
                                                 (catch Throwable t (class t))))
                           (give :after))
                     "small" (long stack)))
    (is (= StackOverflowError (within-deadline @outcome)))
    (within-deadline (while (empty? (filter (comp #{[":after"]} :args) @events)) (Thread/onSpinWait)))
    (is (= [nil 0] ((juxt :parent :depth) (first (filter (comp #{[":after"]} :args) @events)))))))

(deftest a-throw-is-reported-once-for-each-call
  (trace/trace-vars {:sink keep!} fail-at give)
  (is (thrown-with-msg? ExceptionInfo #"at the bottom" (fail-at 2)))
  (give 1)
  (is (= [:call :call :call :throw :throw :throw :call :return] (phases)))
  (is (= [0 1 2 2 1 0 0 0] (map :depth @events)))
  (is (apply identical? (take 2 (keep :error @events))))
  (is (every? nat-int? (keep :elapsed-ns @events))))

(deftest calls-that-bypass-the-var-are-noted
  (trace/trace-vars {:sink keep!} clojure.core/max-key clojure.core/bit-and)
  (trace/untrace-all)
  (is (= ["clojure.core/max-key: Clojure's own calls are linked directly, past the var"
          "clojure.core/bit-and: calls that the compiler inlines don't go through the var"]
         (map :value @events))))

(defn ^:redef loose "Never linked directly." [x] x)

(deftest direct-linking-is-noted
  (testing "for code compiled later"
    (binding [*compiler-options* {:direct-linking true}]
      (trace/trace-vars {:sink keep!} give loose))
    (is (= ["skein.trace.vars-test/give: calls that are compiled now are linked directly, past the var"]
           (map :value @events))))
  (testing "of the first of many vars"
    (reset! events [])
    (binding [*compiler-options* {:direct-linking true}]
      (trace/trace-ns {:sink keep! :except '#{loose}} skein.trace.vars-test))
    (is (= 9 (count @events)))
    (is (re-matches #"some calls of \d+ more of these vars are not seen either" (:value (peek @events))))))

(defn later [x] (a/go (a/<! (a/timeout 1)) (/ 12 x)))
(defn later-async [x] (a/async (a/<! (a/timeout 1)) (/ 12 x)))
(defn at-once [x] (a/async (* 2 x)))

(deftest the-end-of-a-returned-block-is-reported
  (trace/trace-vars {:sink keep!} later later-async at-once)
  (testing "its value, which stays for the taker"
    (let [c (later 3)]
      (is (= "4" (:value (wait-for :async-return))))
      (is (= 4 (await-port c)))))
  (testing "of a block that has ended already"
    (reset! events [])
    (is (= 8 (await-port (at-once 4))))
    (is (= "8" (:value (wait-for :async-return)))))
  (testing "a failure"
    (reset! events [])
    (is (thrown? ArithmeticException (a/<?? (later-async 0))))
    (let [{:keys [error id]} (wait-for :async-throw)]
      (is (instance? ArithmeticException error))
      (is (= id (:id (first (calls))))))))

(deftest limits-are-kept-and-reported
  (trace/trace-vars {:sink keep!} descend give)
  (testing "depth"
    (trace/with-limits {:depth 3} (descend 10))
    (is (= [:call :call :call :limit :return :return :return] (phases))))
  (testing "number"
    (reset! events [])
    (let [before (long (:dropped (trace/status)))]
      (trace/with-limits {:calls 2} (dotimes [i 5] (give i)))
      (is (= [:call :return :call :return :limit] (phases)))
      (is (= 3 (- (long (:dropped (trace/status))) before)))))
  (testing "rate"
    (reset! events [])
    (trace/with-limits {:rate [3 3600000]} (dotimes [i 9] (give i)))
    (is (= 3 (count (calls)))))
  (testing "size"
    (reset! events [])
    (trace/with-limits {:length 2 :chars 20} (give (range 100)))
    (is (= ["(0 1 ...)"] (:args (first (calls)))))))

(deftest traced-functions-are-functions
  (trace/trace-vars {:sink keep!} give)
  (is (fn? give))
  (is (= [3 2 1] (do (trace/with-traced {:sink keep!} [clojure.core/compare] (sort (comparator (fn [x y] (> (long x) (long y)))) [1 3 2])))))
  (is (= 1 @(future-call (fn [] (give 1)))))
  (is (thrown? clojure.lang.ArityException (give 1 2))))

(deftest a-namespace-is-traced-with-exclusions
  (let [vs (trace/trace-ns {:match #"-one\??$" :except '#{odd-one?} :sink keep!} skein.trace.vars-test)]
    (is (= [#'add-one #'even-one?] vs))
    (even-one? 3)
    (is (= ["3" "1"] (map (comp first :args) (calls))))
    (trace/untrace-ns skein.trace.vars-test)
    (is (= [] (:traced (trace/status)))))
  (is (thrown-with-msg? ExceptionInfo #"the tracer itself" (trace/trace-ns clojure.core))))

;;;; Many threads, many blocks

(defn leaf [x] (inc (long x)))
(defn branch [x] (+ (long (leaf x)) (long (leaf (inc (long x))))))

(deftest each-thread-and-block-has-its-own-tree
  (trace/clear!)
  (trace/trace-vars {:sink :ring} leaf branch)
  (let [go! (CountDownLatch. 1)
        threads (mapv (fn [i] (a/thread (.await go!) (dotimes [j 20] (branch (+ (* 100 (long i)) j))))) (range 16))
        blocks (mapv (fn [i] (a/go (.await go!) (branch i))) (range 200))]
    (.countDown go!)
    (within-deadline (run! a/<!! threads) (run! a/<!! blocks))
    (let [roots (trace/records {:nested? true})]
      (is (= 520 (count roots)))
      (is (every? (fn [{:keys [name args value children]}]
                    (let [x (parse-long (first args))]
                      (and (= `branch name)
                           (= (str (+ 3 (* 2 x))) value)
                           (= [[`leaf [(str x)] (str (inc x))] [`leaf [(str (inc x))] (str (+ 2 x))]]
                              (map (juxt :name :args :value) children)))))
                  roots))
      (is (= 200 (count (distinct (keep :block roots))))))))
