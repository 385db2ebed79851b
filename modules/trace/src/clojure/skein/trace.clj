;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace
  "Tracing without changes to the program: calls, and forms that failed.

  * calls: `trace-vars` `trace-ns` `with-traced`; to end tracing `untrace-vars`
    `untrace-ns` `untrace-all`; `status` `traceable`
  * forms: `trace-forms` names the form that failed; `p` shows a form's value
  * output: `add-sink!` `with-limits`; as data `events` `records`

  doc/trace.md is the guide. `skein.errors` prints exceptions, those of blocks too. `skein.tools-trace` has the names
  of org.clojure/tools.trace.

      (defn half [n] (/ n 2))
      (with-traced {:sink :ring} [half] (half 8))
      (select-keys (last (records)) [:args :value])
      ;=> {:args [\"8\"], :value \"4\"}

  A sink gets events. An event is a map with these keys; one that has no meaning for an event is nil.

  - :phase       what has happened:
    - :call :return :throw
    - :limit: a limit is reached, and further calls are not shown
    - :async-return :async-throw: the block of a returned port has ended
    - :form: a form of `trace-forms` has failed
    - :value: the program has called `trace` of skein.tools-trace
    - :verbose: the program has used `p`, or a macro of skein.trace.verbose
    - :note: not all calls of a traced function can be seen
  - :id          the number of the call, from 1
  - :parent      the number of the call around it
  - :group       the number of the outermost call around it in the same thread or block
  - :depth       how many calls are around it
  - :name        the function's symbol, with namespace
  - :file :line  where the function is defined
  - :args        the arguments, a vector of texts
  - :value       the value, a text
  - :error       the exception
  - :thread      the name of the thread
  - :block       the number of the go block
  - :t           milliseconds since 1970
  - :elapsed-ns  nanoseconds since the call"
  (:require
   [skein.errors :as errors]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.trace.call :as call]
   [skein.trace.event :as event]
   [skein.trace.form :as form]
   [skein.trace.records :as records]
   [skein.trace.report :as report]
   [skein.trace.say :as say]
   [skein.trace.sink :as sink]
   [skein.trace.vars :as vars])
  (:import
   (java.util.regex Pattern)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(doseq [place ["trace" "trace.form" "trace.call" "trace.wrap" "trace.vars"]]
  (Failures/addMachinery (str "skein." place "$"))) ; their frames are left out of stack traces

(errors/set-form-of! report/of)

;;;; Output

(defn add-sink!
  "Adds a default sink under the key `k`, or replaces the one that is there. A default sink gets an event unless
  the option :sink names another. Returns `k`.

  - options   a map, may be left out: :format and :group?, see `trace-vars`
  - x         :out, :err, :ring, :tap, {:file path}, a function of an event, or a vector of these

  At first the only one is :out, which prints a line for each event. A function is called on the thread of the
  event, and its exceptions are counted. Throws :skein/bad-argument."
  ([k] (add-sink! k k))
  ([k x] (add-sink! nil k x))
  ([options k x] (sink/add! options k x)))

(defn remove-sink!
  "Removes the default sink with the key `k`. Returns whether there was one."
  [k]
  (sink/remove! k))

(defn status
  "Returns what is traced, where it goes, and what was left out:
  {:traced vars, :sinks keys, :dropped n, :sink-failures n}. :sinks has the keys of the default sinks. :dropped
  says how many calls were not shown because of a limit, and :sink-failures how many times a sink has thrown."
  []
  {:traced (vars/traced), :sinks (sink/standard-keys), :dropped (.get call/n-dropped), :sink-failures (.get event/sink-failures)})

(defmacro with-limits
  "Evaluates the body with limits on what is traced in it and in blocks that it starts.

  - :depth    how deep nested calls are shown, by default 64
  - :calls    how many calls are shown in total
  - :rate     `[n ms]`: at most n calls are shown in ms milliseconds
  - :length :level :chars   limits of a value: elements, nesting, characters; default 20, 5, 400

  Calls beyond a limit run, but are not shown; `status` counts them. Throws :skein/bad-argument."
  {:style/indent 1}
  [limits & body]
  `(binding [call/*limits* (call/limits ~limits)] ~@body))

(defn events
  "Returns the events that the :ring sink has kept, oldest first."
  []
  (sink/events))

(defn clear!
  "Removes the events that the :ring sink has kept. Returns nil."
  []
  (sink/clear!))

(defn records
  "Returns a map for each call in the :ring sink, in the order in which the calls began:
  {:id :parent :depth :name :file :line :args :thread :block :t}. :outcome is :returned,
  :threw or :running; an ended call has :elapsed-ns, and :value or :error. If the call returned
  the port of a block, :async is the outcome of that block.

  - options   a map, may be left out. :nested? true: the records of the outermost calls, each with those inside it
              under :children

  Throws :skein/bad-argument."
  ([] (records nil))
  ([options]
   (let [{:keys [nested?]} (check/options "records" options {:nested? [boolean? "true or false"]})]
     (cond-> (records/records (events))
       nested? records/tree))))

(defn print-tree
  "Prints the last `n` outermost calls in the :ring sink, with the calls inside them, one line for each call. `n` is 20 by default. Returns nil.
  Throws :skein/bad-argument."
  ([] (print-tree 20))
  ([n]
   (check/whole "n of print-tree" n 0)
   (let [roots (records {:nested? true})
         n-left (- (count roots) (long n))]
     (when (pos? n-left) (println (str "… " n-left " earlier calls")))
     (run! println (records/lines (take-last n roots))))))

;;;; Values

(defmacro ^{:style/indent 0} p
  "Sends the file, line and text of the form and its value to the sinks. Returns the value.
  #skein/p before a form does the same.

      (p (+ 1 2))
      ;=> 3"
  [form]
  `(say/fired! '~(say/site-of (if (meta form) form &form)) ~(error/preview form) ~form))

(defn ^:no-doc read-p
  "Returns the form that #skein/p puts in place of the form after it."
  [form]
  (with-meta (list `p form) (meta form)))

;;;; Vars

(defn- options-and-names [args]
  (if (map? (first args)) [(first args) (rest args)] [nil args]))

(defn- name-form
  "Returns a form for the argument of a macro that names a var: a symbol, #'a-symbol, or an
  expression."
  [x]
  (cond
    (symbol? x) (list 'quote x)
    (and (seq? x) (#{'var 'quote} (first x))) (list 'quote (second x))
    :else x))

(def ^:private ^:const max-notes "How many notes are sent when vars are traced together." 8)

(defn- tell-notes! [vs sinks-fn]
  (let [notes (for [v vs, :let [note (vars/note v)], :when note]
                (str (symbol ^clojure.lang.Var v) ": " note))
        n-left (- (count notes) (long max-notes))]
    (run! (fn tell [note] (event/emit! (sinks-fn) (call/told :note {:value note})))
          (cond-> (vec (take max-notes notes))
            (pos? n-left) (conj (str "some calls of " n-left " more of these vars are not seen either"))))))

(defn- trace-all! [vs token options]
  (event/unobserved
    (fn begin []
      (let [sinks-fn (sink/from-options options)]
        (run! vars/check! vs)
        (run! (fn trace-one [v] (vars/trace! v token sinks-fn)) vs)
        (tell-notes! vs sinks-fn)))))

(defn- untrace-each! [vs token]
  (event/unobserved
    (fn end [] (run! (fn untrace-one [v] (vars/untrace! v token)) vs))))

(defn- vars-of [n names]
  (mapv (fn var-of [x] (vars/resolve-var n x)) (check/collection "names" names)))

(defn ^:no-doc trace-vars*
  "Like `trace-vars`, for vars, or for symbols as seen from the namespace `n`."
  [options n names]
  (let [vs (vars-of n names)]
    (trace-all! vs :always options)
    vs))

(defn ^:no-doc untrace-vars*
  "Like `untrace-vars`, for vars, or for symbols as seen from the namespace `n`."
  [n names]
  (untrace-each! (event/unobserved (fn resolve-all [] (vars-of n names))) :always))

(defmacro ^{:style/indent 0} trace-vars
  "Sends each call of the functions in these vars to the sinks. Returns the vars.

  - options   a map, may be left out:
    - :sink     see `add-sink!`
    - :format   :skein or :tools.trace
    - :group?   true: the lines of a thread or block are printed together when its outermost call ends, or after 5 s
  - vars      vars, or symbols, which may name private vars

  Traces functions (also primitive ones), multimethods and protocol functions. They stay traced
  when they are redefined, get another method or are extended. Calls that do not go through the
  var are not seen; an event with the :phase :note says so. Throws :skein/bad-argument."
  [& vars]
  (let [[options names] (options-and-names vars)]
    `(trace-vars* ~options '~(ns-name *ns*) [~@(map name-form names)])))

(defmacro ^{:style/indent 0} untrace-vars
  "Ends `trace-vars` for these vars, and restores the values that they would have without tracing. Returns nil."
  [& vars]
  `(untrace-vars* '~(ns-name *ns*) [~@(map name-form vars)]))

(defn untrace-all
  "Ends all `trace-vars` and `trace-ns`. Returns nil."
  []
  (untrace-each! (event/unobserved vars/traced) :always))

(defn traceable
  "Returns what a var, or the var of a symbol in `*ns*`, holds: :fn, :prim-fn, :multimethod or
  :protocol-fn; or `[:no reason]` if it can't be traced. Throws :skein/bad-argument if there is no such var.

      (traceable #'clojure.core/when)
      ;=> [:no \"it is a macro, whose calls are over when the program runs\"]"
  [v]
  (vars/traceable (vars/resolve-var *ns* v)))

(defn- own-namespace? [n]
  (re-matches #"clojure\.core|skein\.(trace|impl)(\..*)?(?<!-test)" (str (ns-name n))))

(def ^:private name-options
  "Option -> what its value must be; see skein.impl.check/options."
  (let [names [(fn names? [x] (or (set? x) (instance? Pattern x))) "a pattern or a set of symbols"]]
    {:match names, :except names}))

(defn ^:no-doc trace-ns*
  "Traces all traceable vars of the namespace `n`, a namespace or its name; see `trace-ns`."
  [options n]
  (let [{:keys [match except] :as options} (check/options "trace-ns" options (merge sink/options name-options))
        n (vars/find-namespace n)
        hit? (fn hit? [x sym] (if (set? x) (contains? x sym) (re-find x (name sym))))]
    (when (own-namespace? n)
      (error/fail! :skein/bad-argument
                   (str "Can't trace " (ns-name n) ", because the tracer itself uses it."
                        " Trace single vars of it with trace-vars.")
                   {:ns (ns-name n)}))
    (let [vs (vars/namespace-vars n (fn wanted? [sym] (and (or (nil? match) (hit? match sym))
                                                           (not (and except (hit? except sym))))))]
      (trace-all! vs :always (dissoc options :match :except))
      (vec vs))))

(defn ^:no-doc untrace-ns*
  "Ends the tracing of all vars of the namespace `n`, a namespace or its name."
  [n]
  (untrace-each! (vals (ns-interns (vars/find-namespace n))) :always))

(defn- ns-form
  "Returns a form for the namespace that `n` names in the namespace where it is written."
  [n]
  (if (symbol? n) `(trace-ns-of '~n '~(ns-name *ns*)) n))

(defn ^:no-doc trace-ns-of
  "Returns the namespace that `sym` means in the namespace `here`: its name, an alias, or a var that holds one."
  [sym here]
  (or (find-ns sym)
      (get (ns-aliases here) sym)
      (when-some [v (ns-resolve here sym)] (vars/find-namespace (deref v)))
      (vars/find-namespace sym)))

(defmacro trace-ns
  "Traces the functions of a namespace. Returns the vars.

  - options   a map, may be left out: :match and :except, each a pattern for names or a set of symbols, choose the vars;
              for :sink, :format and :group? see `trace-vars`
  - n         a symbol, or an expression for a namespace or its name

  Refuses clojure.core and the tracer's own namespaces with :skein/bad-argument."
  {:style/indent 0
   :arglists '([n] [options n])}
  ([n] `(trace-ns* nil ~(ns-form n)))
  ([options n] `(trace-ns* ~options ~(ns-form n))))

(defmacro ^{:style/indent 0} untrace-ns
  "Ends `trace-ns` for a namespace. Returns nil."
  [n]
  `(untrace-ns* ~(ns-form n)))

(defn ^:no-doc with-traced*
  "Calls `f`. Until it ends, traces the vars `names`, seen from the namespace `n`. Only calls by
  `f`, and by blocks and threads with its bindings, are traced."
  [n options names f]
  (let [token (Object.)
        vs (vars-of n names)]
    (try
      (trace-all! vs token options)
      (binding [call/*tokens* (conj call/*tokens* token)]
        (f))
      (finally (untrace-each! vs token)))))

(defmacro with-traced
  "Evaluates the body after a vector of vars. Until it ends, traces these vars for calls made in the body,
  and in go blocks and futures that it starts. A map of options may come before the vector; see `trace-vars`."
  {:style/indent 1}
  [& args]
  (let [[options [names & body]] (options-and-names args)]
    (when-not (vector? names)
      (vars/refuse! names "with-traced takes a vector of vars"))
    `(with-traced* '~(ns-name *ns*) ~options [~@(map name-form names)] (fn ~'traced-body [] ~@body))))

;;;; Forms

(def ^:private form-options
  {:sink [any? "a sink"], :format [any? "a format"], :args? [any? "true or false"]}) ; the first two may be expressions

(defn ^:no-doc no-options
  "Returns `x`, the value of the first form in the body of `trace-forms`. Throws :skein/bad-argument if it is a map of options."
  [x]
  (check/no-options "trace-forms" x form-options "They must be a map in the source, {...}, because they are read when it is compiled."))

(defmacro trace-forms
  "Evaluates the body. If the body throws, names the innermost form that failed, with its file and
  line: to the sinks, in the stack trace, and in `skein.errors/pst`. Otherwise nothing changes: the value and
  the exception are the same objects; laziness, primitives and recur stay.

  An options map may come first. A map without other forms is the body:

  - :args?    true: shows the arguments of the failed call, which boxes primitives
  - :sink :format   see `trace-vars`

  Functions in the body are covered when they are called later, and go blocks across their parks.
  When it is compiled, throws :skein/block-too-large, or :skein/bad-block for a recur to a loop outside of the body."
  {:style/indent 0}
  [& body]
  (let [[x & more] body
        [options body] (cond
                         (nil? more) [nil body]
                         (map? x) [x more]
                         (or (seq? x) (symbol? x)) [nil (cons `(no-options ~x) more)]
                         :else [nil body])
        options (check/options "trace-forms" options form-options)
        args? (boolean (:args? options))
        options (not-empty (dissoc options :args?))]
    (if options
      (let [local (gensym "options__")]
        (list 'let* [local options] (with-meta (list* `form/instrumented local args? body) (meta &form))))
      (with-meta (list* `form/instrumented nil args? body) (meta &form)))))
