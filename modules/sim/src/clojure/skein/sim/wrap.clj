;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.wrap
  "Wraps functions that a simulation must know of, as long as a simulation exists. In code that is not
  simulated, a wrapper only checks the thread. Code that is compiled with direct linking bypasses the
  wrappers.

  * `install!` `uninstall!`
  * `preview` of a value, for stories"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.async :as a]
   [skein.async.limit :as limit]
   [skein.impl.error :as error]
   [skein.scope :as scope])
  (:import
   (clojure.lang Agent IAtom IPending Ref Volatile)
   (skein.async.limit Permit)
   (skein.rt Operation Region$Owner World)
   (skein.sim.rt Members Simulation Trace$Kind)))

(set! *warn-on-reflection* true)

(defn preview
  "Returns a value as text, without what differs from run to run."
  [x]
  (str/replace (error/preview x) #" ?0x[0-9a-f]+| [0-9a-f]{5,8}(?=>)" ""))

;;;; Channels: a point before each operation of a thread, or of a block in the middle of a step

(defn- refused
  "Tells that the put in an operation on `port`, or on one of several, has failed, if the value `v` says so. Returns `v`."
  [^Simulation sim kind port v]
  (when (condp = kind
          Trace$Kind/PUT (false? v)
          Trace$Kind/ALTS (let [[done chosen] v] (and (false? done) (some (fn put? [p] (and (vector? p) (identical? chosen (p 0)))) port)))
          false)
    (.note sim Trace$Kind/FAILED port "its put fails, as the channel is closed"))
  v)

(defn- operation
  "Returns `f`, an operation on a port, with a point before it. `op` says in which kind of operation it may block."
  [^Operation op kind f]
  (fn
    ([port]
     (if-some [^Simulation sim (Simulation/here)]
       (do (.point sim op kind port nil)
           (refused sim kind port (try (f port) (finally (.passed sim)))))
       (f port)))
    ([port x]
     (if-some [^Simulation sim (Simulation/here)]
       (do (.point sim op kind port x)
           (refused sim kind port (try (f port x) (finally (.passed sim)))))
       (f port x)))
    ([port x & more]
     (if-some [^Simulation sim (Simulation/here)]
       (do (.point sim op kind port x)
           (refused sim kind port (try (apply f port x more) (finally (.passed sim)))))
       (apply f port x more)))))

(def ^:private operations
  "Var -> [the operation in which it may block, its kind of event]."
  {#'a/<!! [Operation/TAKE Trace$Kind/TAKE], #'a/>!! [Operation/PUT Trace$Kind/PUT], #'a/alts!! [Operation/ALTS Trace$Kind/ALTS]
   #'a/<! [Operation/TAKE Trace$Kind/TAKE], #'a/>! [Operation/PUT Trace$Kind/PUT], #'a/alts! [Operation/ALTS Trace$Kind/ALTS]
   #'a/take! [Operation/NONE Trace$Kind/TAKE], #'a/put! [Operation/NONE Trace$Kind/PUT]
   #'a/close! [Operation/NONE Trace$Kind/CLOSE]})

(defn- trying
  "Returns `f`, an operation on a port that does not wait, with a point before it. If (failed? value), the story says `failure`."
  [kind failed? failure f]
  (let [f (operation Operation/NONE kind f)]
    (fn [& args]
      (let [v (apply f args)]
        (when (failed? v)
          (when-some [^Simulation sim (Simulation/here)] (.note sim Trace$Kind/FAILED (first args) failure)))
        v))))

;;;; Atoms, volatiles, refs and agents: a point before each read and write

(defn- shared? [x]
  (or (instance? IAtom x) (instance? Volatile x) (instance? Ref x) (instance? Agent x)))

(defn- tell [^Simulation sim kind x value]
  (when (.keepsEvents sim) (.note sim kind x (preview value))))

(defn- pointed
  "Returns `f`, which changes its first argument, with a point before it. (set-to args value), of the other arguments and the
  value of `f`, returns what was set, or ::unset."
  [set-to f]
  (fn [x & more]
    (let [sim (Simulation/here)]
      (if (and sim (.atoms ^Simulation sim) (shared? x))
        (do (.point ^Simulation sim Operation/NONE Trace$Kind/AT x nil)
            (let [v (apply f x more), value (set-to more v)]
              (if (= ::unset value)
                (.note ^Simulation sim Trace$Kind/UNSET x nil)
                (tell sim Trace$Kind/WRITE x value))
              v))
        (apply f x more)))))

(defn- giving
  "Returns `f`, the function deliver, with a point before it."
  [f]
  (fn [p x]
    (let [sim (Simulation/here)]
      (if (and sim (.atoms ^Simulation sim))
        (do (.point ^Simulation sim Operation/NONE Trace$Kind/AT p nil)
            (let [v (f p x)]
              (tell sim Trace$Kind/DELIVER p x)
              (when (nil? v) (.note ^Simulation sim Trace$Kind/FAILED p "it is too late"))
              v))
        (f p x)))))

(defn- reading
  "Returns `f`, the function deref, with a point before it, or before it waits."
  [f]
  (fn
    ([x]
     (let [sim (Simulation/here)]
       (cond
         (nil? sim) (f x)
         (and (shared? x) (.atoms ^Simulation sim))
         (do (.point ^Simulation sim Operation/NONE Trace$Kind/AT x nil)
             (let [v (f x)]
               (tell sim Trace$Kind/READ x v)
               v))
         (instance? IPending x) (do (.touches ^Simulation sim x)
                                    (.awaitWithoutThreads ^Simulation sim #(.isRealized ^IPending x))
                                    (.note ^Simulation sim Trace$Kind/DEREF x nil)
                                    (f x))
         :else (f x))))
    ([x ms value]
     (if-some [^Simulation sim (Simulation/here)]
       (Members/deref sim x (long ms) value f)
       (f x ms value)))))

(defn- ensuring
  "Returns `f`, the function ensure, with a point before it."
  [f]
  (fn [x]
    (let [sim (Simulation/here)]
      (if (and sim (.atoms ^Simulation sim))
        (do (.point ^Simulation sim Operation/NONE Trace$Kind/AT x nil)
            (let [v (f x)]
              (tell sim Trace$Kind/READ x v)
              v))
        (f x)))))

(defn- sending
  "Returns `f`, which sends an action to an agent, the argument with number `i`, with a point before it."
  [i f]
  (fn [& args]
    (let [sim (Simulation/here), agent (nth args i nil)]
      (when (and sim (.atoms ^Simulation sim))
        (.point ^Simulation sim Operation/NONE Trace$Kind/SEND agent nil))
      (apply f args))))

(defn- asking [f]
  (fn [x]
    (when-some [^Simulation sim (Simulation/here)] (.touches sim x))
    (f x)))

;;;; Limiters: the story says that a permit is given back

(defn- giving-back [f]
  (fn give-back
    ([permit] (give-back permit :ok)) ; f's own would call the wrapped function again
    ([permit outcome]
     (f permit outcome)
     (when-some [^Simulation sim (Simulation/here)]
       (when (and (.keepsEvents sim) (instance? Permit permit))
         (.note sim Trace$Kind/GIVES_BACK (.-limiter ^Permit permit) nil))))))

;;;; Scopes: the story says that a task waits for the end of one

(defn- closing [f]
  (fn [^Region$Owner scope]
    (let [done (f scope)]
      (when-some [^Simulation sim (Simulation/here)]
        (when (.keepsEvents sim) (.note sim Trace$Kind/CLOSING {:scope scope :done done} nil)))
      done)))

;;;; Cancellations

(defn- cancelling
  "Returns `f`, which cancels its argument, `what` in words. The story says so, unless `f` returns false."
  [what f]
  (fn [x]
    (let [v (f x)]
      (when-some [^Simulation sim (Simulation/here)]
        (when-not (false? v) (.note sim Trace$Kind/CANCEL nil what)))
      v)))

;;;; Random numbers

(defn- drawn
  "Returns `rand` for simulations, from their seeds. Elsewhere it calls `f`."
  [f]
  (fn
    ([] (if (Simulation/here) (World/drawDouble) (f)))
    ([n] (if (Simulation/here) (* (double n) (World/drawDouble)) (f n)))))

(defn- drawn-int [f]
  (fn [n] (if (Simulation/here) (int (* (double n) (World/drawDouble))) (f n))))

(defn- drawn-nth [f]
  (fn [coll] (if (Simulation/here) (nth coll (int (* (count coll) (World/drawDouble)))) (f coll))))

(defn- drawn-order [f]
  (fn [^java.util.Collection coll]
    (if (Simulation/here)
      (let [items (java.util.ArrayList. coll)]
        (java.util.Collections/shuffle items (java.util.Random. (long (* 1e15 (World/drawDouble)))))
        (vec items))
      (f coll))))

(defn- drawn-uuid [f]
  (fn []
    (if (Simulation/here)
      (let [half (fn [] (long (* 9e18 (- (World/drawDouble) 0.5))))]
        (java.util.UUID. (bit-or 0x4000 (bit-and-not (long (half)) 0xf000))
                         (bit-set (bit-clear (long (half)) 62) 63)))
      (f))))

;;;; All of them

(def ^:private wrappers
  "Var -> function of its value that returns what takes its place."
  (merge
    (update-vals operations (fn [[op what]] (partial operation op what)))
    {#'clojure.core/deref reading
     #'clojure.core/deliver giving
     #'clojure.core/realized? asking
     #'clojure.core/ensure ensuring
     #'clojure.core/send (partial sending 0)
     #'clojure.core/send-off (partial sending 0)
     #'clojure.core/send-via (partial sending 1)
     #'limit/release! giving-back
     #'scope/closing closing
     #'scope/cancel! (partial cancelling "a scope")
     #'clojure.core/future-cancel (partial cancelling "a future")
     #'clojure.core/rand drawn
     #'clojure.core/rand-int drawn-int
     #'clojure.core/rand-nth drawn-nth
     #'clojure.core/shuffle drawn-order
     #'clojure.core/random-uuid drawn-uuid}
    {#'a/poll! (partial trying Trace$Kind/POLL nil? "its poll! gets nothing")
     #'a/offer! (partial trying Trace$Kind/OFFER not "its offer! fails")
     #'clojure.core/compare-and-set! (partial pointed (fn [[_ new] set?] (if set? new ::unset)))}
    (zipmap [#'clojure.core/swap! #'clojure.core/reset! #'clojure.core/vreset!
             #'clojure.core/alter #'clojure.core/commute #'clojure.core/ref-set]
            (repeat (partial pointed (fn [_ v] v))))
    (zipmap [#'clojure.core/swap-vals! #'clojure.core/reset-vals!] (repeat (partial pointed (fn [_ [_ new]] new))))))

(defonce ^:private state (atom {:users 0 :before nil})) ; changed under its own monitor

(defn install!
  "Wraps the functions, unless another simulation has."
  []
  (locking state
    (when (zero? (long (:users @state)))
      (Members/install)
      (reset! state {:users 0 :before (into {} (map (juxt identity deref)) (keys wrappers))})
      (doseq [[v before] (:before @state)] (alter-var-root v (constantly ((wrappers v) before)))))
    (swap! state update :users inc)))

(defn uninstall!
  "Puts back what `install!` has wrapped, when the last simulation has ended."
  []
  (locking state
    (when (zero? (long (:users (swap! state update :users dec))))
      (doseq [[v before] (:before @state)] (alter-var-root v (constantly before)))
      (Members/uninstall))))
