;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async
  "core.async's public vars: those of skein.async, with core.async's exceptions. Also loads core.async's other namespaces,
  as core.async does, because the expansions of its macros name them without requiring them."
  (:refer-clojure :exclude [into map merge partition partition-by reduce take transduce])
  (:require
   [clojure.core.async.impl.buffers]
   [clojure.core.async.impl.channels]
   [clojure.core.async.impl.dispatch]
   [clojure.core.async.impl.ioc-macros :as ioc]
   [clojure.core.async.impl.protocols]
   [clojure.core.async.impl.timers]
   [skein.async]
   [skein.async.spi]
   [skein.bridge.deprecated]
   [skein.bridge.mirror :as mirror]
   [skein.impl.alt :as alt]
   [skein.impl.async.hubs]
   [skein.impl.block :as block]
   [skein.impl.threads :as threads]))

(set! *warn-on-reflection* true)

(def ^:private own
  "Vars that core.async does not have: a library that refers all of core.async may define these names."
  '#{<!!within <!within <? <?? async cause close-with! closed? label! rethrow})

(def ^:private different
  "What is defined below: exceptions are reported at once here, and not passed on, and a function takes a primitive."
  '#{go go-loop io-thread thread thread-call timeout})

(doseq [[sym v] (ns-publics 'skein.async) :when (not (or (own sym) (different sym)))]
  (mirror/mirror! *ns* v))

(doseq [v (concat
            (vals (ns-publics 'skein.bridge.deprecated))
            (vals (apply dissoc (ns-publics 'skein.impl.async.hubs) '[mult mix pub]))
            (mapv find-var '[skein.async.spi/fn-handler skein.async.spi/do-alts skein.async.spi/unblocking-buffer?
                             skein.impl.block/defblockingop]))]
  (mirror/mirror! *ns* v))

(defn do-alt
  "Returns the form that an `alt!` expands to; `alts` is the symbol of the function that chooses."
  [alts clauses]
  (alt/alt-form alts clauses))

(defmacro go
  "See skein.async/go. If the body throws, the thread's uncaught-exception handler gets the exception at once."
  {:style/indent 0, :skein.impl.go/block true}
  [& body]
  (block/compile-reporting-go &env body &form))

(defmacro ^{:style/indent 1} go-loop
  "Like (go (loop bindings body...))."
  [bindings & body]
  `(go (loop ~bindings ~@body)))

(defn thread-call
  "See skein.async/thread-call. If `f` throws, the thread's uncaught-exception handler gets the exception at once."
  ([f] (threads/call f :mixed nil true))
  ([f workload] (threads/call f workload nil true)))

(defmacro ^{:style/indent 0} thread
  "Runs the body on a platform thread; see `thread-call`."
  [& body]
  `(thread-call (^:once fn* [] ~@body) :mixed))

(defmacro ^{:style/indent 0} io-thread
  "Runs the body on a virtual thread; see `thread-call`."
  [& body]
  `(thread-call (^:once fn* [] ~@body) :io))

(defn timeout
  "See skein.async/timeout. It takes a primitive, because code compiled with core.async passes one."
  [^long msecs]
  (skein.async/timeout msecs))

(defn ioc-alts!
  "The step that core.async's compiler makes of an `alts!`. `state` is a state machine of
  clojure.core.async.impl.ioc-macros. When an operation is done, the machine continues at the block
  `cont-block`. Returns :recur if one is done at once. Skein's own blocks never call it."
  [state cont-block ports & {:as opts}]
  (ioc/alts state cont-block ports opts))
