;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.names
  "Names for code, so that it can be sent: a process that gets a name loads the namespace and looks the var up.

  A name is a symbol, the value of the var it names, or a vector [symbol & arguments], what that var returns for them.
  * `name-of` finds the name of a function, a record or a fold
  * `resolve-name` finds the var, at the other side
  * `remember` gives a name to a function that has none

  A function has a name if it is the value of a var. It also has one if the function in a var made it, and makes the same function
  again from the values that it closes over. So (map inc) is [clojure.core/map clojure.core/inc], and the function that
  (less-than 3) returns is [my.app/less-than 3]. To be sure, this process calls the maker again, as the other process will."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.impl.error :as error])
  (:import
   (clojure.lang Fn Namespace RT Var)
   (java.io FileNotFoundException)
   (java.lang.reflect Field Modifier)
   (java.util Collections Map WeakHashMap)
   (java.util.concurrent ConcurrentHashMap)
   (java.util.zip CRC32)))

(set! *warn-on-reflection* true)

;;;; Namespaces and their files

(def ^:dynamic *used*
  "A volatile set that collects the namespaces of the names found, or nil."
  nil)

(defn- resource-of
  "Returns the URL of the file that a namespace is loaded from, or nil. `n` is its symbol."
  [n]
  (let [path (-> (str n) (str/replace \- \_) (str/replace \. \/))]
    (some #(io/resource (str path %)) [".clj" ".cljc" "__init.class"])))

(defn fingerprint
  "Returns a checksum of the file of the namespace `n`, a symbol, or nil if it has none here."
  [n]
  (when-let [url (resource-of n)]
    (with-open [in (io/input-stream url)]
      (let [crc (CRC32.)]
        (.update crc (.readAllBytes in))
        (.getValue crc)))))

(defn at-repl?
  "Returns whether a var was defined at a prompt, so that no file holds it as it is."
  [^Var v]
  (let [file (:file (meta v))]
    (or (nil? (resource-of (ns-name (.ns v))))
        (and (some? file) (str/starts-with? file "NO_SOURCE")))))

;;;; Vars by value

(defn- ns-munged
  "Returns the loaded namespace whose name in Java is `munged`, or nil."
  [munged]
  (some (fn [^Namespace n] (when (= munged (munge (str (ns-name n)))) n)) (all-ns)))

(defn- own-vars
  "Returns the vars that the namespace `n` has defined, as a reducible collection. ns-interns would copy the map of all names."
  [^Namespace n]
  (eduction (filter (fn [v] (and (var? v) (identical? n (.ns ^Var v))))) (vals (.getMappings n))))

(defn- found
  "Returns the first value other than nil and false that (f v) returns for the vars `vs`, or nil."
  [f vs]
  (reduce (fn look [_ v] (when-let [x (f v)] (reduced x))) nil vs))

(defn- var-munged
  "Returns the var of the namespace `n` whose name in Java is `munged`, or nil."
  [n munged]
  (found (fn [^Var v] (when (= munged (munge (str (.sym v)))) v)) (own-vars n)))

(defn- value [^Var v]
  (when (.hasRoot v) (.getRawRoot v)))

(defn- named-var
  "Returns v, if it is a var of value `f`."
  [f v]
  (when (and v (identical? f (value v))) v))

(defn- var-by-class
  "Returns the var that the class of the function `f` is named after, if `f` is its value."
  [f]
  (let [[pkg sym & more] (str/split (.getName (class f)) #"\$")]
    (when (and sym (nil? more))
      (when-let [n (ns-munged pkg)] (named-var f (var-munged n sym))))))

(defn- vars
  "Returns all vars of all namespaces, as a reducible collection."
  []
  (eduction (mapcat own-vars) (all-ns)))

(defn- best
  "Returns the var among `vars` that other processes can load, if there is one, else any, or nil."
  [vars]
  (or (first (remove at-repl? vars)) (first vars)))

(defn- fold-map?
  "Returns whether `x` may be a fold. A sorted map can't be asked for keys of another type."
  [x]
  (and (map? x) (not (record? x)) (not (sorted? x)) (instance? Fn (:step x))))

(defn part
  "Returns what the fold in the var `v` has under `k`."
  [v k]
  (get @v k))

(defn- part-of
  "Returns the name of `f` as a part of the fold that the var `v` holds, or nil."
  [f v]
  (let [fold (value v)]
    (when (and (fold-map? fold) (not (at-repl? v)))
      (some (fn [[k x]] (when (identical? f x) [`part v k])) fold))))

(defn- cannot-travel! [what path why data]
  (error/fail! :skein/cannot-travel
               (str what (when (seq path) (str ", at " (error/preview path) ",")) " can't be sent to another process: " why)
               (assoc data :path (vec path))))

(defn symbol-of
  "Returns the symbol of the var `v`, which other processes can load. Throws :skein/cannot-travel if it was defined at a prompt."
  [^Var v path]
  (when (at-repl? v)
    (cannot-travel! v path "it was defined at a prompt, so no file holds it. Save it in the file of its namespace and load that, or wrap the form that uses it in skein.spark/here."
                    {:var (.toSymbol v)}))
  (when *used* (vswap! *used* conj (ns-name (.ns v))))
  (.toSymbol v))

(defn- check-own
  "Throws :skein/cannot-travel if the function `f`, the value of the var `v`, was written in another namespace, outside of all
  definitions there. Then no file defines `v` in this way: it was redefined, as by with-redefs."
  [f ^Var v path]
  (let [[pkg sym] (str/split (.getName (class f)) #"\$")
        n (when (and sym (instance? Fn f)) (ns-munged pkg))] ; none for a function written in Java, such as list
    (when (and n (not= n (.ns v)) (nil? (var-munged n sym)))
      (cannot-travel! v path "its value comes from another namespace, so it was redefined since its file was loaded. Define it in its file." {:var (.toSymbol v)}))))

(defn- var-of
  "Returns the name of the var whose value is `f`, or nil."
  [f path]
  (when-let [v (or (var-by-class f) (best (into [] (filter #(named-var f %)) (vars))))]
    (check-own f v path)
    (symbol-of v path)))

;;;; Functions by the function that made them

(defn- closed-over
  "Returns a map from the munged name of each local that the function `f` closes over to its value."
  [f]
  (into {}
        (for [^Field field (.getDeclaredFields (class f))
              :when (not (Modifier/isStatic (.getModifiers field)))]
          (do (.setAccessible field true)
              [(.getName field) (.get field f)]))))

(defn- arguments
  "Returns the arguments by which a function of these parameters would close over `locals`, or nil if it can't."
  [locals parameters]
  (let [[fixed [_ more]] (split-with #(not= '& %) parameters)
        munged #(munge (str %))]
    (when (and (every? simple-symbol? fixed) (or (nil? more) (simple-symbol? more))
               (= (set (keys locals)) (into #{} (map munged) (cond-> fixed more (conj more)))))
      (concat (map #(locals (munged %)) fixed) (when more (locals (munged more)))))))

(defn- same?
  "Returns whether two functions have the same code and close over the same values."
  [f g]
  (and (identical? (class f) (class g))
       (let [theirs (closed-over g)]
         (every? (fn [[k mine]]
                   (let [other (theirs k)]
                     (or (identical? mine other) (and (or (number? mine) (boolean? mine) (char? mine)) (= mine other)))))
                 (closed-over f)))))

(defn- remade
  "Returns [call made] such that `made`, what the call [var & arguments] returns, satisfies `same-as-f?`; or nil. The call is to
  the var that the class of the function `f` is named after, with what `f` closes over."
  [f same-as-f?]
  (let [[pkg sym inner & more] (str/split (.getName (class f)) #"\$")]
    (when (and inner (nil? more))
      (when-let [^Var v (some-> (ns-munged pkg)
                                (var-munged sym))]
        (let [locals (closed-over f)]
          (some (fn [parameters]
                  (when-let [args (or (arguments locals parameters) (when (and (empty? locals) (= [] parameters)) ()))]
                    (let [made (try (apply v args) (catch Exception _ nil))]
                      (when (same-as-f? made) [(into [v] args) made]))))
                (:arglists (meta v))))))))

(defn maker-call
  "Returns [var & arguments], a call that makes a function with the same code and the same closed-over values as `f`, or nil."
  [f]
  (first (remade f #(and (instance? Fn %) (same? f %)))))

;;;; Names given

(defonce ^:private ^Map remembered (Collections/synchronizedMap (WeakHashMap.)))

(defn remember
  "Returns `x`, a function or a fold, which from now on has the name [symbol & arguments]."
  [x call]
  (if (map? x)
    (vary-meta x assoc :skein.fold/made {:call call, :fold x})
    (do (.put remembered x call) x)))

;;;; Finding a name

(defn- part-like
  "Returns the key under which the map `made` has a function like `f`, or nil."
  [f made]
  (when (fold-map? made)
    (some (fn [[k x]] (when (and (instance? Fn x) (same? f x)) k)) made)))

(defn- made-name
  "Returns the name of `f` if the function in a var made it, or made a fold of which it is a part; otherwise nil."
  [f path]
  (let [call (fn [[v & args]] (into [(symbol-of v path)] args))]
    (if-let [found (maker-call f)]
      (call found)
      (when-let [[found made] (remade f #(part-like f %))]
        ['clojure.core/get (remember made (call found)) (part-like f made)]))))

(defn making-call
  "Returns the call [symbol & arguments] that made the fold `f`, or nil. A fold that was changed since has none."
  [f]
  (let [{:keys [call fold]} (:skein.fold/made (meta f))]
    (when (= fold f) call)))

(defn- refed-name
  "Returns the name of the fold `f` if a call made it and only its xform was changed since, as for a source with transducers."
  [f]
  (let [{:keys [call fold]} (:skein.fold/made (meta f))]
    (when (and call (= (dissoc fold :xform) (dissoc f :xform)))
      ['clojure.core/assoc (remember fold call) :xform (:xform f)])))

(defn fold-name
  "Returns the name of the map `f`, which may be a fold, or nil."
  [f path]
  (when (fold-map? f)
    (or (making-call f)
        (refed-name f)
        (found (fn [v]
                 (let [x (value v)]
                   (when (and (fold-map? x) (= f x) (not (at-repl? v))) (symbol-of v path))))
               (vars)))))

(defn- where
  "Returns the Clojure name of a function's class."
  [f]
  (str (Compiler/demunge (.getName (class f)))))

(defn- nameless! [f path]
  (cannot-travel! (str "The function " (where f)) path
                  (str "it has no name. Give it one by (defn ...) in a file; or return it from a function in a file that takes as arguments "
                       "all values that it closes over; or wrap the form in skein.spark/here.")
                  {:function (where f)}))

(defonce ^:private ^Map constructors (ConcurrentHashMap.))

(defn- constructor
  "Returns the symbol of the function that makes a record of the class `c` from a map. Throws :skein/cannot-travel."
  [^Class c path]
  (or (.get constructors c)
      (let [[_ pkg simple] (re-matches #"(.*)\.([^.]+)" (.getName c))
            v (some-> (ns-munged pkg) (var-munged (str (munge "map->") simple)))]
        (when-not v
          (cannot-travel! (str "A record of " (.getName c)) path
                          "no namespace has the function that makes one from a map. Define it by defrecord in a file." {:class (.getName c)}))
        (let [sym (symbol-of v path)]
          (.put constructors c sym)
          sym))))

(defn- record-name [r path]
  (if-let [m (not-empty (meta r))]
    ['clojure.core/with-meta (with-meta r nil) m]
    (let [sym (constructor (class r) path)]
      (when *used* (vswap! *used* conj (symbol (namespace sym))))
      [sym (into {} r)])))

(defn name-of
  "Returns the name of `x`: a symbol, or [symbol & arguments]; nil for a map that needs none.

  x     a function, a record, or a map that has :step
  path  where it stands in the value to send, for the message

  Throws :skein/cannot-travel if it has none."
  [x path]
  (cond
    (record? x) (record-name x path)
    (map? x) (fold-name x path)
    :else (or (.get remembered x)
              (var-of x path)
              (made-name x path)
              (found #(part-of x %) (vars))
              (nameless! x path))))

;;;; Finding what a name means

(defn shipped
  "Returns the names of the jars that this process loads code from, for messages."
  []
  (->> (str/split (System/getProperty "java.class.path" "") #":")
       (map #(.getName (io/file %)))
       (filter #(str/ends-with? % ".jar"))
       vec))

(defn- missing! [sym cause]
  (throw (error/failure [:skein/far-code :missing]
                        (str "This process can't load " sym ": no file of the namespace " (namespace sym) " is on its class path, or the file does "
                          "not define it. Check the name. If it is this process that lacks the file, ship its jar, by :jars of skein.spark/connect.")
                        {:name sym}
                        cause)))

(defn- broken! [sym ^Throwable cause]
  (let [root (last (take-while some? (iterate #(.getCause ^Throwable %) cause)))]
    (throw (error/failure [:skein/far-code :broken]
                          (str "The namespace " (namespace sym) " throws while it is loaded: " (ex-message root))
                          {:name sym}
                          cause))))

(defn- load-namespace! [sym]
  (let [n (symbol (namespace sym))]
    ;; The lock of requiring-resolve. Without it two tasks could load at once, and one see vars that have no value yet.
    (locking RT/REQUIRE_LOCK
      (try
        (require n)
        (catch FileNotFoundException e (when-not (find-ns n) (missing! sym e)))
        (catch Exception e (broken! sym e))))))

(defonce ^:private ^Map resolved (ConcurrentHashMap.))

(defn resolve-name
  "Returns the var that `sym` names; loads its namespace. Throws :skein/far-code."
  [sym]
  (or (.get resolved sym)
      (do (load-namespace! sym)
          (let [v (or (find-var sym) (missing! sym nil))]
            (.put resolved sym v)
            v))))
