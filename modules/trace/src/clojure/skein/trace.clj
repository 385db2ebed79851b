;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace
  "Tracing that leaves the program as it is: calls, forms, exceptions, verbosity.

  * calls: `trace-vars` `trace-ns` `deftrace` `with-traced`, and to end it `untrace-vars`
    `untrace-ns` `untrace-all`; `traced` `traceable`
  * forms: `trace-forms` names the form that failed; `p` shows a form's value
  * exceptions, those of go blocks too: `pst` `exceptions` `async-trace`
  * output: `add-sink!` `set-format!` `with-limits`; as data `records` `tree`
  * verbosity: `*verbose*` `with-verbose` `printfv` `printlnv` `condv` `ifv`

      (defn half [n] (/ n 2))
      (with-traced {:sink :ring} [half] (half 8))
      (select-keys (last (records)) [:args :value])
      ;=> {:args [\"8\"], :value \"4\"}

  It does what org.clojure/tools.trace does, under the same names, and prints as that
  does after (set-format! :tools.trace). doc/trace.md is the guide."
  (:require
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.trace.async :as async]
   [skein.trace.call :as call]
   [skein.trace.event :as event]
   [skein.trace.exceptions :as exceptions]
   [skein.trace.form :as form]
   [skein.trace.records :as records]
   [skein.trace.sink :as sink]
   [skein.trace.vars :as vars]
   [skein.trace.verbose :as verbose])
  (:import
   (java.util.regex Pattern)
   (skein.rt.watch Failures)))

(set! *warn-on-reflection* true)

(doseq [place ["trace" "trace.form" "trace.call" "trace.wrap" "trace.vars"]]
  (Failures/addMachinery (str "skein." place "$"))) ; say nothing about the user's code in a stack trace

;;;; Output

(defn add-sink!
  "Adds a sink under the key `k`: events go there where no other sink is named. Returns `k`.

  x   :out, :err, :ring, :tap, {:file path}, a function of an event, or a vector of these

  At first there is :out, a line of text for each event. An event is a map, see
  `skein.trace.event`. Throws :skein/bad-sink."
  ([k] (add-sink! k k))
  ([k x] (sink/add! k x)))

(defn remove-sink!
  "Takes out the sink with the key `k`. Returns whether there was one."
  [k]
  (sink/remove! k))

(defn sinks
  "Returns the keys of the sinks in use where no other is named."
  []
  (sink/standard-keys))

(defn set-format!
  "Sets the format of text where none is named: :skein or :tools.trace. Returns it."
  [format]
  (sink/check-format! format)
  (reset! sink/standard-format format))

(defmacro with-limits
  "Evaluates the body with limits on what is traced in it, and in blocks begun in it.

  :depth    calls inside one another that are shown, default 64
  :calls    calls that are shown in all
  :rate     [n ms]: calls that are shown in ms milliseconds
  :length :level :chars   of a value: elements, nesting, characters; default 20, 5, 400

  Calls beyond a limit are made, but not shown; `dropped` counts them. Throws :skein/bad-option
  and :skein/bad-number."
  {:style/indent 1}
  [limits & body]
  `(binding [call/*limits* (call/limits ~limits)] ~@body))

(defn dropped
  "Returns {:calls n, :sink-failures n}: how many calls limits have kept from the sinks, and
  how many times a sink has thrown."
  []
  {:calls (.get call/n-dropped), :sink-failures (.get event/sink-failures)})

(defn events
  "Returns the events that the :ring sink has kept, oldest first."
  []
  (sink/events))

(defn clear!
  "Forgets the events that the :ring sink has kept. Returns nil."
  []
  (sink/clear!))

(defn records
  "Returns a map for each call of which the :ring sink knows, in the order of their beginnings:
  {:id :parent :depth :name :file :line :args :thread :block :t}, :outcome of :returned,
  :threw or :running, with that :value or :error and :elapsed-ns, and :async for what
  became of a block whose port was returned."
  []
  (records/records (events)))

(defn tree
  "Returns the `records` of calls that were made outside of any other, each with the calls in it
  under :children."
  []
  (records/tree (records)))

(defn print-tree
  "Prints the last `n` trees of `tree`, a line a call. Returns nil. `n` is 20 by default."
  ([] (print-tree 20))
  ([n]
   (check/whole "n of print-tree" n 0)
   (let [roots (tree)
         n-left (- (count roots) (long n))]
     (when (pos? n-left) (println (str "… " n-left " earlier calls")))
     (run! println (records/lines (take-last n roots))))))

;;;; Values

(defn trace
  "Gives `value` to the sinks, under the name `tag` if there is one, and returns it.

      (trace :sum (+ 1 2))
      ;=> 3"
  ([value] (trace nil value))
  ([tag value]
   (event/quietly
     (fn tell-value []
       (event/emit! (sink/standard-sinks) (call/told :value {:name tag, :value (call/text value)}))))
   value))

(defmacro ^{:style/indent 0} p
  "Gives a line with file, line, form and value to the sinks, and returns the value. Before a
  form, #skein/p does the same.

      (p (+ 1 2))
      ;=> 3"
  [form]
  `(verbose/fired! '~(verbose/site-of (if (meta form) form &form)) ~(error/preview form) ~form))

(defn read-p
  "Returns the form that #skein/p makes of the form after it."
  [form]
  (with-meta (list `p form) (meta form)))

;;;; Vars

(defn- options-and-names [args]
  (if (map? (first args)) [(first args) (rest args)] [nil args]))

(defn- name-form
  "A form for what stands for a var in a macro: a symbol, #'a-symbol, or an expression."
  [x]
  (cond
    (symbol? x) (list 'quote x)
    (and (seq? x) (#{'var 'quote} (first x))) (list 'quote (second x))
    :else x))

(def ^:private ^:const max-notes "Told when vars are traced together." 8)

(defn- tell-notes! [vs sinks-fn]
  (let [notes (for [v vs, :let [note (vars/note v)], :when note]
                (str (symbol ^clojure.lang.Var v) ": " note))
        n-left (- (count notes) (long max-notes))]
    (run! (fn tell [note] (event/emit! (sinks-fn) (call/told :note {:value note})))
          (cond-> (vec (take max-notes notes))
            (pos? n-left) (conj (str "of " n-left " more of these vars, too, some calls are not seen"))))))

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

(defn trace-vars*
  "As `trace-vars`, for vars, or for symbols as seen from the namespace `n`."
  [options n names]
  (let [vs (vars-of n names)]
    (trace-all! vs :always options)
    vs))

(defn untrace-vars*
  "As `untrace-vars`, for vars, or for symbols as seen from the namespace `n`."
  [n names]
  (untrace-each! (event/unobserved (fn resolve-all [] (vars-of n names))) :always))

(defmacro ^{:style/indent 0} trace-vars
  "Tells the sinks of each call of the functions in these vars. Returns the vars.

  vars   symbols, of private vars too, or vars; before them perhaps a map:

  :sink     see `add-sink!`; :format: :skein or :tools.trace
  :group?   true: a line waits until the outermost call around it ends, at most 5 s, and then the
            calls of a thread or block are printed as one

  Functions, primitive ones too, multimethods and protocol functions; they stay traced when
  they are defined anew, get another method or are extended. What calls do not go through
  the var is not seen; a :note tells of it. Throws :skein/not-traceable, :skein/bad-sink,
  :skein/bad-format, :skein/bad-option."
  [& vars]
  (let [[options names] (options-and-names vars)]
    `(trace-vars* ~options '~(ns-name *ns*) [~@(map name-form names)])))

(defmacro ^{:style/indent 0} untrace-vars
  "Puts back into these vars what they would hold without `trace-vars`. Returns nil."
  [& vars]
  `(untrace-vars* '~(ns-name *ns*) [~@(map name-form vars)]))

(defn traced
  "Returns the vars that are traced."
  []
  (vars/traced))

(defn untrace-all
  "Ends all `trace-vars` and `trace-ns`. Returns nil."
  []
  (untrace-each! (event/unobserved traced) :always))

(defn- as-var [x]
  (vars/resolve-var *ns* x))

(defn traced?
  "Returns whether a var, or what a symbol means in *ns*, is traced."
  [v]
  (contains? (set (traced)) (as-var v)))

(defn traceable
  "Returns what a var, or what a symbol means in *ns*, holds: :fn, :prim-fn, :multimethod or
  :protocol-fn; or [:no reason].

      (traceable #'clojure.core/when)
      ;=> [:no \"it is a macro, whose calls are over when the program runs\"]"
  [v]
  (vars/traceable (as-var v)))

(defn traceable?
  "Returns whether a var, or what a symbol means in *ns*, can be traced."
  [v]
  (keyword? (traceable v)))

(defn- own-namespace? [n]
  (re-matches #"clojure\.core|skein\.(trace|impl)(\..*)?(?<!-test)" (str (ns-name n))))

(def ^:private name-options
  "Option -> what its value must be; see skein.impl.check/options."
  (let [names [(fn names? [x] (or (set? x) (instance? Pattern x))) "a pattern or a set of symbols"]]
    {:match names, :except names}))

(defn trace-ns*
  "Traces what can be traced in the namespace `n`, a namespace or its name; see `trace-ns`."
  [options n]
  (let [{:keys [match except] :as options} (check/options "trace-ns" options (merge sink/options name-options))
        n (vars/find-namespace n)
        hit? (fn hit? [x sym] (if (set? x) (contains? x sym) (re-find x (name sym))))]
    (when (own-namespace? n)
      (error/fail! :skein/not-traceable
                   (str "Can't trace " (ns-name n) ", because the tracer itself stands on it."
                        " Trace single vars of it with trace-vars.")
                   {:ns (ns-name n)}))
    (let [vs (vars/namespace-vars n (fn wanted? [sym] (and (or (nil? match) (hit? match sym))
                                                           (not (and except (hit? except sym))))))]
      (trace-all! vs :always (dissoc options :match :except))
      (vec vs))))

(defn untrace-ns*
  "Ends the tracing of all vars of the namespace `n`, a namespace or its name."
  [n]
  (untrace-each! (vals (ns-interns (vars/find-namespace n))) :always))

(defn- ns-form
  "A form for the namespace that `n` names where it is written, whatever *ns* is when the form runs."
  [n]
  (if (symbol? n) `(trace-ns-of '~n '~(ns-name *ns*)) n))

(defn trace-ns-of
  "Returns the namespace that `sym` means in the namespace `here`: its name, an alias, or a var that holds one."
  [sym here]
  (or (find-ns sym)
      (get (ns-aliases here) sym)
      (when-some [v (ns-resolve here sym)] (vars/find-namespace (deref v)))
      (vars/find-namespace sym)))

(defmacro trace-ns
  "Traces the functions of a namespace, a symbol or an expression that gives one. Returns the vars.
  Before the namespace perhaps a map:

  :match :except   a pattern for names, or a set of symbols: which vars
  :sink :format :group?   see `trace-vars`

  Refuses clojure.core and the tracer's own namespaces with :skein/not-traceable."
  {:style/indent 0
   :arglists '([n] [options n])}
  ([n] `(trace-ns* nil ~(ns-form n)))
  ([options n] `(trace-ns* ~options ~(ns-form n))))

(defmacro ^{:style/indent 0} untrace-ns
  "Ends what `trace-ns` has begun. Returns nil."
  [n]
  `(untrace-ns* ~(ns-form n)))

(defmacro deftrace
  "As `defn`, and traces the function. The format :tools.trace prints its name without the namespace."
  {:style/indent :defn}
  [fn-name & fn-tail]
  (when-not (simple-symbol? fn-name) (vars/refuse! fn-name "deftrace takes the name of a function, a symbol"))
  `(do (defn ~(vary-meta fn-name assoc ::deftrace true) ~@fn-tail)
       (first (trace-vars* nil '~(ns-name *ns*) ['~fn-name]))))

(defn ^:no-doc with-traced*
  "Calls `f` with calls of the vars that `names` mean in the namespace `n` traced, as far as they
  are made by `f` and by blocks and threads that carry its bindings, until it ends."
  [n options names f]
  (let [token (Object.)
        vs (vars-of n names)]
    (try
      (trace-all! vs token options)
      (binding [call/*tokens* (conj call/*tokens* token)]
        (f))
      (finally (untrace-each! vs token)))))

(defmacro with-traced
  "Evaluates the body with these vars traced for the calls made in it, and in go blocks and
  futures begun in it, until it ends. Before the vector perhaps a map of options, see `trace-vars`."
  {:style/indent 1}
  [& args]
  (let [[options [names & body]] (options-and-names args)]
    (when-not (vector? names)
      (vars/refuse! names "with-traced takes a vector of vars"))
    `(with-traced* '~(ns-name *ns*) ~options [~@(map name-form names)] (fn ~'traced-body [] ~@body))))

(defmacro ^{:style/indent 1} dotrace
  "Evaluates the body with these vars traced for the calls made in it. As tools.trace's; differs: the
  vars need not be dynamic."
  [names & body]
  `(with-traced [~@names] ~@body))

(defn trace-var*
  "Traces one var, given as a var or as a symbol with `n`, its namespace. As tools.trace's."
  ([v] (trace-vars* nil (ns-name *ns*) [v]) nil)
  ([n sym] (trace-vars* nil (ns-name n) [sym]) nil))

(defn untrace-var*
  "Ends `trace-var*`. As tools.trace's."
  ([v] (untrace-vars* (ns-name *ns*) [v]))
  ([n sym] (untrace-vars* (ns-name n) [sym])))

(defn trace-fn-call
  "Calls `f` with `args` and tells the sinks, as of a call of `fn-name`. As tools.trace's."
  [fn-name f args]
  (when (some? args) (check/collection "args of trace-fn-call" args))
  (vars/call-as fn-name (check/function "f of trace-fn-call" f) args))

;;;; Forms

(def ^:private form-options
  (assoc (select-keys sink/options [:sink :format]) :args? [any? "true or false"]))

(defmacro trace-forms
  "Evaluates the body as it is, and when it throws, names the innermost form that failed, with its
  place: to the sinks, in the stack trace, and in `pst`. Value and exception, the same object,
  are those of the body; laziness, primitives and recur stay.

  An options map may come first; alone it is the body:

  :args?    true: tells the values of the failed call's arguments; this boxes primitives
  :sink :format   see `trace-vars`

  Functions in the body are covered when they are called later; so are go blocks, across their
  parks. Throws when it is compiled :skein/bad-recur for a recur to something outside, and
  :skein/nested-too-deep."
  {:style/indent 0}
  [& body]
  (let [[options body] (if (and (map? (first body)) (next body)) [(first body) (rest body)] [nil body])
        options (check/options "trace-forms" options form-options)
        args? (boolean (:args? options))
        options (not-empty (dissoc options :args?))]
    (if options
      (let [local (gensym "options__")]
        (list 'let* [local options] (with-meta (list* `form/instrumented local args? body) (meta &form))))
      (with-meta (list* `form/instrumented nil args? body) (meta &form)))))

;;;; Exceptions

(defn exceptions
  "Returns the last exceptions that ended a go block or that nobody took from an async block, newest
  last, at most 16: {:error :at :site :trace}, see `async-trace`, and :form if `trace-forms` knows
  the form that failed, and :because if the block was given nil by one that had failed."
  []
  (exceptions/recent))

(defn last-exception
  "Returns the newest exception: that of *e, or one of `exceptions` if that is later; or nil."
  []
  (exceptions/newest))

(defn async-trace
  "Returns the stack trace of an exception as data, user frames first: maps of :via (:frame,
  :awaited-by, :spawned-by), :ns, :fn, :file, :line, and :op for a park."
  [error]
  (exceptions/async-trace (check/instance :skein/not-an-exception "error of async-trace" error Throwable "an exception")))

(defn set-spawn-traces!
  "Has each block note who spawned it, for the stack trace if it fails, or no longer. Returns `on?`.
  That costs a microsecond or two for each block; who awaits a block is known without it."
  [on?]
  (async/set-spawn-traces! on?))

(defn pst
  "Prints exceptions to *err*, with their causes, blocks that waited, and failed forms. Returns nil.

  error   the exception, by default `last-exception`; :all: each of `exceptions`
  depth   how many frames of each, default 12

  Throws :skein/not-an-exception and :skein/bad-number."
  ([] (pst nil 12))
  ([x] (if (integer? x) (pst nil x) (pst x 12)))
  ([error depth] (exceptions/print-to *err* error depth)))

;;;; Verbosity

(def ^:dynamic *verbose*
  "Whether `printfv` and the like speak: false, true, or a set of the tags that do. Go blocks
  and Skein's threads see the binding of the code that began them."
  false)

(defn set-verbose!
  "Sets the root of *verbose*, which every thread sees that has no binding of it. Returns `level`."
  [level]
  (alter-var-root #'*verbose* (constantly level)))

(defn verbose?
  "Returns whether code speaks that has `tag`, or that has none."
  ([] (verbose? nil))
  ([tag] (verbose/verbose? *verbose* tag)))

(defmacro with-verbose
  "Evaluates the body with *verbose* true, or if a vector of tags comes first, with these alone.

      (with-verbose [:db] [(verbose? :db) (verbose? :net) (verbose?)])
      ;=> [true false false]"
  {:style/indent 0}
  [& body]
  (if (and (vector? (first body)) (next body))
    `(binding [*verbose* (set ~(first body))] ~@(rest body))
    `(binding [*verbose* true] ~@body)))

(defmacro ^{:style/indent 0} printfv
  "Prints a line, formatted as by `format`, with file and line of the call, if verbose. A keyword before
  the format is its tag. The arguments are evaluated only then. Returns nil."
  [& args]
  (let [[tag args] (if (keyword? (first args)) [(first args) (rest args)] [nil args])]
    `(when (verbose? ~tag)
       (verbose/say! '~(verbose/site-of &form) (format ~@args)))))

(defmacro ^{:style/indent 0} printlnv
  "Prints a line of the arguments, as `println` does, with file and line of the call, if verbose. Returns
  nil."
  [& args]
  `(when (verbose?)
     (verbose/say! '~(verbose/site-of &form) (apply str (interpose " " [~@args])))))

(defmacro ^{:style/indent 0} condv
  "As `cond`, and if verbose, says which clause has fired, or that none has.

      (condv (neg? 1) :negative, :else :positive)
      ;=> :positive

  While quiet, values are in tail position. Verbose, the value is told too, unless the clause
  recurs or holds a condv, and then it stays in tail position. Throws :skein/bad-condv when it
  is compiled."
  [& clauses]
  (verbose/check-clauses! &form clauses)
  (let [site (list 'quote (verbose/site-of &form))]
    (reduce (fn clause [else [test form]]
              (let [text (str "condv " (error/preview test) " fired")]
                `(if ~test ~(verbose/clause-form &env site `(verbose?) text form) ~else)))
            `(when (verbose?) (verbose/say! ~site "condv: no clause fired"))
            (reverse (partition 2 clauses)))))

(defmacro ^{:style/indent 1} ifv
  "As `if`, and if verbose, says which way it went; see `condv`."
  ([test then] `(ifv ~test ~then nil))
  ([test then else]
   (let [site (list 'quote (verbose/site-of &form))
         branch (fn branch [outcome form]
                  (verbose/clause-form &env site `(verbose?) (str "ifv " (error/preview test) " " outcome) form))]
     `(if ~test ~(branch "true" then) ~(branch "false" else)))))
