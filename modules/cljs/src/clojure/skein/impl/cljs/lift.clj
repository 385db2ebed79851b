;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.cljs.lift
  "Second pass of the go compiler for ClojureScript: parks go where JavaScript may yield.

  A park becomes the expression `(take(frame, port) ? frame.v : yield)`. The compiler of
  ClojureScript wraps `let`, `loop`, `case`, `try` and `throw` in a function when they stand in
  an expression, and sometimes the arguments of a call. A yield in such a function would be
  lost. So each form that parks and is not a plain expression of JavaScript becomes a
  statement, whose value goes to a destination:

      :return    the value of the block
      :effect    nowhere
      a symbol   a local, declared before, to which it is assigned"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.cljs.expand :as expand])
  (:import
   (cljs.tagged_literals JSValue)
   (java.util IdentityHashMap)))

(set! *warn-on-reflection* true)

(def ^:dynamic ^:private ^IdentityHashMap *known*
  "What is known of forms: whether they park, and whether they can stay expressions.
  Without it large blocks take quadratic time."
  nil)

(defn- known [kind form compute]
  (if (coll? form)
    (let [facts (.get *known* form)]
      (if (contains? facts kind)
        (get facts kind)
        (let [fact (compute form)]
          (.put *known* form (assoc (.get *known* form) kind fact))
          fact)))
    (compute form)))

(defn- head [form] (when (seq? form) (first form)))

(defn- park? [form] (= ::expand/park (head form)))

(defn- parts [form]
  (cond
    (map? form) (mapcat identity form)
    (coll? form) form
    (instance? JSValue form) (let [v (.val ^JSValue form)] (if (map? v) (vals v) v))))

(defn- parks? [form]
  (known :parks? form
         (fn [form]
           (cond
             (park? form) true
             ('#{quote fn* var deftype* defrecord* ns ns*} (head form)) false
             :else (boolean (some parks? (parts form)))))))

(def ^:private statement-ops
  '#{let* loop* letfn* case* try throw do def recur})

(defn- call? [form]
  (and (seq? form) (not (park? form)) (not ('#{. new js* if set! quote} (first form)))))

(defn- inline?
  "Returns whether each park in `form` can be a yield inside one JavaScript expression."
  [form]
  (known :inline? form
         (fn [form]
           (cond
             (not (parks? form)) true
             (statement-ops (head form)) false
             (park? form) (every? inline? (drop 2 form))
             (call? form) false ; the analyzer may put a function around the arguments
             :else (every? inline? (parts form))))))

(def frame
  "The form of the frame, the generator's first parameter."
  (list 'js* "skein$f"))

(defn- map-js [f ^JSValue form]
  (let [v (.val form)]
    (JSValue. (if (map? v) (into (empty v) (map (fn [[k x]] [k (f x)])) v) (mapv f v)))))

(defn- render
  "Returns `form`, which is inline, with its parks as JavaScript."
  [form]
  (cond
    (park? form) (let [[_ function & args] form]
                   (list 'js* "(~{}?~{}:yield)" (list* function frame (mapv render args)) (list '. frame '-v)))
    (not (parks? form)) form
    (instance? JSValue form) (map-js render form)
    (map? form) (with-meta (into (empty form) (map (fn [[k v]] [(render k) (render v)])) form) (meta form))
    (seq? form) (with-meta (apply list (map render form)) (meta form))
    :else (with-meta (into (empty form) (map render form)) (meta form))))

;;;; Values that come before

(declare statement lift)

(defn- temp [] (with-meta (gensym "t__") {:tag 'any}))

(defn- constant? [form]
  (or (keyword? form) (string? form) (number? form) (boolean? form) (nil? form)
      (symbol? form) ('#{quote fn*} (head form))))

(defn- lift-all
  "Returns [statements forms] for operands, evaluated from left to right. `all-parks?`: a park
  must not stay in an operand even if it is inline."
  [forms all-parks?]
  (let [forms (vec forms)
        moves? (fn [form] (if all-parks? (parks? form) (not (inline? form))))
        last-moved (or (last (keep-indexed (fn [i form] (when (moves? form) i)) forms)) -1)]
    (reduce (fn [[before out] [i form]]
              (if (and (<= i last-moved) (not (constant? form)))
                (let [t (temp)] [(conj before [t (statement form t)]) (conj out t)])
                [before (conj out (render form))]))
            [[] []]
            (map-indexed vector forms))))

(defn- lift-args
  "Like `lift-all` for the part of `form` after its first `n` parts, which stay."
  [n form]
  (let [[before args] (lift-all (drop n form) false)]
    [before (with-meta (apply list (concat (take n form) args)) (meta form))]))

(defn- lift-dot [[_ target member & more]]
  (let [inner (when (seq? member) (rest member))
        [before [target & args]] (lift-all (concat [target] inner more) false)
        [inner args] (split-at (count inner) args)]
    [before (list* '. target (if (seq? member) (cons (first member) inner) member) args)]))

(defn- lift-set [[_ target value]]
  (if (= '. (head target))
    (let [[before [object value]] (lift-all [(second target) value] false)]
      [before (list 'set! (list* '. object (drop 2 target)) value)])
    (let [[before [value]] (lift-all [value] false)]
      [before (list 'set! target value)])))

(defn- short-circuit
  "Returns the `if` that a js* form of operands joined by && or || stands for, otherwise nil. The
  operands of such a form must not be evaluated ahead."
  [[_ template & args]]
  (some (fn [[operator nest]]
          (when (and (str/includes? template operator)
                     (= (count args) (count (str/split template (re-pattern (str "\\Q" operator "\\E"))))))
            (reduce (fn [inner outer] (nest outer inner)) (reverse args))))
        [["&&" (fn [a b] (list 'if a b false))]
         ["||" (fn [a b] (list 'if a true b))]]))

(defn- lift-coll [form]
  (let [[before args] (lift-all (parts form) false)]
    [before (cond
              (map? form) (with-meta (apply hash-map args) (meta form))
              (instance? JSValue form) (let [v (.val ^JSValue form)]
                                         (JSValue. (if (map? v) (zipmap (keys v) args) (vec args))))
              :else (with-meta (into (empty form) args) (meta form)))]))

(defn- through-temp [form]
  (let [t (temp)] [[[t (statement form t)]] t]))

(defn- lift
  "Returns [statements form]: what must run before, as [temp statement] pairs, and an
  expression."
  [form]
  (cond
    (inline? form) [nil (render form)]
    (park? form) (let [[before form] (lift-args 2 form)] [before (render form)])
    (or (statement-ops (head form)) (= 'if (head form))) (through-temp form)
    (seq? form) (case (first form)
                  js* (if-let [form (short-circuit form)] (through-temp form) (lift-args 2 form))
                  new (lift-args 2 form)
                  . (lift-dot form)
                  set! (lift-set form)
                  (let [[before args] (lift-all form true)]
                    [before (with-meta (apply list args) (meta form))]))
    :else (lift-coll form)))

;;;; Statements

(defn- give [form destination]
  (case destination
    :return (list 'js* "return ~{}" form)
    :effect form
    (list 'js* "~{}=~{}" destination form)))

(defn- after
  "Returns the statement `form`, with the statements `before` it."
  [before form]
  (if (seq before)
    ;; A nil literal would make the analyzer take the temp for nil.
    (list* 'let* (vec (mapcat (fn [[t _]] [t (list 'js* "void 0")]) before)) (concat (map second before) [form]))
    form))

(defn- body [forms destination]
  (if (seq forms)
    (list* 'do (concat (mapv (fn [form] (statement form :effect)) (butlast forms))
                       [(statement (last forms) destination)]))
    (give nil destination)))

(defn- bind
  "Returns the statement that binds as `op` does and then runs the statement `form`."
  [op bindings form]
  (cond
    (every? inline? (take-nth 2 (rest bindings)))
    (list op (vec (mapcat (fn [[sym init]] [sym (render init)]) (partition 2 bindings))) form)

    (= 'loop* op)
    (bind 'let* bindings (list 'loop* (vec (mapcat (fn [sym] [sym sym]) (take-nth 2 bindings))) form))

    :else
    (reduce (fn [form [sym init]]
              (let [[before init] (lift init)]
                (after before (list 'let* [sym init] form))))
            form
            (reverse (partition 2 bindings)))))

(defn- try-statement [forms destination]
  (let [clause? (fn [form] ('#{catch finally} (head form)))
        main (body (remove clause? forms) destination)]
    (if (some clause? forms)
      (list* 'try main
             (mapv (fn [[kind & more]]
                     (if (= 'catch kind)
                       (let [[type sym & forms] more] (list 'catch type sym (body forms destination)))
                       ;; Ends in an empty statement: the value of an expression would be returned.
                       (list 'finally (list 'do (body more :effect) (list 'js* "")))))
               (filter clause? forms)))
      main)))

(defn- placed
  "Returns `form` with the line of `original`, unless it has one. A debugger steps from line to line."
  [original form]
  (if (and (seq? form) (:line (meta original)) (not (:line (meta form))))
    (vary-meta form merge (select-keys (meta original) [:line :column]))
    form))

(defn- plain-statement
  "Like `statement`, but without a line."
  [form destination]
  (case (head form)
    do (body (rest form) destination)
    (let* loop*) (bind (first form) (second form) (body (drop 2 form) destination))
    letfn* (list 'letfn* (second form) (body (drop 2 form) destination))
    if (let [[_ test then else] form
             [before test] (lift test)]
         (after before (with-meta (list 'if test (statement then destination) (statement else destination))
                         (meta form))))
    case* (let [[_ sym tests thens default] form]
            (list 'case* sym tests (mapv (fn [then] (statement then destination)) thens)
                  (statement default destination)))
    try (try-statement (rest form) destination)
    throw (let [[before x] (lift (second form))] (after before (list 'throw x)))
    recur (let [[before args] (lift-all (rest form) false)] (after before (list* 'recur args)))
    def (if (parks? form)
          (let [[_ sym & more] form
                [before init] (lift (last more))]
            (after before (give (list* 'def sym (concat (butlast more) [init])) destination)))
          (give form destination))
    (let [[before x] (lift form)] (after before (give x destination)))))

(defn statement
  "Returns a form that can stand as a statement and gives the value of `form` to `destination`;
  see the namespace."
  [form destination]
  (placed form (plain-statement form destination)))

(defn lift-block
  "Returns the statement that runs the block's body `form`, an expanded form, and returns its value."
  [form]
  (binding [*known* (IdentityHashMap.)]
    (statement form :return)))
