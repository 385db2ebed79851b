;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go-programs
  "Random programs for the compiler's property test: `program` generates trees,
  `form` turns a tree into a Clojure form whose value is a number, `plain` and
  `parking` run a form, as a function and as a block.

  A tree is a number or [kind number [tree tree tree]]; the numbers choose among
  literals and the locals in scope, so every tree, shrunk ones too, is a program."
  (:require
   [clojure.test.check.generators :as gen]
   [skein.impl.go :as go]
   [skein.impl.go.ops :as ops])
  (:import
   (clojure.lang Compiler$CompilerException)
   (java.util.concurrent ExecutorService Executors ThreadFactory)
   (skein.rt Buffers$Fixed Channel World)
   (skein.rt.block ThreadWaiter)))

(set! *warn-on-reflection* true)

;;;; Operations of their own, so that these tests stand on the runtime alone

(defn take-val
  "Parks in a block, blocks in a function."
  [port]
  (if (instance? Channel port) (ThreadWaiter/take ^Channel port) (first port)))

(defn put-val
  "Parks in a block, blocks in a function."
  [port v]
  (if (instance? Channel port) (ThreadWaiter/put ^Channel port v) true))

(defn alts-val
  "Parks in a block; takes from the first port in a function."
  [ports & _]
  [(take-val (first ports)) :port])

(ops/register! `take-val {:method 'take, :arity [1 1]})
(ops/register! `put-val {:method 'put, :arity [2 2]})
(ops/register! `alts-val {:method 'alts, :arity [1 nil]})

(defmacro block "Returns a block of the body." [& body] (go/compile-go &env body &form))
(defmacro block-at-once "Returns a block of the body that starts here." [& body] (go/compile-async &env body &form))

;;;; Ports that answer at once or later

(defonce ^:private ^ExecutorService others
  (Executors/newSingleThreadExecutor
    (reify ThreadFactory (newThread [_ work] (doto (Thread. work "go-programs") (.setDaemon true))))))

(def ^:dynamic *ports*
  "Nil in a plain run, otherwise a java.util.Random that decides which ports answer late." nil)

(defn- late? [] (.nextBoolean ^java.util.Random *ports*))

(defn port
  "Returns a port that has `v`, now or soon; closed when v is nil."
  [v]
  (if-not *ports*
    [v]
    (let [c (Channel. (when-not (nil? v) (Buffers$Fixed. 1)))
          answer (fn answer [] (if (nil? v) (.close c) (ThreadWaiter/put c v)))]
      (cond
        (not (late?)) (answer)
        (World/starts answer) nil ; a thread of the simulation that runs here
        :else (.execute others answer))
      c)))

(defn sink
  "Returns a port that accepts a value, now or soon."
  []
  (when *ports*
    (let [late (late?)
          c (Channel. (when-not late (Buffers$Fixed. 1)))]
      (when late (Thread/startVirtualThread (fn accept [] (ThreadWaiter/take c)))) ; for ever, if nothing is put
      c)))

;;;; Trees -> forms

(def ^:dynamic *depth* "A var that programs bind and set." 0)

(def ^:private names '[x y z when inc take-val v__1 if-let])

(defn- fresh [n] (nth names (mod n (count names))))
(defn- shadow-free "Returns a name that the templates themselves don't use." [n] (nth '[x y z v__1] (mod n 4)))

(declare form)

(defn- local [env n] (if (seq env) (nth env (mod n (count env))) n))
(defn- leaf [env n]
  (case (long (mod n 3))
    0 (local env n)
    1 (quot n 3)
    2 (list 'note (local env n))))

(defn- looped [env n a b c]
  (let [[x y] [(shadow-free n) 'acc]
        inner (into env [x y])
        [a b c] [(form env a) (form inner b) (form inner c)]]
    (case (long (mod n 4))
      0 (list 'loop [x 0 y a] (list 'if (list '< x 3) (list 'recur (list '+ 1 x) b) c))
      1 (list 'loop [x 0 y a] (list 'let ['t b] (list 'cond (list '< 2 x) c :else (list 'recur (list '+ 1 x) 't))))
      2 (list 'loop [x 3 y a] (list 'do b (list 'case x 0 c 1 (list 'recur 0 c) (list 'recur (list '- x 1) y))))
      3 (list 'loop [y 0.5 x a] (list 'if (list '< y 3.0) (list 'recur (list '* y 2.0) (list 'long b)) (list 'long (list '+ y x)))))))

(defn- tried [env n a b c]
  (let [[a b c] [(form env a) (form (conj env 'w) b) (form env c)]
        catch-b (list 'catch 'clojure.lang.ExceptionInfo 'e (list 'let ['w (list 'count (list 'ex-message 'e))] b))]
    (case (long (mod n 4))
      0 (list 'try a catch-b)
      1 (list 'try a (list 'finally c))
      2 (list 'try a catch-b (list 'finally c))
      3 (list 'try a catch-b (list 'catch 'ArithmeticException '_ 7) (list 'finally (list 'note c))))))

(defn- called [env n a b c]
  (let [x (shadow-free n)]
    (case (long (mod n 6))
      0 (list (list 'fn [x] (form (conj env x) b)) (form env a))
      1 (list 'letfn [(list 'f [x] (list 'if (list '< x 1) (form env b) (list 'f (list '- x 1))))]
              (list '+ (list 'f 2) (form env a)))
      2 (list 'reduce '+ (list 'map (list 'fn [x] (form (conj env x) b)) [(form env a) (form env c) 1]))
      3 (list 'count (list 'str (form env a) (form env b) "-" (form env c)))
      4 (list 'Math/max (list 'long (form env a)) (list 'long (form env b)))
      5 (list '.length (list 'str (form env a))))))

(defn- bound [env n a b c]
  (case (long (mod n 3))
    0 (list 'binding ['*depth* (form env a)] (list '+ '*depth* (form env b)))
    1 (list 'binding ['*depth* (form env a)] (list 'set! '*depth* (form env b)) (list '- (form env c) '*depth*))
    2 (list '+ '*depth* (list 'binding ['*depth* 5] (form env a)))))

(defn- held [env n a b c]
  (let [[a b c] [(form env a) (form env b) (form env c)]]
    (case (long (mod n 5))
      0 (list 'apply '+ [a b c])
      1 (list 'get {:a a :b b} :b c)
      2 (list 'count (list 'conj #{} a b c))
      3 (list 'let [['p {:keys ['q]} '& 'r] [a {:q b} c]] (list 'apply '- 'p 'q 'r))
      4 (list '-> a (list '+ b) (list '- c)))))

(defn- chosen [env n a b c]
  (let [[a b c] [(form env a) (form env b) (form env c)]]
    (case (long (mod n 7))
      0 (list 'if (list 'odd? a) b c)
      1 (list 'case (list 'mod a 4) 0 b 1 c '(2 3) a)
      2 (list 'case (list 'str a) "1" b "AaAa" c "BBBB" 3 a)
      3 (list 'case (list 'keyword (list 'str "k" (list 'mod a 3))) :k0 b :k1 c 9)
      4 (list 'cond (list '< a b) c (list '= a b) a :else b)
      5 (list 'or (list 'when (list 'pos? a) b) c)
      6 (list 'if-some ['s (list 'when (list 'neg? a) b)] (list '+ 's 1) c))))

(defn- effected [env n a b c]
  (let [x (shadow-free n)]
    (case (long (mod n 5))
      0 (list 'do (list 'note (form env a)) (form env b))
      1 (list 'do (list 'doseq [x [1 2]] (list 'note (form (conj env x) a))) (form env b))
      2 (list 'do (list 'dotimes [x 2] (form (conj env x) a)) (form env b))
      3 (list 'do (list 'when (list 'even? (form env a)) (list 'note (form env b))) (form env c))
      4 (list 'throw (list 'ex-info (list 'str "boom" n) {:n (form env a)})))))

(defn- parked [env n a b]
  (case (long (mod n 7))
    0 (list 'if (list `put-val (list `sink) (form env a)) (form env b) 0)
    1 (list 'first (list `alts-val [(list `port (form env a))] :priority true))
    2 (list 'long (list `take-val (list `port (form env a))))
    3 (list 'or (list `take-val (list `port nil)) (form env a))
    (list `take-val (list `port (form env a)))))

(defn- let-form [env n a b c]
  (let [x (fresh n)
        y (shadow-free (inc n))
        init (if (zero? (mod n 3)) (list 'long (form env a)) (form env a))]
    (list 'let [x init y (form (conj env x) b)] (form (conj env x y) c))))

(defn- sum [env n a b]
  (list (nth '[+ - * min] (mod n 4)) (form env a) (form env b)))

(defn form
  "Returns the form for a tree, where the symbols `env` are locals that hold numbers.
  `note`, a function that logs its argument, must be in scope."
  [env tree]
  (if (number? tree)
    (leaf env tree)
    (let [[kind n [a b c]] tree]
      (case kind
        :sum (sum env n a b)
        :let (let-form env n a b c)
        :loop (looped env n a b c)
        :try (tried env n a b c)
        :call (called env n a b c)
        :bind (bound env n a b c)
        :hold (held env n a b c)
        :choose (chosen env n a b c)
        :effect (effected env n a b c)
        :park (parked env n a b)))))

(defn- tree
  "Generates trees of at most `depth` levels."
  [depth]
  (let [leaf (gen/choose 0 14)
        kinds (gen/frequency [[3 (gen/return :park)]
                              [8 (gen/elements [:sum :let :loop :try :call :bind :hold :choose :effect])]])]
    (if (zero? depth)
      leaf
      (let [part (tree (dec depth))]
        (gen/frequency [[1 leaf] [4 (gen/tuple kinds (gen/choose 0 41) (gen/tuple part part part))]])))))

(def program
  "Generates trees."
  (gen/bind (gen/choose 1 5) tree))

;;;; Runs: [:value v log], [:thrown class message log], or [:invalid] for what doesn't compile

(defn outcome
  "Calls `f`, which logs to the atom `log`."
  [log f]
  (try [:value (f) @log]
       (catch Throwable t [:thrown (class t) (ex-message t) @log])))

(defn alike?
  "Returns whether outcomes are the same. In code that has thrown often, the JVM throws exceptions without
  messages. Then messages don't count."
  [outcomes]
  (let [bare? (some (fn bare? [[kind _ message]] (and (= :thrown kind) (nil? message))) outcomes)]
    (apply = (if bare?
               (map (fn without-message [[kind c _ & more]] [kind c more]) outcomes)
               outcomes))))

(defn compiled
  "Returns the value of the form, a function, or nil where it doesn't compile."
  [program-form]
  (binding [*ns* (the-ns 'skein.impl.go-programs)
            *unchecked-math* false
            *warn-on-reflection* false]
    (try (eval program-form) (catch Compiler$CompilerException _ nil))))

(defn plain
  "Runs the form as a function. Programs of which Clojure makes a class that the JVM refuses count as not compiling."
  [program-form]
  (let [log (atom [])
        f (try (compiled (list 'fn '[note] program-form)) (catch VerifyError _ nil))]
    (if f (outcome log (fn run [] (f (fn note [v] (swap! log conj v) v)))) [:invalid])))

(defn join
  "Returns the value of a block, or the exception that ended it."
  [^Channel p]
  (let [v (deref (future (ThreadWaiter/take p)) 120000 ::late)]
    (when (= ::late v) (throw (IllegalStateException. "The block did not end in two minutes.")))
    (when-let [t (.thrown p)] (throw t))
    v))

(defn parking
  "Runs the form as a block. `seed` says which ports answer late; an even one
  starts the block at once, else it goes through the scheduler."
  [program-form seed]
  (let [log (atom [])
        f (compiled (if (even? seed)
                      (list 'fn '[note] (list `block-at-once program-form))
                      (list 'fn '[note] (list `block (list 'try [program-form] '(catch Throwable t t))))))]
    (if f
      (outcome log (fn run []
                     (binding [*ports* (java.util.Random. seed)]
                       (let [v (join (f (fn note [v] (swap! log conj v) v)))]
                         (cond
                           (even? seed) v
                           (vector? v) (v 0)
                           :else (throw v))))))
      [:invalid])))
