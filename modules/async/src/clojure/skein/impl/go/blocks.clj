;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.blocks
  "Parking forms -> basic blocks. `blocks` returns

      {:entry 0, :blocks [block ...]}

  with blocks numbered by their place, and block =

      :params   [symbol ...]  set by the jump to here
      :code     [entry ...] in order, an entry being
                [symbol form] a local, [nil form] for effect only,
                [:letfn [symbol form ...]] local functions,
                [:function [symbol form]] a local that must be a function,
                [:own-bindings [symbol]] a local for the thread bindings that the block finds;
                from then on, it carries its own from thread to thread,
                [:adopt-bindings symbol] the thread owns all bindings above those
      :handler  number of the block that gets exceptions thrown in here, or nil
      :kind     :loop, :join, :boxed (a join whose parameters are objects),
                :resume (after a park), :catch, or nil; the one parameter of
                :resume and :catch is what the frame holds
      :exit     [:return form]
                [:jump n [form ...]]       arguments for the params of block n
                [:branch form n m]         to n if form is true, else to m
                [:switch case* n {k [test m]}]
                [:park op [form ...] n site]

  All forms in there are expanded, don't park, and are evaluated exactly once, in that place. For
  example (inc (<! c)) becomes

      0  code []  exit [:park {:method take} [c] 1 site]
      1  kind :resume  params [v]  exit [:return (inc v)]

  A builder is that map while it grows; :at is the block being written, or nil once its exit is
  known. A dest says where the value of a form goes: :return, or {:join n :value? b}, a jump with
  or without the value."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.impl.expand :as expand]
   [skein.impl.forms :as forms]
   [skein.impl.go.mark :as mark]
   [skein.impl.internals :as internals])
  (:import
   (clojure.lang Compiler$CompilerException)))

(set! *warn-on-reflection* true)

(declare value effect run)

(defn- head [form] (when (seq? form) (first form)))

;;;; The builder

(defn- add-block [b kind params]
  [(update b :blocks conj {:kind kind, :params params, :code [], :handler (:handler b)})
   (count (:blocks b))])

(defn- enter [b id]
  (assoc b :at id :handler (:handler (nth (:blocks b) id))))

(defn- emit
  "Adds `[symbol form]` to the code of the current block."
  [b entry]
  (if-let [at (:at b)] (update-in b [:blocks at :code] conj entry) b))

(defn- leave
  "Ends the current block with `exit`."
  [b exit]
  (if-let [at (:at b)] (-> b (assoc-in [:blocks at :exit] exit) (assoc :at nil)) b))

(defn- class-symbol? [sym]
  (try (class? (resolve sym)) (catch ClassNotFoundException _ false)))

(defn- constant?
  "Returns whether evaluating `form` now or later makes no difference: a literal, a local, a class."
  [b form]
  (cond
    (symbol? form) (or (contains? (:locals b) form) (class-symbol? form))
    (seq? form) (= 'quote (first form))
    (coll? form) (and (nil? (meta form)) (every? (fn part? [x] (constant? b x)) (if (map? form) (mapcat identity form) form)))
    :else true))

(defn- local [b sym]
  (update b :locals assoc (with-meta sym nil) true))

(defn- bind [b sym form]
  (-> b (emit [sym form]) (local sym)))

(defn- hold
  "Returns [b form']. Evaluating form' later is like evaluating `form` now."
  [b form]
  (if (constant? b form)
    [b form]
    (let [sym (gensym "v__")
          hinted? (and (seq? form) (:tag (meta form)))]
      [(bind b sym (if hinted? (list 'do form) form)) sym]))) ; the hint counts, even if it is ^long, as it does for an argument

;;;; Operands

(defn- operands
  "Returns [b forms'] for forms to be evaluated from left to right. Those before the last one that
  parks are held in locals; the caller evaluates the others."
  [b forms]
  (let [forms (vec forms)
        n-held (loop [i (dec (count forms))] (if (or (neg? i) (mark/transformed? (nth forms i))) i (recur (dec i))))]
    (reduce-kv (fn operand [[b out] i form]
                 (let [[b v] (value b form)
                       [b v] (if (< (long i) (long n-held)) (hold b v) [b v])]
                   [b (conj out v)]))
               [b []] forms)))

(defn- holds
  "Like `operands`, but holds every one."
  [b forms]
  (reduce (fn held [[b out] form]
            (let [[b v] (value b form)
                  [b v] (hold b v)]
              [b (conj out v)]))
          [b []] forms))

;;;; Parks

(defn- option-form
  "Returns the form of alts!'s options: a map if the keys are literals, otherwise a list of the arguments."
  [args]
  (cond
    (empty? args) nil
    (and (even? (count args)) (every? keyword? (take-nth 2 args))) (apply hash-map args)
    :else (list* 'clojure.core/list args)))

(defn- site [form op]
  (let [{::expand/keys [source written] :keys [line column] :or {source form}} (meta form)]
    [(symbol (name (first source))) line column (error/preview (or written source))]))

(defn- park [b [_ & args :as form]]
  (let [op (::mark/op (meta form))
        [b args] (operands b args)
        args (if (second (:arity op)) args [(first args) (option-form (rest args))])
        sym (with-meta (gensym "v__") (select-keys (meta form) [:tag]))
        [b resume] (add-block b :resume [sym])
        b (-> b (leave [:park op args resume (site form op)]) (enter resume) (local sym))]
    [b sym]))

;;;; Forms that are rebuilt around the values of their parts

(defn- global-operator? [b op]
  (and (symbol? op) (not (contains? (:locals b) op))))

(defn- function
  "Returns [b sym], a local that holds the value of `form`, which must be a function."
  [b form]
  (let [[b f] (value b form)
        sym (gensym "v__")]
    [(-> b (emit [:function [sym f]]) (local sym)) sym]))

(defn- rebuild-call
  "A var is looked up when it is called, so that the call stays inlined, static or
  primitive. Any other operator must be a function before its arguments are evaluated."
  [b [op & args :as form]]
  (if (or (global-operator? b op) (keyword? op))
    (let [[b args] (operands b args)] [b (forms/rebuild form (cons op args))])
    (let [[b op] (if (some mark/transformed? args) (function b op) [b op])
          [b parts] (operands b (cons op args))]
      [b (forms/rebuild form parts)])))

(defn- static? [b target]
  (and (symbol? target) (not (contains? (:locals b) target))
       (some? (internals/class-named target))))

(defn- rebuild-parts
  "Rebuilds `new`, `throw`, `def` and dot forms."
  [b form]
  (let [[[role x] :as parts] (forms/parts form)
        n-names (if (or (= :var role) (and (= :target role) (static? b x))) 1 0) ; no expressions
        [names forms] (split-at n-names (map second parts))
        [b values] (operands b forms)]
    [b (forms/rebuild form (concat names values))]))

(defn- rebuild-set [b [_ target new-value :as form]]
  (if (and (seq? target) (not (static? b (second target))))
    (let [[b values] (operands b (conj (mapv second (forms/parts target)) new-value))]
      [b (forms/rebuild form [(forms/rebuild target (pop values)) (peek values)])])
    (let [[b v] (value b new-value)] [b (forms/rebuild form [target v])])))

(defn- unmarked [m] (not-empty (apply dissoc m mark/flags)))

(defn- rebuild-collection
  "Holds every part in a local: a rebuilt map or set may iterate in another order."
  [b form]
  (let [m (unmarked (meta form))
        [b parts] (holds b (if (map? form) (mapcat identity form) form))
        literal (if (map? form) (apply array-map parts) (into (empty (with-meta form nil)) parts))]
    (if m
      (let [[b literal] (hold b literal)
            [b m] (value b m)]
        [b (list 'clojure.core/with-meta literal m)])
      [b literal])))

(defn- rebuild [b form]
  (if (seq? form)
    (case (first form)
      (new throw def .) (rebuild-parts b form)
      set! (rebuild-set b form)
      (if (::mark/op (meta form)) (park b form) (rebuild-call b form)))
    (rebuild-collection b form)))

;;;; Control

(defn- loop-with-try? [form]
  (let [ops (into #{} (comp (filter seq?) (map first)) (tree-seq coll? seq form))]
    (and (contains? ops 'loop*) (contains? ops 'try))))

(defn- dropped
  "Returns b after code that evaluates `form`, which does not park, and drops its value."
  [b form]
  (if (constant? b form)
    b
    ;; If an empty try in a loop is a statement, Clojure compiles it to a bad class. So it becomes the value of a local.
    (emit b [(when (loop-with-try? form) (gensym "unused__")) form])))

(defn- send-to
  "Ends the current block, sending the value of `form`, which doesn't park, to `dest`."
  [b form dest]
  (let [{:keys [join args value?]} dest]
    (cond
      (= :return dest) (leave b [:return form])
      value? (leave b [:jump join (conj args form)])
      :else (-> (dropped b form) (leave [:jump join args])))))

(defn- run-if [b [_ test then else] dest]
  (let [[b test] (value b test)
        [b then-id] (add-block b nil [])
        [b else-id] (add-block b nil [])]
    (-> b
        (leave [:branch test then-id else-id])
        (enter then-id) (run then dest)
        (enter else-id) (run else dest))))

(defn- run-clause
  "Writes the blocks of a clause of a case. A clause that throws has no part in the type of the case."
  [b form dest]
  (run b form (if (= 'throw (head form)) :return dest)))

(defn- run-case [b [_ _ _ _ default clauses :as form] dest]
  (let [[b default-id] (add-block b nil [])
        [b arms] (reduce-kv (fn arm [[b arms] k [test _]]
                              (let [[b id] (add-block b nil [])] [b (assoc arms k [test id])]))
                            [b (empty clauses)] clauses)
        b (-> b (leave [:switch form default-id arms]) (enter default-id) (run-clause default dest))]
    (reduce-kv (fn arm [b k [_ id]] (-> b (enter id) (run-clause (second (get clauses k)) dest))) b arms)))

(defn- bind-all
  "Binds as let* does."
  [b bindings]
  (reduce (fn bind-one [b [sym init]]
            (let [[b v] (value b init)] (bind b sym v)))
          b (partition 2 bindings)))

(defn- prefix
  "Writes a do, let* or letfn* without its last form. Returns [b last]."
  [b [op & more]]
  (let [b (case op
            do b
            let* (bind-all b (first more))
            letfn* (emit b [:letfn (first more)]))
        body (if (= 'do op) more (rest more))]
    [(reduce effect b (butlast body)) (last body)]))

(defn- run-body [b body dest]
  (run (reduce effect b (butlast body)) (last body) dest))

(defn- run-recur [b form]
  (let [[b args] (operands b (rest form))]
    (leave b [:jump (:loop b) args])))

(defn- bare [bindings]
  (mapv (fn bare-symbol [s] (with-meta s nil)) (take-nth 2 bindings)))

(defn- run-loop
  "Writes a loop whose body parks. Its locals are the parameters of its first block."
  [b [_ bindings & body] dest]
  (let [b (bind-all b bindings)
        outer (:loop b)
        [b head] (add-block b :loop (vec (take-nth 2 bindings)))]
    (-> b
        (leave [:jump head (bare bindings)])
        (enter head) (assoc :loop head)
        (run-body body dest)
        (assoc :loop outer))))

(defn- native-loop
  "Returns [b form] for a loop that parks only in its initial values."
  [b [op bindings & body :as form]]
  [(bind-all b bindings)
   (with-meta (list* op (vec (interleave (take-nth 2 bindings) (bare bindings))) body) (meta form))])

;;;; try

(defn- rethrow
  "Ends the current block by throwing what the local `sym` holds."
  [b sym]
  (leave b [:return (list 'throw (with-meta sym {:tag 'java.lang.Throwable}))]))

(defn- catch-class
  "Returns the class that the catch clause `form` names. If there is none, throws as Clojure does."
  ^Class [[_ class :as form]]
  (or (internals/class-named class)
      (let [{:keys [line column]} (meta form)]
        (throw (Compiler$CompilerException. (str *file*) (int (or line 0)) (int (or column 0)) 'try
                                            (IllegalArgumentException. (str "Unable to resolve classname: " class)))))))

(defn- run-catches
  "Tries the catch clauses on `thrown`. The block after them gets an exception that none of them catches."
  [b clauses thrown dest]
  (reduce (fn clause [b [_ class sym & body :as form]]
            (let [test (list 'clojure.core/instance? (symbol (.getName (catch-class form))) thrown)
                  [b yes] (add-block b nil [])
                  [b no] (add-block b nil [])]
              (-> b
                  (leave [:branch test yes no])
                  (enter yes) (bind (vary-meta sym assoc :tag class) thrown) (run-body body dest)
                  (enter no))))
          b clauses))

(defn- start-region
  "Enters a new block whose exceptions go to block `handler`."
  [b handler]
  (let [[b start] (add-block (assoc b :handler handler) nil [])]
    (-> b (leave [:jump start []]) (enter start))))

(defn- run-protected
  "Writes `body` and its catch clauses. `otherwise` ends the block for an exception that none of them catches."
  [b body clauses dest otherwise]
  (if (empty? clauses)
    (run-body b body dest)
    (let [thrown (gensym "thrown__")
          [b handler] (add-block b :catch [thrown])]
      (-> b
          (start-region handler) (run-body body dest)
          (enter handler) (local thrown) (run-catches clauses thrown dest)
          (otherwise thrown)))))

(defn- run-finally
  "Writes a try with a finally clause. There is one copy of the clause for all ways out. Its block's
  parameters say what follows: throw `problem`, or continue with `result`."
  [b body clauses [_ & cleanup] dest]
  (let [[problem result thrown] (map gensym ["problem__" "result__" "thrown__"])
        value? (or (= :return dest) (:value? dest))
        [b after] (add-block b :boxed (if value? [problem result] [problem]))
        [b guard] (add-block b :catch [thrown])
        fail (fn fail [b sym] (leave b [:jump after (if value? [sym nil] [sym])]))
        b (-> b
              (start-region guard) (run-protected body clauses {:join after :args [nil] :value? value?} fail)
              (enter guard) (local thrown) (fail thrown)
              (enter after) (local problem) (local result))
        b (reduce effect b cleanup)
        [b failed] (add-block b nil [])
        [b passed] (add-block b nil [])]
    (-> b
        (leave [:branch problem failed passed])
        (enter failed) (rethrow problem)
        (enter passed) (send-to (when value? result) dest))))

(defn- run-try [b form dest]
  (let [kind (fn kind [part] (when (seq? part) (#{'catch 'finally} (first part))))
        {body nil, clauses 'catch, [cleanup] 'finally} (group-by kind (rest form))]
    (if cleanup
      (run-finally b body clauses cleanup dest)
      (run-protected b body clauses dest rethrow))))

;;;; Forms

(defn- run
  "Writes blocks that send the value of `form` to `dest`; no block is current after that."
  [b form dest]
  (if-not (mark/transformed? form)
    (send-to b form dest)
    (case (head form)
      (do let* letfn*) (let [[b last-form] (prefix b form)] (recur b last-form dest))
      if (run-if b form dest)
      case* (run-case b form dest)
      try (run-try b form dest)
      recur (run-recur b form)
      loop* (if (::mark/loops (meta form))
              (run-loop b form dest)
              (let [[b v] (native-loop b form)] (send-to b v dest)))
      (let [[b v] (rebuild b form)] (send-to b v dest)))))

(defn- boxed?
  "Returns whether Clojure takes the value of `form` for an object: it wraps a loop or try that is an argument, or a branch
  of one, in a function."
  [form]
  (or (contains? '#{loop* try} (head form))
      (and (seq? form) (some boxed? (forms/tails form)))))

(defn- merged
  "Like `run`, but with a new current block after it. There `sym`, if not nil, has the value."
  [b form sym]
  (let [kind (if (boxed? form) :boxed :join)
        [b join] (add-block b kind (if sym [sym] []))]
    (-> b
        (run form {:join join :args [] :value? (some? sym)})
        (enter join))))

(defn- value
  "Returns [b form']. Evaluated next, form' has the value of `form` and doesn't park."
  [b form]
  (if-not (mark/transformed? form)
    [b form]
    (case (head form)
      (do let* letfn*) (let [[b last-form] (prefix b form)] (recur b last-form))
      (if case* try recur) (let [sym (gensym "v__")] [(local (merged b form sym) sym) sym])
      loop* (if (::mark/loops (meta form))
              (let [sym (gensym "v__")] [(local (merged b form sym) sym) sym])
              (native-loop b form))
      (rebuild b form))))

(defn- effect
  "Returns b after `form` has been evaluated and its value dropped."
  [b form]
  (if-not (mark/transformed? form)
    (dropped b form)
    (case (head form)
      (do let* letfn*) (let [[b last-form] (prefix b form)] (recur b last-form))
      (if case* try recur) (merged b form nil)
      loop* (if (::mark/loops (meta form))
              (merged b form nil)
              (let [[b v] (native-loop b form)] (dropped b v)))
      (let [[b v] (rebuild b form)] (dropped b v)))))

;;;; Thread bindings

(defn- makes-bindings?
  "Returns whether the code entry pushes bindings, by Clojure's function or by the method under it."
  [[_ form]]
  (let [op (head form)
        op (if (= '. op) (let [member (nth form 2)] (if (seq? member) (first member) member)) op)]
    (and (symbol? op) (contains? #{"push-thread-bindings" "pushThreadBindings"} (name op)))))

(defn- adopt-bindings
  "Makes the thread on which the block continues the owner of the bindings that the block has made;
  `base` are the bindings before."
  [base {:keys [kind] :as block}]
  (if (= :resume kind)
    (update block :code (fn adopting [code] (into [[:adopt-bindings base]] code)))
    block))

(defn- with-bindings-kept
  "If the block makes bindings, its frame moves them from thread to thread."
  [{:keys [blocks entry] :as program}]
  (if (some (fn makes? [block] (some makes-bindings? (:code block))) blocks)
    (let [base (gensym "base__")]
      (-> program
          (assoc :blocks (mapv (fn adopt-in [block] (adopt-bindings base block)) blocks))
          (update-in [:blocks entry :code] (fn found [code] (into [[:own-bindings [base]]] code)))))
    program))

(defn blocks
  "Returns the basic blocks of `form`, a marked form whose locals are the keys of `known`."
  [form known]
  (let [[b entry] (add-block {:blocks [], :locals known, :handler nil, :loop nil} nil [])]
    (with-bindings-kept {:entry entry, :blocks (:blocks (run (enter b entry) form :return))})))
