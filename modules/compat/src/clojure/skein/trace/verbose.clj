;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.verbose
  "Output that a program prints only in verbose mode: `printfv` `printlnv` `condv` `ifv`, in `with-verbose`
  or after `set-verbose!`.

  Source: Eli Bendersky, Notes on debugging Clojure code, 2017. doc/trace.md is the guide."
  (:require
   [skein.impl.error :as error]
   [skein.impl.expand :as expand]
   [skein.trace.say :as say]))

(set! *warn-on-reflection* true)

(defonce
  ^{:dynamic true
    :doc "Which of `printfv`, `printlnv`, `condv` and `ifv` print: false, none; true, all; or a set of the
  tags that print. Go blocks and Skein's threads have the binding of the code that started them."}
  *verbose*
  false)

(defn set-verbose!
  "Sets the root value of `*verbose*`, for all threads that have no binding of it. Returns `level`."
  [level]
  (alter-var-root #'*verbose* (constantly level)))

(defn verbose?
  "Returns whether code with the tag `tag`, or without a tag, prints."
  ([] (verbose? nil))
  ([tag]
   (boolean (if (set? *verbose*)
              (and tag (contains? *verbose* tag))
              *verbose*))))

(defmacro with-verbose
  "Evaluates the body with `*verbose*` true.
  If a vector of tags comes first, only these print.

      (with-verbose [:db] [(verbose? :db) (verbose? :net) (verbose?)])
      ;=> [true false false]"
  {:style/indent 0}
  [& body]
  (if (and (vector? (first body)) (next body))
    `(binding [*verbose* (set ~(first body))] ~@(rest body))
    `(binding [*verbose* true] ~@body)))

(defmacro ^{:style/indent 0} printfv
  "If verbose, prints a line, formatted as by `format`, with file and line of the call. A keyword
  before the format is its tag. Evaluates the arguments only if verbose. Returns nil."
  [& args]
  (let [[tag args] (if (keyword? (first args)) [(first args) (rest args)] [nil args])]
    `(when (verbose? ~tag)
       (say/say! '~(say/site-of &form) (format ~@args)))))

(defmacro ^{:style/indent 0} printlnv
  "If verbose, prints the arguments as `println` does, with file and line of the call. Returns nil."
  [& args]
  `(when (verbose?)
     (say/say! '~(say/site-of &form) (apply str (interpose " " [~@args])))))

;;;; Which clause fired

(def ^:private own-macros '#{condv ifv})

(defn- leaves-tail?
  "Returns whether `form` recurs to a loop or function around it, or contains a condv or ifv, which must
  not be compiled twice."
  [env form]
  (letfn [(recurs? [form]
            (cond
              (seq? form) (case (first form)
                            recur true
                            (fn* loop* quote reify* deftype*) false
                            (some recurs? form))
              (coll? form) (some recurs? form)))]
    (or (some (fn own? [x] (and (symbol? x) (own-macros (symbol (name x))))) (tree-seq coll? seq form))
        (recurs? (:form (expand/expand env form))))))

(defn- clause-form
  "Returns the form of a clause that has fired. `form` is in tail position unless verbose. If verbose, its
  value is printed too, unless `leaves-tail?` forbids that."
  [env site text form]
  (if (leaves-tail? env form)
    `(do (when (verbose?) (say/say! ~site ~text))
         ~form)
    `(if (verbose?)
       (say/fired! ~site ~text ~form)
       ~form)))

(defn- check-clauses! [form clauses]
  (when (odd? (count clauses))
    (error/fail! :skein/bad-argument
                 (str "condv takes pairs of a test and a value, but there are " (count clauses) " forms in "
                      (error/preview form) ". Write :else before the last one if it is the default.")
                 (expand/location form))))

(defmacro ^{:style/indent 0} condv
  "Like `cond`, but if verbose, prints which clause was chosen, or that none was.

      (condv (neg? 1) :negative, :else :positive)
      ;=> :positive

  If verbose, prints the value too, unless the clause contains recur or condv. A clause whose value is not
  printed is in tail position. Throws :skein/bad-argument when it is compiled."
  [& clauses]
  (check-clauses! &form clauses)
  (let [site (list 'quote (say/site-of &form))]
    (reduce (fn clause [else [test form]]
              (let [text (str "condv " (error/preview test) " fired")]
                `(if ~test ~(clause-form &env site text form) ~else)))
            `(when (verbose?) (say/say! ~site "condv: no clause fired"))
            (reverse (partition 2 clauses)))))

(defmacro ^{:style/indent 1} ifv
  "Like `if`, but if verbose, prints whether the test was true; see `condv`."
  ([test then] `(ifv ~test ~then nil))
  ([test then else]
   (let [site (list 'quote (say/site-of &form))
         branch (fn branch [outcome form]
                  (clause-form &env site (str "ifv " (error/preview test) " " outcome) form))]
     `(if ~test ~(branch "true" then) ~(branch "false" else)))))
