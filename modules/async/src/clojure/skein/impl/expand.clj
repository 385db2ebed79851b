;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.expand
  "Full macroexpansion, as Clojure's compiler would do it: `expand` returns a
  form in which only special forms and calls remain and no two locals have the
  same name. Macros get a correct &env, and each is expanded once.

  A scope is a map:

      :env    {symbol LocalBinding}   what macros see as &env: the user's names
      :names  {symbol symbol}         the user's name of a local -> its new name,
                                      or a map for a mutable field of a deftype
      :known  volatile {symbol LocalBinding}, all new names, for inference
      :line   {:line l :column c}     of the nearest form that has one
      :written  the macro call in the user's file that produced the current forms, or nil if the user wrote them
      :leave  function, see `expand`

  The metadata of an expanded form says where it comes from: ::source is the form before
  expansion, ::macros the macro calls that expanded to it, the outermost last. If a macro has
  written the form, ::written is that macro's call in the user's file."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.impl.forms :as forms]
   [skein.impl.go.ops :as ops]
   [skein.impl.infer :as infer]
   [skein.impl.internals :as internals])
  (:import
   (clojure.lang IRecord IType)))

(set! *warn-on-reflection* true)

(defn location
  "Returns the place of `form` in its source: {:file :line :column :form}."
  [form]
  (let [{:keys [line column]} (meta form)]
    {:file *file*, :line line, :column column, :form form}))

(declare expand-form)

;;;; Scopes

(defn- add-local
  "Binds the user's `sym`; `lb` makes the LocalBinding of its new name. Returns [scope new-symbol]."
  [scope sym make-binding]
  (let [bare (with-meta sym nil)
        renamed (gensym (str (name sym) "__"))
        declared (with-meta renamed (meta sym))
        lb (make-binding declared)]
    (vswap! (:known scope) assoc renamed lb)
    [(assoc scope :env (assoc (:env scope) sym (infer/renamed lb sym)) :names (assoc (:names scope) bare renamed))
     declared]))

(defn- add-initialised [scope sym init]
  (add-local scope sym (fn bind-init [s] (infer/local s init @(:known scope)))))

(defn- add-parameter [scope sym]
  (add-local scope sym (fn bind-parameter [s] (infer/parameter s))))

(defn- keep-name
  "Binds a local whose name must not change: that of a function inside itself, a field of a deftype."
  [scope sym]
  (let [bare (with-meta sym nil)]
    (assoc scope :env (assoc (:env scope) bare (infer/parameter sym)) :names (assoc (:names scope) bare bare))))

;;;; Mutable fields of the deftype around the block

(defn- this-symbol
  "Returns the user's name for the object whose deftype method is being compiled, or nil."
  [env]
  (when-let [type-name (some-> (internals/type-being-defined) .getName)]
    (some (fn this? [[sym lb]]
            (when (and (internals/local? lb) (= type-name (str (internals/tag-of lb))))
              sym))
          env)))

(defn- mutable-field? [lb]
  (let [m (meta (internals/symbol-of lb))]
    (or (:unsynchronized-mutable m) (:volatile-mutable m))))

(defn- field-read [{:keys [field this tag]}]
  (let [read (list '. 'skein.rt.block.Fields (list 'get this (munge (name field))))]
    (case tag
      (long double float int short byte char boolean) (list '. 'clojure.lang.RT (list (symbol (str tag "Cast")) read))
      (if tag (with-meta read {:tag tag}) read))))

(defn- field-write [{:keys [field this]} value form]
  (when-not this
    (error/fail! [:skein/bad-block :shadowed-this]
                 (str "Can't set! the field " field " here, because the object's own name is shadowed."
                      " Give the method's first parameter a name of its own.")
                 (assoc (location form) :field field)))
  (list '. 'skein.rt.block.Fields (list 'set this (munge (name field)) value)))

;;;; Special forms

(defn- class-name?
  "Returns whether Clojure takes `target` of a dot form for a class, even if a local has that name."
  [scope target]
  (and (symbol? target)
       (do (internals/set-locals! (:env scope))
           (some? (internals/class-named target)))))

(defn- any-thrown
  "Returns a clause of a try with Throwable in place of :default, as in ClojureScript and in core.async's blocks."
  [[op class & more :as clause]]
  (if (and (= 'catch op) (= :default class))
    (with-meta (list* op 'java.lang.Throwable more) (meta clause))
    clause))

(declare expand-parts expand-method)

(defn- expand-part
  "Adds a part of `form` to `out`, expanded in the scope that results from the parts before it."
  [form [scope out] [role x]]
  (let [bound (fn bound [[scope sym]] [scope (conj out sym)])]
    (case role
      :local (bound (add-initialised scope x (peek out)))
      :param (bound (add-parameter scope x))
      :thrown (bound (add-local scope x (fn thrown [s] (infer/tagged s (second form)))))
      (:self :field) (bound [(keep-name scope x) x])
      [scope (conj out (case role
                         :fixed x
                         :method (expand-method scope x)
                         :clause (expand-parts scope (any-thrown x))
                         :var (if (meta x) (with-meta x (expand-form scope (meta x))) x)
                         :target (if (class-name? scope x) x (expand-form scope x))
                         (expand-form scope x)))])))

(defn- expand-all [scope form parts]
  (second (reduce (fn step [acc part] (expand-part form acc part)) [scope []] parts)))

(defn- expand-parts [scope form]
  (forms/rebuild form (expand-all scope form (forms/parts form))))

(defn- expand-method [scope method]
  (forms/rebuild-method method (expand-all scope method (forms/method-parts method))))

(defn- immutable-local! [target form]
  (error/fail! [:skein/bad-block :immutable-local]
               (str "Can't set! the local " target ", because locals do not change."
                    " Use loop and recur, or hold the value in an atom or a volatile.")
               (assoc (location form) :local target)))

(defn- expand-set [scope [_ target value :as form]]
  (let [entry (when (symbol? target) ((:names scope) target))]
    (cond
      (map? entry) (field-write entry (expand-form scope value) form)
      (and entry (not= entry target)) (immutable-local! target form)
      :else (expand-parts scope form))))

;;;; Forms

(defn- macroexpand-once
  "Expands by one step of Clojure's own macroexpansion, with the scope's locals as &env."
  [{:keys [env line]} form]
  (internals/macroexpand-once form env (:line line) (:column line)))

(defn- with-source
  "Returns `expanded` with the metadata of `form`, and a line even if a macro made it. A type hint that names no class is
  left out: Clojure looks for the class of a call only where it needs it, and a block may need it elsewhere."
  [scope form expanded]
  (let [m (meta form)]
    (with-meta expanded (cond-> (merge (:line scope) m {::source (::source m form)})
                          (:written scope) (assoc ::written (:written scope))
                          (and (:tag m) (nil? (infer/hinted-class form))) (dissoc :tag)))))

(defn- hinted-object?
  "Returns whether a value of `form` is an object that Clojure takes for one of a primitive class."
  [{:keys [known] :as scope} form]
  (if-let [tails (when (seq? form) (not-empty (forms/tails form)))]
    (some (fn hinted? [x] (hinted-object? scope x)) tails)
    (infer/hinted-object? form @known)))

(defn- honest-case
  "Returns `form`, a case*, or if needed a form that Clojure does not take for a primitive. If the branches of a case have
  a primitive class, Clojure compiles each as a primitive, even one that is an object with a hint such as ^long. That
  fails, but only where a primitive is asked for, as the initial value of a local is."
  [scope form]
  (if (hinted-object? scope form) (list 'if true form nil) form))

(defn- expand-core
  "Expands a form that is not a macro call."
  [scope [op :as form]]
  (let [expanded (case op
                   set! (expand-set scope form)
                   deftype* (expand-parts (assoc scope :env {} :names {}) form) ; its methods see no outer local
                   (expand-parts scope form))]
    (case op
      (fn* reify*) (with-meta expanded (expand-form scope (dissoc (meta form) ::macros ::source))) ; it is evaluated
      (quote deftype*) expanded
      case* (honest-case scope (with-source scope form expanded))
      (with-source scope form expanded))))

(defn- from-macro
  "Returns `expanded` with the macro call `form`, from which it comes, in its metadata."
  [expanded form]
  (if (seq? expanded)
    (vary-meta expanded assoc ::macros (conj (or (::macros (meta form)) ()) form))
    expanded))

(defn- left-form
  "Returns `form`, which must not be expanded, with the names that its locals have outside of it."
  [{:keys [names]} form]
  (let [used (into #{} (filter symbol?) (tree-seq coll? seq form))
        bindings (for [[sym renamed] names :when (and (used sym) (symbol? renamed) (not= sym renamed))]
                   [sym (with-meta renamed nil)])
        form (vary-meta form assoc ::left true)]
    (if (seq bindings) (list 'let* (into [] cat bindings) form) form)))

(defn- parking-expansion
  "Returns the form for a call of an operation such as <?, which parks and does more, or nil."
  [{:keys [names]} [op :as form]]
  (when-not (contains? names op)
    (ops/expansion form)))

(defn- expand-seq [scope form]
  (let [m (meta form)
        ;; The reader adds a line to the forms that it reads. A form that a macro made has none.
        scope (if (:line m) (assoc scope :line (select-keys m [:line :column]) :written nil) scope)
        op (first form)
        instead (when (and (symbol? op) (not (contains? (:names scope) op))) ((:leave scope) form))
        expanded (if instead form (or (parking-expansion scope form) (macroexpand-once scope form)))]
    (cond
      instead (left-form scope instead)
      (identical? expanded form) (expand-core scope form)
      :else (expand-form (update scope :written #(or % form)) (from-macro expanded form)))))

(defn- expand-symbol [scope sym]
  (let [entry ((:names scope) sym)]
    (cond
      (nil? entry) sym
      (map? entry) (field-read entry)
      :else (with-meta entry (meta sym)))))

(defn- ordered-set
  "Returns a form for the set of `parts` that evaluates them in their order. A set literal would have another
  order, since renamed locals have other hashes."
  [scope m parts]
  (if (next (filter coll? parts))
    (let [step (fn bind [[scope bindings syms] part]
                 (if (coll? part)
                   (let [[scope sym] (add-initialised scope 'element part)]
                     [scope (conj bindings sym part) (conj syms (with-meta sym nil))])
                   [scope bindings (conj syms part)]))
          [_ bindings syms] (reduce step [scope [] []] parts)]
      (list 'let* bindings (with-meta (set syms) m)))
    (with-meta (set parts) m)))

(defn- expand-collection
  "Expands a literal. Clojure evaluates its parts in the order in which it holds them, and then its
  metadata."
  [scope form]
  (let [parts (mapv (fn part [x] (expand-form scope x)) (if (map? form) (mapcat identity form) form))
        m (some->> (meta form) (expand-form scope))]
    (cond
      (map? form) (with-meta (if (sorted? form) (into (empty form) (map vec) (partition 2 parts)) (apply array-map parts)) m)
      (and (set? form) (not (sorted? form))) (ordered-set scope m parts)
      :else (with-meta (into (empty form) parts) m))))

(defn- expand-form [scope form]
  (cond
    (symbol? form) (expand-symbol scope form)
    (seq? form) (if (seq form) (expand-seq scope form) form)
    (or (instance? IRecord form) (instance? IType form)) form
    (or (vector? form) (map? form) (set? form)) (expand-collection scope form)
    :else form))

(defn- outer-local
  "Returns the LocalBinding of a local of the code around the block. Other compilers, such as core.async's, put other
  values into &env."
  [[sym lb]]
  (let [lb (if (internals/local? lb) lb (infer/tagged sym nil))]
    (if (mutable-field? lb)
      {:sym sym, :field {:field sym, :tag (:tag (meta (internals/symbol-of lb)))}, :binding (infer/renamed lb sym)}
      {:sym sym, :renamed (gensym (str (name sym) "__")), :binding (infer/renamed lb sym)})))

(defn- outer-scope
  "Returns the scope of a form in the local environment `env`."
  [env leave]
  (let [this (this-symbol env)
        locals (map outer-local env)
        names (into {} (map (juxt :sym (fn [l] (or (:field l) (:renamed l))))) locals)
        names (reduce (fn this-renamed [m {:keys [sym field]}]
                        (if field (assoc m sym (assoc field :this (names this))) m))
                      names locals)
        outer (into {} (comp (filter :renamed) (map (juxt :renamed identity))) locals)]
    {:env (into {} (map (juxt :sym :binding)) locals), :names names, :outer outer, :leave leave, :line nil
     :known (volatile! (update-vals outer :binding))}))

(defn- expand-in [{:keys [outer known] :as scope} form]
  (internals/compiling (:env scope)
                       (fn expand-it []
                         (let [expanded (expand-form scope form)]
                           {:form expanded, :outer outer, :known @known}))))

(defn expand
  "Expands `form` as it stands in the local environment `env`, the value of &env.

  Returns {:form, :outer, :known}: the expanded form; the locals of `env` as
  {new-symbol {:sym symbol-in-env, :binding LocalBinding}}; and a LocalBinding
  for each new symbol that the form binds. Macros may throw what they like.

  leave   function of a call whose operator is not a local: nil, or the call that stands
          in its place and is not expanded. By default everything is expanded."
  ([env form] (expand env form (constantly nil)))
  ([env form leave] (expand-in (outer-scope env leave) form)))

(defn left?
  "Returns whether `form` is a call that `expand` has left as it was."
  [form]
  (boolean (::left (meta form))))

(defn- symbols-in [form]
  (into #{} (filter symbol?) (tree-seq coll? (fn parts [x] (concat (seq x) (some-> (meta x) list))) form)))

(defn with-outer
  "Returns a form for `form`, an expanded form, that can stand where the form before expansion stood. `outer`
  is as `expand` returns it."
  [outer form]
  (let [used (symbols-in form)]
    (list 'let* (into [] (mapcat (fn outer-local [[renamed {:keys [sym]}]] (when (used renamed) [renamed sym]))) outer)
          form)))
