;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.forms
  "The parts of Clojure's special forms, for all passes that walk over expanded forms.

  `parts` lists the parts of a form as [role part] pairs, in the order in which Clojure
  evaluates them; `rebuild` puts other parts into their places:

      (parts '(if a b c))
      ;=> [[:value a] [:tail b] [:tail c]]

      (rebuild '(if a b c) '[x y z])
      ;=> (if x y z)

  Expressions have one of the roles

    :value     evaluated for its value or its effect
    :tail      its value is the form's value
    :operator  the first of a call
    :target    of a dot form: an expression, or the symbol of a class
    :place     what set! sets: a symbol, or a dot form

  Symbols that become locals, from there to the end of the form, have one of

    :local     of let* and loop*: its value is the part before it
    :param     of a method; a function of letfn*
    :thrown    of catch
    :self      the name of a function inside itself
    :field     of a deftype

  The other parts have one of

    :var       the symbol that def defines
    :clause    catch or finally in a try: has parts as a form has
    :method    of fn*, reify* or deftype*: see `method-parts`
    :fixed     the & among parameters

  Everything else in a form, such as the class of `new` or the constants of case*, is not a part."
  {:no-doc true})

(set! *warn-on-reflection* true)

(defn- all-as [role xs]
  (mapv (fn part [x] [role x]) xs))

(defn- values-of [xs] (all-as :value xs))

(defn- body-of [xs]
  (if (seq xs) (conj (values-of (butlast xs)) [:tail (last xs)]) []))

;;;; Layouts: {:parts (fn [form]), :rebuild (fn [form xs])}

(defn- after
  "Returns the layout of a form whose parts are all its elements after the first `n`; `roles` makes pairs of them."
  [n roles]
  {:parts (fn parts-after [form] (roles (drop n form)))
   :rebuild (fn rebuild-after [form xs] (concat (take n form) xs))})

(def ^:private without-parts
  {:parts (constantly []), :rebuild (fn same [form _] form)})

(def ^:private binding-form
  {:parts (fn binding-parts [[_ bindings & body]]
            (into (into [] (mapcat (fn bind [[sym init]] [[:value init] [:local sym]])) (partition 2 bindings))
                  (body-of body)))
   :rebuild (fn rebuild-bindings [[op bindings] xs]
              (let [[bound body] (split-at (count bindings) xs)]
                (list* op (into [] (mapcat (fn bind [[init sym]] [sym init])) (partition 2 bound)) body)))})

(def ^:private functions-form
  {:parts (fn letfn-parts [[_ bindings & body]]
            (-> (all-as :param (take-nth 2 bindings))
                (into (values-of (take-nth 2 (rest bindings))))
                (into (body-of body))))
   :rebuild (fn rebuild-letfn [[op bindings] xs]
              (let [[bound body] (split-at (count bindings) xs)]
                (list* op (vec (apply interleave (split-at (quot (count bindings) 2) bound))) body)))})

(def ^:private function
  {:parts (fn fn-parts [[_ & more]]
            (let [[self methods] (split-with symbol? more)]
              (into (all-as :self self) (all-as :method (if (vector? (first methods)) [methods] methods)))))
   :rebuild (fn rebuild-fn [[op] xs] (cons op xs))})

(def ^:private type-definition
  {:parts (fn deftype-parts [[_ _ _ fields & more]]
            (into (all-as :field fields) (all-as :method (filter seq? more))))
   :rebuild (fn rebuild-deftype [[op tagname classname fields & more] xs]
              (let [[fields' methods] (split-at (count fields) xs)]
                (list* op tagname classname (with-meta (vec fields') (meta fields))
                       (concat (remove seq? more) methods))))})

(def ^:private case-form
  {:parts (fn case-parts [[_ ge _ _ default clauses]]
            (into [[:value ge] [:tail default]] (map (fn then [[_ [_ then]]] [:tail then])) clauses))
   :rebuild (fn rebuild-case [[op _ shift mask _ clauses & more] [ge default & thens]]
              (list* op ge shift mask default
                     (into clauses (map (fn clause [[k [test]] then] [k [test then]]) clauses thens))
                     more))})

(defn- clause? [form]
  (and (seq? form) (contains? '#{catch finally} (first form))))

(defn- try-roles [xs]
  (let [[body clauses] (split-with (complement clause?) xs)]
    (into (body-of body) (map (fn role [x] [(if (clause? x) :clause :value) x])) clauses)))

(def ^:private catch-clause
  (after 2 (fn catch-roles [[sym & body]] (into [[:thrown sym]] (body-of body)))))

(def ^:private dot-form
  {:parts (fn dot-parts [[_ target member & args]]
            (into [[:target target]] (values-of (if (seq? member) (concat (rest member) args) args))))
   :rebuild (fn rebuild-dot [[op _ member] [target & args]]
              (if (seq? member)
                (let [[inside outside] (split-at (dec (count member)) args)]
                  (list* op target (with-meta (list* (first member) inside) (meta member)) outside))
                (list* op target member args)))})

(def ^:private layouts
  {'quote without-parts, 'var without-parts, 'clojure.core/import* without-parts
   'let* binding-form, 'loop* binding-form, 'letfn* functions-form, 'fn* function
   'reify* (after 2 (partial all-as :method)), 'deftype* type-definition
   'case* case-form, 'try (after 1 try-roles), 'catch catch-clause
   '. dot-form, 'new (after 2 values-of)
   'def (after 1 (fn def-roles [[sym & more]] (into [[:var sym]] (values-of more))))
   'set! (after 1 (fn set-roles [[target & more]] (into [[:place target]] (values-of more))))
   'do (after 1 body-of)
   'if (after 1 (fn if-roles [[test & branches]] (into [[:value test]] (all-as :tail branches))))
   'finally (after 1 values-of), 'recur (after 1 values-of), 'throw (after 1 values-of)
   'monitor-enter (after 1 values-of), 'monitor-exit (after 1 values-of), '& (after 1 values-of)})

(def ^:private call
  (after 0 (fn call-roles [[op & args]] (into [[:operator op]] (values-of args)))))

(defn special?
  "Returns whether `op`, the first element of a form, makes it a special form. No local can change that."
  [op]
  (contains? layouts op))

(defn parts
  "Returns the parts of `form`, a special form, a call or a clause, as [role part] pairs."
  [form]
  ((:parts (get layouts (first form) call)) form))

(defn tails
  "Returns the parts of `form` whose value may be its value."
  [form]
  (for [[role x] (parts form) :when (= :tail role)] x))

(defn rebuild
  "Returns `form` with `xs` in place of its parts, in their order, and with its metadata. A function
  of one method is written as one of several."
  [form xs]
  (with-meta ((:rebuild (get layouts (first form) call)) form xs) (meta form)))

;;;; Methods: ([param ...] form ...), or (name [param ...] form ...)

(defn split-method
  "Returns [head params body]: what stands before the parameters, the parameters, and the forms behind them."
  [method]
  (let [[head [params & body]] (split-with symbol? method)]
    [head params body]))

(defn method-parts
  "Returns the parts of `method`, a part of another form, as [role part] pairs."
  [method]
  (let [[_ params body] (split-method method)]
    (into (mapv (fn param [p] [(if (= '& p) :fixed :param) p]) params) (body-of body))))

(defn rebuild-method
  "Returns `method` with `xs` in place of its parts, and with its metadata."
  [method xs]
  (let [[head params] (split-method method)
        [params' body] (split-at (count params) xs)]
    (with-meta (concat head (list* (with-meta (vec params') (meta params)) body)) (meta method))))
