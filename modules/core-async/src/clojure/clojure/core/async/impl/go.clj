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
   [skein.impl.go :as compiler])
  (:import
   (clojure.lang Var)
   (java.util.concurrent SynchronousQueue)
   (java.util.concurrent.atomic AtomicReferenceArray)))

(set! *warn-on-reflection* true)

(defn go-impl
  "Returns the form of a go block, given the &env of its macro and its body."
  [env body]
  (compiler/compile-go env body nil))

;; A machine's thread and the thread that runs the machine take turns. At the end of a turn the
;; machine's thread puts the outcome on `turns`, and the other takes it. A machine that waits takes
;; from `wakes`.
(deftype ^:private Turns [^SynchronousQueue turns ^SynchronousQueue wakes])

(alter-meta! #'->Turns assoc :private true)

(defn transition
  "For the body of a machine: does the operation `run`, a function of the machine, a block number and
  `args`. Waits for its value and returns it."
  [state ^Turns turns run args]
  (when-not (identical? :recur (apply run state 1 args))
    (.put ^SynchronousQueue (.-turns turns) [:waits])
    (.take ^SynchronousQueue (.-wakes turns)))
  (ioc/aget-object state ioc/VALUE-IDX))

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
  (let [turns (Turns. (SynchronousQueue.) (SynchronousQueue.))
        go-on (fn go-on [state]
                (.put ^SynchronousQueue (.-wakes turns) :go-on)
                (await-turn state turns))
        begin (fn begin [state]
                (ioc/aset-object state ioc/FN-IDX go-on)
                (Thread/startVirtualThread (fn run [] (run-body state turns body)))
                (await-turn state turns))]
    (ioc/aset-all! (AtomicReferenceArray. (+ (long n-user-places) (long ioc/USER-START-IDX)))
                   ioc/FN-IDX begin)))

(defn state-machine
  "Returns the form of a function that makes a machine for `body`. `user-transitions` maps the
  symbol of an operation to the symbol of the function that does it, see `transition`. The body
  calls an operation by its name without a namespace. The function of :Return is called with
  the machine and the body's value, and returns the machine's value."
  [body num-user-params [_crossing-env _env] user-transitions]
  (let [state (gensym "state")
        turns (gensym "turns")
        operations (mapcat (fn [[op run]]
                             [(symbol (name op)) `(fn [& args#] (transition ~state ~turns ~run args#))])
                           (dissoc user-transitions :Return))
        form `(let [~@operations] ~body)]
    `(fn [] (machine ~num-user-params
                     (fn [~state ~turns]
                       ~(if-some [return (:Return user-transitions)] `(~return ~state ~form) form))))))
