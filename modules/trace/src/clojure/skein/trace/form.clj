;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.form
  "Instruments code so that it records which of its forms failed, and is otherwise unchanged.

  `instrument` takes an expanded form (see `skein.impl.expand`). Before each call it
  writes the number of the form into a skein.trace.rt.Trail, after the arguments have been
  evaluated: in the last argument that is not a mere name or literal,

      (f (g x) y)  ->  (f (let* [v (g x)] mark v) y)

  so that evaluation order, inlining, type hints and primitives stay. One `try` is around
  the whole form. Each function or method in it has a `try` of its own, since it runs later.
  If a function recurs, its body becomes a loop in the `try`. A failure in a catch or finally
  clause is distinguished from the failure before it.

  The numbers index a table of rows [parent line column text]. The code contains the table as
  text, which is read only when a form fails. Each function has its own table, which includes
  the rows of the forms around the function.

  A context is {:trail symbol, :options symbol or nil, :rows volatile, :parent number,
  :args? boolean, :target :fn, :loop or nil}; :target says what a recur reaches."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.impl.expand :as expand]
   [skein.impl.forms :as forms]
   [skein.impl.go.ops :as ops]
   [skein.impl.internals :as internals]
   [skein.trace.print :as print]))

(set! *warn-on-reflection* true)

(declare walk)

(def ^:private trail-class 'skein.trace.rt.Trail)
(def ^:private ^:const max-depth 400)
(def ^:private row-limits {:length 20, :level 6, :chars 160})

;;;; Rows

(defn- source-text
  "Returns a form as text. Locals in literals, which the expander has renamed, get their names
  back."
  [source]
  (str/replace (print/text source row-limits) #"__\d+(?=[\s,)\]}]|$)" ""))

(defn- add-row
  "Adds the row of a form. Returns the row's number. A form that a macro made has no line and column."
  [{:keys [rows]} parent source]
  (let [{:keys [line column]} (meta source)
        n (count @rows)]
    (vswap! rows conj [parent line column (source-text source)])
    n))

(defn- outer-rows
  "Returns the rows of form `n` and of the forms around it, the outermost first, with new numbers."
  [rows n]
  (->> (iterate (fn parent [k] (first (nth rows k))) n)
       (take-while some?)
       reverse
       (map-indexed (fn renumber [i k] (assoc (nth rows k) 0 (when (pos? (long i)) (dec (long i))))))
       vec))

(defn- sugar?
  "Returns whether a macro call is only another way to write a dot form or `new`."
  [call]
  (let [op (first call)]
    (and (symbol? op)
         (or (str/starts-with? (name op) ".") (str/ends-with? (name op) ".")))))

(defn- with-rows
  "Returns the context for the parts of `form`. Adds rows for the macro calls that expanded to `form`,
  the outermost first, and for `form` itself."
  [ctx form]
  (let [{::expand/keys [source macros]} (meta form)
        [source macros] (if (and (seq macros) (sugar? (first macros)))
                          [(first macros) (rest macros)]
                          [source macros])
        parent (reduce (fn row [parent call] (add-row ctx parent call)) (:parent ctx) (reverse macros))]
    (assoc ctx :parent (add-row ctx parent (or source form)))))

;;;; Marks

(defn- call-static [method & args]
  (list '. trail-class (list* method args)))

(defn- simple?
  "Returns whether evaluating `form` can neither fail nor do anything."
  [form]
  (cond
    (seq? form) (contains? '#{quote fn* var} (first form))
    (or (map? form) (set? form)) false
    (vector? form) (and (nil? (meta form)) (every? simple? form))
    :else true))

(defn- code-meta
  "Returns the part of a form's metadata that the compiler uses."
  [form]
  (select-keys (meta form) [:line :column :tag]))

(defn- marked
  "Returns the form that `build` makes of `parts`. It evaluates the parts in their order, and then marks
  the form's number."
  [{:keys [trail parent]} form parts build]
  (let [build (fn located [parts] (with-meta (build parts) (code-meta form)))
        mark (call-static 'mark trail parent)
        parts (vec parts)
        k (last (keep-indexed (fn complex [i part] (when-not (simple? part) i)) parts))]
    (if (nil? k)
      (list 'do mark (build parts))
      (let [v (gensym "v__")]
        (build (assoc parts k (list 'let* [v (nth parts k)] mark v)))))))

(defn- marked-with-args
  "Like `marked`, but also records the values of all parts after the first `n-skipped`."
  [{:keys [trail parent]} form parts n-skipped build]
  (let [held (mapv (fn hold [part] (if (simple? part) [nil part] [(gensym "v__") part])) parts)
        values (mapv (fn value [[sym part]] (or sym part)) held)]
    (list 'let* (into [] cat (filter first held))
          (call-static 'mark trail parent (vec (drop n-skipped values)))
          (with-meta (build values) (code-meta form)))))

(defn- mark-call [ctx form parts n-skipped build]
  (if (:args? ctx)
    (marked-with-args ctx form parts n-skipped build)
    (marked ctx form parts build)))

;;;; Functions: a trail and a try of their own

(defn- text-form
  "Returns a form whose value is the table as text. It joins several strings: a string constant holds at most 65535 bytes."
  [rows]
  (let [chunks (map (fn chunk [part] (apply str (map (fn row [r] (str (pr-str r) " ")) part)))
                    (partition-all 100 rows))]
    (list* 'clojure.core/str (pr-str *file*) "[" (concat chunks ["]"]))))

(defn- guarded
  "Returns a form with a `try` around `body`, a seq of forms that mark their numbers in the context's trail.
  The `try` reports what they throw."
  [{:keys [trail options rows]} body]
  (let [t (gensym "t__")]
    (list 'let* [trail (list 'new trail-class)]
          (list* 'try
                 (concat body
                         [(list 'catch 'java.lang.Throwable t
                                (list 'skein.trace.report/failed! t trail (text-form @rows) options)
                                (list 'throw t))])))))

(defn- recurs?
  "Returns whether `form` contains a recur to a loop or function around `form`."
  [form]
  (and (seq? form)
       (case (first form)
         recur true
         loop* false
         (some (fn tail? [[role x]] (and (= :tail role) (recurs? x))) (forms/parts form)))))

(defn- own-context [{:keys [rows parent] :as ctx} target]
  (let [outer (if parent (outer-rows @rows parent) [])]
    (assoc ctx :trail (gensym "trail__") :target target :rows (volatile! outer)
           :parent (when parent (dec (count outer))))))

(defn- walk-body
  "Returns the instrumented body of a method with `params`. A recur does not pass the parameter `self`."
  [ctx params self body]
  (let [params (map (fn bare [p] (with-meta p nil)) (remove #{'& self} params))
        loops? (some recurs? body)
        ctx (own-context ctx (if loops? :loop :fn))
        before (count @(:rows ctx))
        walked (mapv (fn walk-one [form] (walk ctx form)) body)]
    (cond
      (= before (count @(:rows ctx))) body
      loops? [(guarded ctx [(list* 'loop* (into [] (mapcat (fn same [p] [p p])) params) walked)])]
      :else [(guarded ctx walked)])))

(defn- walk-method [ctx method]
  (let [[head params body] (forms/split-method method)
        self (when (seq head) (first params))]
    (with-meta (concat head (list* params (walk-body ctx params self body))) (meta method))))

;;;; Special forms

(declare walk-parts)

(defn- walk-all [ctx forms] (mapv (fn walk-one [form] (walk ctx form)) forms))

;; Not static calls: Clojure emits the load of a local that is used for the last time in such a call before
;; the label of the call's line, and then the JVM's verifier may find the local's type inconsistent.
(defn- walk-clause [{:keys [trail] :as ctx} clause]
  (let [[op & more] (walk-parts ctx clause)]
    (if (= 'catch op)
      (let [[class sym & body] more]
        (list* op class sym (list 'skein.trace.report/caught! trail sym) body))
      (let [saved (gensym "saved__")]
        (list op (list* 'let* [saved (call-static 'save trail)]
                        (concat more [(list 'skein.trace.report/restore! trail saved)])))))))

(defn- walked-parts [ctx form]
  (mapv (fn walked [[role x]]
          (case role
            (:value :tail :operator :target) (walk ctx x)
            :place (if (seq? x) (walk-parts ctx x) x)
            :clause (walk-clause ctx x)
            :method (walk-method ctx x)
            x))
        (forms/parts form)))

(defn- walk-parts [ctx form]
  (forms/rebuild form (walked-parts ctx form)))

(defn- walk-loop [ctx form]
  (walk-parts (assoc ctx :target :loop) form))

(defn- walk-deftype
  "Instruments a deftype. Its methods can't use the locals around it."
  [ctx form]
  (walk-parts (assoc ctx :options nil) form))

(defn- walk-recur [ctx form]
  (when (nil? (:target ctx))
    (error/fail! [:skein/bad-block :bad-recur]
                 (str "Can't recur out of trace-forms, which holds its body in a try."
                      " Put trace-forms around the loop or the function. In: "
                      (error/preview (::expand/source (meta form) form)))
                 (expand/location form)))
  (walk-parts ctx form))

(defn- walk-throw [ctx form]
  (marked ctx form (walked-parts ctx form) (fn build [parts] (forms/rebuild form parts))))

(defn- walk-instance
  "Instruments a dot form or `new`."
  [ctx form]
  (mark-call ctx form (walked-parts ctx form) 0 (fn build [parts] (forms/rebuild form parts))))

(defn- walk-set [ctx form]
  (let [[place value] (walked-parts ctx form)]
    (marked ctx form [value] (fn build [[value]] (forms/rebuild form [place value])))))

(def ^:private special-walks
  "Special form -> its function, if walking its parts is not enough."
  {'loop* walk-loop, 'recur walk-recur, 'throw walk-throw, 'new walk-instance, '. walk-instance, 'set! walk-set})

(def ^:private bare-walks
  "Special form that is not marked itself -> its function."
  {'fn* walk-parts, 'reify* walk-parts, 'deftype* walk-deftype, 'quote walk-parts, 'var walk-parts
   'clojure.core/import* walk-parts, 'monitor-enter walk-parts, 'monitor-exit walk-parts})

(defn- local? [op]
  (and (simple-symbol? op)
       (not (var? (try (resolve op) (catch ClassNotFoundException _ nil))))))

(defn- checked
  "Returns a form for the operator `op`. Clojure checks that an operator is a function before it evaluates the
  arguments. With :args?, the arguments are evaluated earlier, so the form makes that check."
  [ctx op]
  (if (and (:args? ctx) (or (local? op) (not (simple? op))))
    (list '. 'skein.rt.block.FrameOps (list 'function op))
    op))

(defn- walk-call [ctx form]
  (let [[op & args] (walk-all ctx form)
        op (checked ctx op)
        parts (cons op args)]
    (if (simple? op)
      (mark-call ctx form (rest parts) 0 (fn build [args] (list* op args)))
      (mark-call ctx form parts 1 (fn build [parts] (apply list parts))))))

(defn- constant? [form]
  (and (simple? form) (not (symbol? form))))

(defn- rebuilt
  "Returns a literal like `form` with other parts and the same metadata, which is evaluated after the parts."
  [ctx form parts]
  (let [literal (cond
                  (map? form) (apply array-map parts)
                  (set? form) (set parts)
                  :else (into (empty (with-meta form nil)) parts))
        m (meta form)]
    (cond
      (nil? m) literal
      (every? constant? (vals m)) (with-meta literal m)
      :else (list 'clojure.core/with-meta literal (walk ctx m)))))

(defn- walk-collection
  "Instruments a literal. The parts of a map or set are evaluated in the order of the literal,
  which itself fails if two are equal."
  [ctx form]
  (let [ctx (if (vector? form) ctx (with-rows ctx (with-meta form nil)))
        parts (walk-all ctx (if (map? form) (mapcat identity form) form))
        mark (call-static 'mark (:trail ctx) (:parent ctx))]
    (cond
      (or (vector? form) (every? constant? parts)) (rebuilt ctx form parts)
      (every? simple? parts) (list 'do mark (rebuilt ctx form parts))
      :else (let [syms (mapv (fn sym [_] (gensym "v__")) parts)]
              (list 'let* (into [] (interleave syms parts)) mark (rebuilt ctx form syms))))))

(defn- walk-seq [ctx form]
  (let [op (first form)
        bare-walk (bare-walks op)]
    (cond
      (expand/left? form) form
      bare-walk (bare-walk ctx form)
      :else (let [ctx (with-rows ctx form)]
              (if (forms/special? op)
                (with-meta ((special-walks op walk-parts) ctx form) (code-meta form))
                (walk-call ctx form))))))

(defn- walk [ctx form]
  (cond
    (seq? form) (if (seq form) (walk-seq ctx form) form)
    (or (record? form) (not (coll? form))) form
    :else (walk-collection ctx form)))

;;;; The macro

(defn- too-deep! [form]
  (error/fail! :skein/block-too-large
               (str "Can't trace forms nested more than " max-depth " levels deep. Move the inner ones into a function.")
               (expand/location form)))

(defn- check-depth! [form]
  (letfn [(check [form ^long depth]
            (when (coll? form)
              (when (< (long max-depth) depth) (too-deep! form))
              (run! (fn one [part] (check part (inc depth))) form)))]
    (check form 0)))

(defn- leave-blocks
  "Leaves go blocks unchanged: their bodies are traced when they are compiled."
  [options args?]
  (fn leave [[op & body :as form]]
    (when (ops/block-macro? op)
      (with-meta (list op (list* `instrumented options args? body)) (meta form)))))

(defn- at-top-level? [env]
  (and (empty? env) (not (internals/in-function?))))

(defn- traced-form [env form options args? body]
  (let [source (with-meta (if (next body) (list* 'do body) (list 'do (first body))) (meta form))
        {expanded :form outer :outer} (expand/expand env source (leave-blocks options args?))
        ctx (own-context {:options options, :args? args?, :rows (volatile! []), :parent nil} nil)
        walked (guarded ctx (walk-all ctx (rest expanded)))]
    (expand/with-outer outer walked)))

(defmacro instrumented
  "Evaluates the body in a try that reports what fails in it.

  options   symbol of a local that holds options for `skein.trace.report/failed!`, or nil
  args?     true: records arguments too

  At the top level each form is compiled after the forms before it have run, as in `do`."
  {:style/indent 2}
  [options args? & body]
  (let [body (if (and (= 1 (count body)) (seq? (first body)) (= 'do (ffirst body))) (rest (first body)) body)]
    (check-depth! body)
    (try
      (if (and (next body) (at-top-level? &env))
        (list* 'do (map (fn one [form] (list `instrumented options args? form)) body))
        (traced-form &env &form options args? body))
      (catch StackOverflowError _ ; the expansion of a macro may nest deeper than the call
        (too-deep! &form)))))
