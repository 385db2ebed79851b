;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.go
  "The go compiler under core.async's names, for macros that call it.

  * `go-impl`        the expansion of `go`
  * `state-machine`  a machine for clojure.core.async.impl.ioc-macros, with custom operations

  Such a machine runs its body on a virtual thread, which waits when the machine waits. The
  thread can't be collected before it ends. A library that is written for Skein needs no such
  machine: its operations can be functions that block or call `<!`."
  {:no-doc true}
  (:require
   [clojure.core.async.impl.ioc-macros :as ioc]
   [skein.impl.expand :as expand]
   [skein.impl.forms :as forms]
   [skein.impl.go :as compiler]
   [skein.impl.go.ops :as ops]
   [skein.impl.once :refer [deftype-once]])
  (:import
   (clojure.lang Var)
   (java.util.concurrent SynchronousQueue)
   (java.util.concurrent.atomic AtomicReference AtomicReferenceArray)))

(set! *warn-on-reflection* true)

(defn go-impl
  "Returns the form of a go block, given the &env of its macro and its body."
  [env body]
  (compiler/compile-reporting-go env body nil))

;; A machine's thread and the thread that runs the machine take turns. At the end of a turn the
;; machine's thread puts the outcome on `turns`, and the other takes it. A machine that waits takes
;; from `wakes`. `starting` holds the machine's thread while that starts an operation, and then
;; :called-back if the operation has called back on this thread: then there is nobody to take turns with.
(deftype-once ^:private Turns [^SynchronousQueue turns ^SynchronousQueue wakes ^AtomicReference starting])

(alter-meta! #'->Turns assoc :private true)

(defn transition
  "For the body of a machine: does the operation `run`, a function of the machine, a block number and
  `args`. Waits for its value and returns it."
  [state ^Turns turns run args]
  (let [^AtomicReference starting (.-starting turns)
        _ (.set starting (Thread/currentThread))
        outcome (apply run state 1 args)]
    (when-not (or (identical? :called-back (.getAndSet starting nil)) (identical? :recur outcome))
      (.put ^SynchronousQueue (.-turns turns) [:waits])
      (.take ^SynchronousQueue (.-wakes turns)))
    (ioc/aget-object state ioc/VALUE-IDX)))

(defn- run-body [state ^Turns turns body]
  (Var/resetThreadBindingFrame (or (ioc/aget-object state ioc/BINDINGS-IDX) (Var/cloneThreadBindingFrame)))
  (.put ^SynchronousQueue (.-turns turns)
        (try
          (ioc/aset-object state ioc/VALUE-IDX (body state turns))
          [:done]
          (catch Throwable t [:threw t]))))

(defn- await-turn [state ^Turns turns]
  (let [[outcome thrown] (.take ^SynchronousQueue (.-turns turns))]
    (when (= :threw outcome) (throw thrown))
    state))

(defn machine
  "Returns a machine with `n-user-places` that runs `body`, a function of the machine and of its
  Turns."
  [n-user-places body]
  (let [turns (Turns. (SynchronousQueue.) (SynchronousQueue.) (AtomicReference.))
        go-on (fn go-on [state]
                (if (.compareAndSet ^AtomicReference (.-starting turns) (Thread/currentThread) :called-back)
                  state
                  (do
                    (.put ^SynchronousQueue (.-wakes turns) :go-on)
                    (await-turn state turns))))
        begin (fn begin [state]
                (ioc/aset-object state ioc/FN-IDX go-on)
                (Thread/startVirtualThread (fn run [] (run-body state turns body)))
                (await-turn state turns))]
    (ioc/aset-all! (AtomicReferenceArray. (+ (long n-user-places) (long ioc/USER-START-IDX)))
                   ioc/FN-IDX begin)))

(defn- operations
  "Returns a function of a symbol: the symbol of the function that does the operation of that name, or nil."
  [transitions]
  (let [of-op (into {} (keep (fn [[sym run]] (when-some [op (ops/parking sym)] [op run]))) transitions)]
    (fn operation [sym]
      (or (transitions (some-> (ops/var-named sym) symbol))
          (of-op (ops/parking sym)))))) ; for the vars of skein.async, and those to which macros such as alt! expand

(declare with-transitions)

(defn- parts-with-transitions [operation state turns form]
  (map (fn part [[role x]]
         (if (#{:value :tail :operator :target :place :clause} role)
           (with-transitions operation state turns x)
           x))
       (forms/parts form)))

(defn- seq-with-transitions [operation state turns [op :as form]]
  (if (or (expand/left? form) ('#{fn* reify* deftype*} op)) ; what is in there does not belong to this machine
    form
    (let [form (forms/rebuild form (parts-with-transitions operation state turns form))]
      (if-some [run (when (and (symbol? op) (not (forms/special? op))) (operation op))]
        `(transition ~state ~turns ~run [~@(rest form)])
        form))))

(defn- with-transitions
  "Returns `form`, an expanded form, with a call of `transition` in place of each operation. `state` and `turns` are the
  symbols of its first two arguments."
  [operation state turns form]
  (let [walk (fn walk [x] (with-transitions operation state turns x))]
    (cond
      (and (seq? form) (seq form)) (seq-with-transitions operation state turns form)
      (record? form) form
      (map? form) (with-meta (apply array-map (map walk (mapcat identity form))) (meta form)) ; in their order
      (or (vector? form) (set? form)) (with-meta (into (empty form) (map walk) form) (meta form))
      :else form)))

(defn state-machine
  "Returns the form of a function that makes a machine for `body`. `env` is the &env of its macro. `user-transitions` maps
  the symbol of an operation to the symbol of the function that does it, see `transition`. An operation may have any
  name that resolves to its var. In functions and blocks in the body, it is not the machine's. The function of :Return is
  called with the machine and the body's value, and returns the machine's value."
  [body num-user-params [_crossing-env env] user-transitions]
  (let [state (gensym "state")
        turns (gensym "turns")
        leave-block (fn leave [[op :as form]] (when (ops/block-macro? op) form))
        {:keys [form outer]} (expand/expand (when (map? env) env) body leave-block)
        form (with-transitions (operations (dissoc user-transitions :Return)) state turns form)
        form (expand/with-outer outer form)]
    `(fn [] (machine ~num-user-params
                     (fn [~state ~turns]
                       ~(if-some [return (:Return user-transitions)] `(~return ~state ~form) form))))))
