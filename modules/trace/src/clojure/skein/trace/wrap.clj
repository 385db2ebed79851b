;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.wrap
  "Wrappers: functions that call another and report each call.

  To its callers a wrapper has the arities of its original. It has the same primitive arities.
  If the original is variadic, the wrapper has the same number of required parameters, so that it
  realises no more of an argument list. Each call takes one more stack frame than without the
  wrapper."
  {:no-doc true}
  (:require
   [skein.impl.internals :as internals]
   [skein.trace.call :as call]
   [skein.trace.event :as event]
   [skein.trace.text :as text])
  (:import
   (clojure.lang IFn MultiFn RestFn)
   (skein.trace.call Target)))

(set! *warn-on-reflection* true)

(def ^:private ^:const max-fixed "The most arguments of an arity without a rest parameter, in the wrapper of a function that is not variadic." 8)

(defn- traced-body
  "Returns the body of a wrapper of the function `f`. `invocation` is the form that calls `f`."
  [target f args more invocation]
  `(let [call# (call/enter ~target ~f (object-array [~@args]) ~more)]
     (if (nil? call#)
       ~invocation
       (try
         (let [value# ~invocation]
           (call/returned call# value#)
           value#)
         (catch Throwable t#
           (try
             (call/thrown call# t#)
             (finally (throw t#)))))))) ; reporting must not fail, even when the stack is exhausted

(defn- params [n] (vec (repeatedly n (fn [] (gensym "a")))))

(defn- fixed-arity [target f n]
  (let [args (params n)]
    (list args (traced-body target f args nil (list* f args)))))

(defn- rest-form
  "Returns a form for `more` with `args` before it. It calls no function of Clojure, because that may be traced."
  [args more]
  (reduce (fn with-arg [form arg] (list '. 'clojure.lang.RT 'cons arg form)) more (reverse args)))

(defn- rest-arity [target f n]
  (let [args (params n), more (gensym "more")]
    (list (conj args '& more) (traced-body target f args more (list '.applyTo f (rest-form args more))))))

(def ^:private letter->hint {\L 'long, \D 'double, \O nil})

(defn- primitive-arity
  "Returns the arity for a signature such as \"LOD\", which is from a long and an object to a double."
  [target f signature]
  (let [args (mapv (fn hinted [letter] (vary-meta (gensym "a") assoc :tag (letter->hint letter))) (butlast signature))
        hinted (with-meta args {:tag (letter->hint (last signature))})
        interface (symbol (str "clojure.lang.IFn$" signature))]
    (list hinted (traced-body target f (map (fn bare [a] (with-meta a nil)) args) nil
                              (list* '.invokePrim (with-meta f {:tag interface}) (map (fn bare [a] (with-meta a nil)) args))))))

(defn- wrapper-form
  "Returns the form of a function from a target and an original to a wrapper. `required` is the number of parameters
  before the rest parameter, or nil if the original has none. `signatures` are its primitive arities."
  [required signatures]
  (let [target (gensym "target"), f (gensym "f")
        primitive (into #{} (map (fn n-params [s] (dec (count s)))) signatures)
        fixed (remove primitive (range (inc (long (or required max-fixed)))))]
    `(fn [~target ~(with-meta f {:tag `IFn})]
       (fn ~'traced
         ~@(map (fn one [s] (primitive-arity target f s)) signatures)
         ~@(map (fn one [n] (fixed-arity target f n)) fixed)
         ~(rest-arity target f (or required max-fixed))))))

(defmacro ^:private wrapper [required signatures]
  (wrapper-form required signatures))

(def ^:private wrap-fixed (wrapper nil nil))
(def ^:private wrap-variadic-0 (wrapper 0 nil))
(def ^:private wrap-variadic-1 (wrapper 1 nil))

(defn- compile-wrapper [required signatures]
  (or (when (empty? signatures)
        ({nil wrap-fixed, 0 wrap-variadic-0, 1 wrap-variadic-1} required))
      (binding [*ns* (the-ns 'skein.trace.wrap), *warn-on-reflection* false]
        (eval (wrapper-form required signatures)))))

(def ^:private maker (memoize compile-wrapper))

(defn signatures
  "Returns the signatures of the primitive arities of a function, sorted: [\"LL\"]."
  [f]
  (->> (supers (class f))
       (keep (fn signature [^Class c] (second (re-matches #"clojure\.lang\.IFn\$([LDO]+)" (.getName c)))))
       sort
       vec))

(defn wrap-fn
  "Returns a function that calls `f` and reports each call as one of `target`."
  [target f]
  ((maker (when (instance? RestFn f) (.getRequiredArity ^RestFn f)) (signatures f)) target f))

(defn wrap-alone
  "Returns a function that calls `f` and gives each call, as one of `fn-name`, to the sinks that `sinks-fn`
  returns."
  [fn-name f sinks-fn]
  (let [^Target target (call/target fn-name nil nil)]
    (swap! (.gate target) assoc :always sinks-fn)
    (vreset! (.live target) f)
    (wrap-fn target f)))

(defn- warm-up!
  "Initializes every class of the tracer. If a class is first used when the stack is almost exhausted, its
  initialization fails, and it can never be used again."
  []
  (let [sink (fn drop-line [event] (text/line event :skein 400))
        traced (fn traced [f] (wrap-alone 'warm-up f (constantly [sink])))]
    ((traced identity) [1 {:a "x"} '(1) #{2}])
    (try ((traced (fn fail [x] (throw x))) (Exception. "x")) (catch Exception _ nil))))

(warm-up!)
(defonce ^:private first-number (event/restart-ids!)) ; once: after a reload the numbers go on

(defn wrap-multi
  "Returns a multimethod that calls `mm` and reports each call. Code that adds, removes or looks up
  methods in it does so in `mm`."
  ^MultiFn [target ^MultiFn mm]
  (let [call-it (wrap-fixed target mm)]
    (proxy [MultiFn] [(internals/multimethod-name mm) (.dispatchFn mm) (.defaultDispatchVal mm) (.hierarchy mm)]
      (invoke [& args] (.applyTo ^IFn call-it args))
      (reset [] (.reset mm))
      (addMethod [value method] (.addMethod mm value method))
      (removeMethod [value] (.removeMethod mm value))
      (preferMethod [x y] (.preferMethod mm x y))
      (getMethod [value] (.getMethod mm value))
      (getMethodTable [] (.getMethodTable mm))
      (getPreferTable [] (.getPreferTable mm)))))
