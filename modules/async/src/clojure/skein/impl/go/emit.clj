;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.emit
  "Blocks and slots -> the form that makes a skein.rt.block.Frame and starts it.

  The arms of a program become the clauses of a `case` on the frame's state,
  in a loop; a jump is a recur. An arm loads from its slots what it needs, runs
  as ordinary code with ordinary locals, and at its end stores what the next arm
  needs. The object slots of locals that die in an arm are emptied before its
  code runs, so that the frame keeps no object alive that the code can't reach.

  A context is {:frame symbol, :states {block-id number}, :group #{block-id of
  the arms in the method at hand}, ...program}."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.impl.go.size :as size]
   [skein.impl.go.slots :as slots]))

(set! *warn-on-reflection* true)

(declare emit-block)

;;;; Slots as forms

(def ^:private object-fields '[-o0 -o1 -o2 -o3 -o4 -o5])
(def ^:private long-fields '[-l0 -l1])
(def ^:private long-setters '[l0 l1])
(def ^:private n-object-fields (count object-fields))
(def ^:private n-long-fields (count long-fields))

(defn- dot [target method & args] (list '. target (list* method args)))

(defn- object-ref [frame index]
  (if (< (long index) (long n-object-fields))
    (list '. frame (object-fields index))
    (dot 'clojure.lang.RT 'aget (list '. frame '-more) (- (long index) (long n-object-fields)))))

(defn- long-ref [frame index]
  (if (< (long index) (long n-long-fields))
    (list '. frame (long-fields index))
    (dot 'clojure.lang.RT 'aget (list '. frame '-moreLongs) (- (long index) (long n-long-fields)))))

(defn- load-form [frame {:keys [kind index ^Class primitive]}]
  (if (= :object kind)
    (cond->> (object-ref frame index)
      primitive (dot 'clojure.lang.RT 'booleanCast))
    (let [bits (long-ref frame index)]
      (case (.getName primitive)
        "long" bits
        "double" (dot 'java.lang.Double 'longBitsToDouble bits)
        "float" (dot 'clojure.lang.RT 'uncheckedFloatCast (dot 'java.lang.Double 'longBitsToDouble bits))
        "int" (dot 'clojure.lang.RT 'uncheckedIntCast bits)
        "short" (dot 'clojure.lang.RT 'uncheckedShortCast bits)
        "byte" (dot 'clojure.lang.RT 'uncheckedByteCast bits)
        "char" (dot 'clojure.lang.RT 'uncheckedCharCast bits)))))

(defn- bits-form [^Class primitive form]
  (case (.getName primitive)
    ("long" "int") form
    "double" (dot 'java.lang.Double 'doubleToRawLongBits form)
    "float" (dot 'java.lang.Double 'doubleToRawLongBits (dot 'clojure.lang.RT 'doubleCast form))
    (dot 'clojure.lang.RT 'uncheckedIntCast form)))

(defn- store-form [frame {:keys [kind index primitive]} form]
  (let [field? (< (long index) (long (if (= :object kind) n-object-fields n-long-fields)))]
    (cond
      (and field? (= :object kind)) (list 'set! (object-ref frame index) form)
      field? (dot 'skein.rt.block.FrameOps (long-setters index) frame (bits-form primitive form))
      (= :object kind) (dot 'skein.rt.block.FrameOps 'more frame (- (long index) (long n-object-fields)) form)
      :else (dot 'skein.rt.block.FrameOps 'moreLongs frame (- (long index) (long n-long-fields)) (bits-form primitive form)))))

;;;; Entries: [symbol form], [nil form], [:letfn bindings]

(defn- nest
  "Returns the form that evaluates `entries` in order and then `tail`."
  [entries tail]
  (let [close (fn close [op parts tail]
                (case op
                  let* (list 'let* (vec parts) tail)
                  do (cons 'do parts)
                  tail))]
    (loop [entries (vec entries), op nil, parts nil, tail tail]
      (let [[sym form :as entry] (peek entries)]
        (cond
          (nil? entry) (close op parts tail)
          (= :letfn sym) (recur (pop entries) nil nil (list 'letfn* form (close op parts tail)))
          (and sym (= 'let* op)) (recur (pop entries) op (list* sym form parts) tail)
          sym (recur (pop entries) 'let* (list sym form) (close op parts tail))
          (= 'do op) (recur (pop entries) op (cons form parts) tail)
          :else (recur (pop entries) 'do (list form (close op parts tail)) nil))))))

(defn- store [ctx sym form]
  [nil (store-form (:frame ctx) (get-in ctx [:slots sym]) form)])

(defn- bare [sym] (with-meta sym nil))

(defn- object-slot? [ctx sym] (= :object (get-in ctx [:slots sym :kind])))

(defn- runs
  "Returns [first last] of each run of neighbours in sorted numbers."
  [ns]
  (reduce (fn extend-run [out ^long n]
            (let [[from to] (peek out)]
              (if (and to (= n (inc (long to)))) (conj (pop out) [from n]) (conj out [n n]))))
          [] ns))

(defn- clear-run [ctx [from to]]
  (if (= from to)
    (store-form (:frame ctx) {:kind :object :index from} nil)
    (dot 'skein.rt.block.FrameOps 'clear (:frame ctx) (- (long from) (long n-object-fields)) (- (inc (long to)) (long n-object-fields)))))

(defn- clears
  "Returns entries that empty the object slots of `syms`: fields one by one, those of the array in
  runs."
  [ctx syms]
  (let [indexes (sort (distinct (keep (fn index [sym] (when (object-slot? ctx sym) (get-in ctx [:slots sym :index]))) syms)))
        [fields others] (split-with (fn field? [i] (< (long i) (long n-object-fields))) indexes)]
    (map (fn clear [run] [nil (clear-run ctx run)])
         (concat (map (fn one [i] [i i]) fields) (runs others)))))

(defn- same-handler? [{:keys [blocks]} a b]
  (= (:handler (nth blocks a)) (:handler (nth blocks b))))

(defn- set-state [ctx id]
  [nil (dot 'skein.rt.block.FrameOps 'state (:frame ctx) ((:states ctx) id))])

;;;; Edges

(defn- here? [ctx id] (contains? (:group ctx) id))

(defn- go-to
  "Returns the form that jumps to arm `id`. Before a jump to another method, the frame's state
  must be set."
  [ctx id]
  (if (here? ctx id)
    (list 'recur ((:states ctx) id))
    (list '. 'skein.rt.block.FrameOps '-JUMP)))

(defn- evaluated
  "Returns [entries args']. A handler must not see a slot overwritten if a later argument throws.
  So in a try, the entries evaluate the arguments before any is stored."
  [ctx from args]
  (if (and (next args) (:handler (nth (:blocks ctx) from)))
    (let [temps (map (fn temp [arg] (if (seq? arg) (gensym "arg__") arg)) args)]
      [(filter (fn compound? [[_ arg]] (seq? arg)) (map vector temps args)) temps])
    [nil args]))

(defn- moves
  "Returns entries that move `args` into the slots of the parameters of block `to`. The locals `held`
  are in their slots already."
  [ctx held from to args]
  (let [[entries args] (evaluated ctx from args)]
    (into (vec entries)
          (mapcat (fn move [[param arg]]
                    (let [sym (bare param)]
                      (cond
                        ;; If an empty try in a loop is a statement, Clojure compiles it to a bad class. So it becomes the value of a local.
                        (not (contains? ((:live ctx) to) sym)) (when (seq? arg) [[(gensym "unused__") arg]])
                        (and (= sym arg) (contains? held sym)) nil
                        :else [(store ctx sym arg)]))))
          (map list (:params (nth (:blocks ctx) to)) args))))

(defn- spills
  "Returns entries that store in the frame the locals that arm `to` needs, except for its parameters, and clear the
  others."
  [ctx held to]
  (let [needed (slots/in-frame ctx to)
        params (set (map bare (:params (nth (:blocks ctx) to))))
        place (fn place [sym] (select-keys (get-in ctx [:slots sym]) [:kind :index]))
        filled (into #{} (map place) needed)]
    (concat (for [sym needed :when (not (or (contains? held sym) (contains? params sym)))] (store ctx sym sym))
            (clears ctx (remove (fn kept? [sym] (or (contains? needed sym) (contains? filled (place sym)))) held)))))

(defn- jump [ctx held from to args]
  (if ((:arm? ctx) to)
    (nest (concat (moves ctx held from to args)
                  (spills ctx held to)
                  (when-not (and (here? ctx to) (same-handler? ctx from to)) [(set-state ctx to)]))
          (go-to ctx to))
    (nest (map vector (:params (nth (:blocks ctx) to)) args) (emit-block ctx held from to))))

(defn- park [ctx held [_ op args resume _]]
  (let [{:keys [frame states]} ctx
        op-form (list* '. frame [(list* (:method op) (concat args [(states resume)]))])]
    (nest (spills ctx held resume)
          (list 'if op-form (go-to ctx resume) (list '. 'skein.rt.block.Frame '-PARKED)))))

(defn- switch [ctx held from [_ form default arms]]
  (let [[op ge shift mask _ clauses & more] form]
    (list* op ge shift mask (jump ctx held from default [])
           (reduce-kv (fn clause [m k [test id]] (assoc m k [test (jump ctx held from id [])])) (empty clauses) arms)
           more)))

(defn- exit-form [ctx held id]
  (let [[op a b c :as exit] (:exit (nth (:blocks ctx) id))]
    (case op
      :return a
      :jump (jump ctx held id a b)
      :branch (list 'if a (jump ctx held id b []) (jump ctx held id c []))
      :switch (switch ctx held id exit)
      :park (park ctx held exit))))

;;;; Arms

(defn- code-entry [frame [kind what :as entry]]
  (case kind
    :function (let [[sym f] what] [[sym (dot 'skein.rt.block.FrameOps 'function f)]])
    :own-bindings [[nil (dot frame 'ownBindings)] [(first what) '(. clojure.lang.Var getThreadBindingFrame)]]
    :adopt-bindings [[nil (dot 'skein.base.Internals 'adoptBindings what)]]
    [entry]))

(defn- code-entries [{:keys [frame blocks]} id]
  (mapcat (fn entries [entry] (code-entry frame entry)) (:code (nth blocks id))))

(defn- body-form
  "Returns the code of a block and its exit, with `entries` before it."
  [ctx held id entries]
  (let [dying (remove ((:needed ctx) id) held)]
    (nest (concat entries (clears ctx dying) (code-entries ctx id))
          (exit-form ctx (reduce disj held dying) id))))

(defn- emit-block
  "Returns the form of a block inside the arm of its only predecessor `from`. If it is the first
  of a try, the locals that the handler needs are stored before any code can throw."
  [ctx held from id]
  (if (same-handler? ctx from id)
    (body-form ctx held id nil)
    (let [handler (:handler (nth (:blocks ctx) id))
          needed (if handler (remove held (slots/in-frame ctx handler)) [])]
      (body-form ctx (into held needed) id
                 (concat (map (fn spill [sym] (store ctx sym sym)) needed) [(set-state ctx id)])))))

(defn- load-entry [ctx sym]
  (let [{:keys [tag primitive] :as slot} (get-in ctx [:slots sym])]
    [(with-meta sym (when (and tag (not primitive)) {:tag tag})) (load-form (:frame ctx) slot)]))

(defn- held-value
  "Returns the entry for the parameter of a block that takes the frame's value."
  [ctx id]
  (let [{:keys [kind params]} (nth (:blocks ctx) id)]
    (when (#{:resume :catch} kind)
      [[(first params) (dot (:frame ctx) 'takeValue)]])))

(defn- arm [ctx id]
  (let [held (slots/in-frame ctx id)
        used ((:used ctx) id)
        loads (for [sym (sort-by name held) :when (contains? used sym)] (load-entry ctx sym))]
    (body-form ctx held id (concat (held-value ctx id) loads))))

;;;; Methods

(defn- by-range
  "Returns a form that finds the value for `n` in `table`, a sorted seq of [from value], by binary
  search."
  [n table]
  (if (next table)
    (let [[low high] (split-at (quot (count table) 2) table)]
      (list 'if (dot 'skein.rt.block.FrameOps 'below n (ffirst high)) (by-range n low) (by-range n high)))
    (second (first table))))

(defn- case-form [n clauses]
  (list 'case* n 0 0 nil
        (into (sorted-map) (map (fn clause [[state form]] [state [state form]])) clauses)
        :compact :int))

(defn- loop-form
  "Returns a form that runs arms until one returns, parks or jumps out of `clauses`, [state form]
  pairs."
  [frame clauses]
  (let [state (gensym "state__")
        n (gensym "n__")]
    (list 'loop* [state (list '. frame '-state)]
          (list 'let* [n (dot 'skein.rt.block.FrameOps 'number state)]
                (case-form n clauses)))))

(defn- arm-size
  "Returns the size of an arm: its code, and what it loads and empties."
  ^long [{:keys [bytes used needed] :as ctx} id]
  (let [held (slots/in-frame ctx id)
        loads (count (filter (used id) held))
        dying (if (every? (needed id) held) 0 1)]
    (+ 40 (long (bytes id)) (* (long size/slot) loads) (* (long size/clearing) dying))))

(defn- too-large! [{:keys [blocks]} id]
  (let [{[_ _ _ _ [_ line column text]] :exit} (nth blocks id)]
    (error/fail! :skein/block-too-large
                 (str "The code of this block between two parks is too large for a method of the JVM"
                      (when text (str " (the code before " text (when line (str " in line " line)) ")"))
                      ". It holds too many values, or has too much code. Collect values in a loop,"
                      " or move a part into a function.")
                 {:file *file*, :line line, :column column, :form text})))

(defn- groups
  "Returns the arms in groups, each of which fits into a method."
  [{:keys [arms] :as ctx}]
  (let [step (fn place [[done group ^long total] id]
               (let [n (arm-size ctx id)]
                 (when (< (long size/max-code) n) (too-large! ctx id))
                 (if (and (seq group) (< (long size/max-method) (+ total n)))
                   [(conj done group) [id] n]
                   [done (conj group id) (+ total n)])))
        [done group] (reduce step [[] [] 0] arms)]
    (conj done group)))

(defn- group-form [ctx group]
  (let [ctx (assoc ctx :group (set group))]
    (loop-form (:frame ctx) (map (fn clause [id] [((:states ctx) id) (arm ctx id)]) group))))

(defn- run-form
  "Returns the code of Body.run. A large program runs group by group, each in a function of its
  own."
  [{:keys [frame states] :as ctx}]
  (let [groups (groups ctx)
        result (gensym "result__")
        call (fn call [group]
               (let [f (gensym "frame__")]
                 (list (list 'fn* (list [(with-meta f {:tag 'skein.rt.block.Frame})] (group-form (assoc ctx :frame f) group))) frame)))]
    (if (next groups)
      (list 'loop* []
            (list 'let* [result (by-range (list '. frame '-state) (map (fn entry [g] [(states (first g)) (call g)]) groups))]
                  (list 'if (dot 'clojure.lang.Util 'identical result '(. skein.rt.block.FrameOps -JUMP)) '(recur) result)))
      (group-form ctx (first groups)))))

(defn- handler-form [{:keys [states blocks]} n]
  (let [table (sort (map (fn row [[id state]] [state (get states (:handler (nth blocks id)) -1)]) states))]
    (by-range n (map first (partition-by second table)))))

(defn- site-table [{:keys [blocks states]}]
  (sort-by first
           (keep (fn row [id]
                   (let [[op _ _ resume site] (:exit (nth blocks id))]
                     (when (= :park op)
                       [(states resume) (cond-> site (states (:handler (nth blocks resume))) (conj true))])))
                 (keys states))))

(defn- printed
  "Returns `x` as text that can be read back. The print settings of the compiling thread do not change it."
  [x]
  (binding [*print-length* nil, *print-level* nil, *print-meta* false, *print-dup* false, *print-readably* true] (pr-str x)))

(defn- sites-form
  "Returns a form of {:file :sites} for Body.sites. The table is text that is parsed when Body.sites is called. The names of symbols
  hold the text; each begins with two commas. A heap file has the symbols of a class, but not the strings in its code, so
  skein.inspect.heap can find the table."
  [ctx]
  (let [file (if (= "NO_SOURCE_PATH" *file*) "NO_SOURCE_FILE" *file*) ; at a REPL, as stack traces have it
        rows (map (fn row [[state site]] (str state " " (printed site) " ")) (site-table ctx))
        chunks (partition-all 100 (concat [(str "{:file " (printed file) " :sites {")] rows ["}}"]))
        symbols (map (fn quoted [chunk] (list 'quote (symbol nil (str ",," (apply str chunk))))) chunks)]
    (dot 'clojure.lang.EdnReader 'readString (with-meta (list* 'clojure.core/str symbols) {:tag 'String}) {})))

(defn- context [program]
  (let [others (remove (:arm? program) (keys (:live program)))]
    (assoc program
           :frame (gensym "frame__")
           :states (zipmap (concat (:arms program) (sort others)) (range)))))

(defn- body-of [{:keys [frame] :as ctx}]
  (let [this (gensym "this__")
        n (gensym "n__")]
    (list 'reify* ['skein.rt.block.Body]
          (list 'run [this frame] (run-form ctx))
          (list 'handler [this n] (handler-form ctx n))
          (list 'sites [this] (sites-form ctx)))))

(defn- arrays
  "Returns entries that give the frame arrays for the slots beyond its fields."
  [frame {n-objects :object n-longs :long}]
  (concat
    (when (< (long n-object-fields) (long n-objects))
      [[nil (list 'set! (list '. frame '-more) (dot 'clojure.lang.RT 'object_array (- (long n-objects) (long n-object-fields))))]])
    (when (< (long n-long-fields) (long n-longs))
      [[nil (list 'set! (list '. frame '-moreLongs) (dot 'clojure.lang.Numbers 'long_array (- (long n-longs) (long n-long-fields))))]])))

(defn emit
  "Returns the form that creates a frame for `program`, stores in it the locals
  `outer`, {symbol {:sym symbol-around}}, that it needs, and calls its method
  `spawn`, such as go, with `args`; the value is the block's result port."
  [program outer spawn & args]
  (let [{:keys [entry sizes] :as ctx} (context program)
        frame (with-meta (gensym "frame__") {:tag 'skein.rt.block.Frame})
        inputs (for [sym (sort-by name (slots/in-frame ctx entry))]
                 [nil (store-form frame (get-in ctx [:slots sym]) (:sym (outer sym)))])]
    (nest (concat [[(bare frame) (list 'new 'skein.rt.block.Frame (body-of ctx))]] (arrays frame sizes) inputs)
          (apply dot frame spawn args))))
