;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.codec
  "Values as bytes that another process can read: Fressian, and what it does not know.

  * `encode` returns the bytes of a value
  * `decode` returns the value

  Code travels by the names that skein.spark.names finds. Collections are built anew from their elements,
  because hashes belong to a process. Java's serialization has all else.

  The type of a value is decided here, because Fressian asks its own handlers first. They would send an
  Integer as a Long, any CharSequence as a String, -0.0 as 0.0, and an Object as nil."
  {:no-doc true}
  (:require
   [clojure.data.fressian :as fressian]
   [skein.impl.error :as error]
   [skein.impl.once :refer [deftype-once]]
   [skein.spark.names :as names])
  (:import
   (clojure.lang BigInt ExceptionInfo Fn IDeref IFn IObj IPersistentMap IPersistentVector IRecord ITransientCollection MapEntry MultiFn PersistentArrayMap PersistentHashMap PersistentHashSet PersistentList PersistentQueue PersistentTreeMap PersistentTreeSet PersistentVector RT Ratio Sequential Sorted Symbol Var)
   (java.io IOException Serializable)
   (java.lang ClassValue ReflectiveOperationException)
   (java.lang.invoke MethodType)
   (java.nio ByteBuffer)
   (java.util ArrayDeque ArrayList Arrays Collection HashMap HashSet LinkedHashMap LinkedHashSet LinkedList List Map Map$Entry UUID)
   (java.util.concurrent ExecutionException FutureTask)
   (org.fressian FressianWriter Reader)
   (org.fressian.handlers ReadHandler)
   (org.fressian.impl ByteBufferInputStream BytesOutputStream)
   (skein.spark.rt JavaBytes)))

(set! *warn-on-reflection* true)

(def ^:private ^:const max-depth "The deepest nesting of a value." 1200)

(def ^:private ^:const stack-depth
  "How deep a nesting one thread writes and reads. More would overflow the stack of a thread of Spark."
  200)

(defn- on-new-stack
  "Returns (f), called on another thread."
  [f]
  (let [task (FutureTask. ^Callable (bound-fn* f))]
    (.start (Thread. task))
    (try (.get task) (catch ExecutionException e (throw (ex-cause e))))))

;;;; Errors

(def ^:private ^:const max-places "Only the two ends of a longer path are shown." 12)

(defn- place
  "Returns the path with only such places as can be sent themselves."
  [path]
  (let [sendable? (some-fn nil? keyword? string? number? symbol? boolean?)
        places (mapv #(if (sendable? %) % (error/preview %)) path)
        half (quot max-places 2)]
    (if (<= (count places) max-places)
      places
      (-> (subvec places 0 half) (conj '...) (into (subvec places (- (count places) half)))))))

(defn- unsendable! [x path why]
  (let [c (.getName (class x))
        place (place path)]
    (error/fail! :skein/cannot-travel
                 (str "Can't send " (error/preview x) " (" c ") to another process"
                      (when (seq place) (str "; it is at " (error/preview place))) ". " why)
                 {:class c, :path place})))

(defn- too-deep! [^List path]
  (let [depth (.size path)
        place (place path)]
    (error/fail! :skein/cannot-travel
                 (str "Can't send a value that is nested " depth " levels deep, at " (error/preview place)
                      ": " max-depth " is the limit. Send it as a flat collection.")
                 {:path place, :depth depth})))

(defn- too-large! [max-bytes]
  (error/fail! :skein/too-large
               (str "A value to send is larger than " max-bytes
                    " bytes. Let the fold keep less, or set a greater :max-result-bytes.")
               {:max-result-bytes max-bytes}))

(defn- with-classes
  "Returns (f). Throws :skein/far-code if it needs a class that can't be loaded here."
  [f]
  (try
    (f)
    (catch Exception e
      (throw (if (some #(instance? % e) [IOException ReflectiveOperationException TypeNotPresentException])
               (error/failure [:skein/far-code :missing]
                              (str "A value that was sent needs a class that can't be loaded here: " e
                                   ". Ship its jar, by :jars of connect.")
                              {} e)
               e)))))

;;;; Writing

;; `path` has the place of the value that is being written: keys and indices from the outside in.
(deftype-once Out [^FressianWriter writer ^BytesOutputStream bytes ^ArrayList path ^long max-bytes])

(declare encode write-nested)

(def ^:private ^Collection plain
  "The classes that Fressian sends as they are. It writes each number of an array by itself, so all arrays but
  those of bytes go by Java's serialization."
  (HashSet. [Float Character BigInt Ratio BigDecimal UUID byte/1]))

(defn- write
  "Writes `x`: what is common and plain at once, all else by `write-nested`."
  [^Out out x]
  (let [^FressianWriter w (.writer out)]
    (cond
      (nil? x) (.writeNull w)
      (instance? Long x) (.writeInt w (unchecked-long x))
      (string? x) (.writeString w x)
      (keyword? x) (.writeObject w x true)
      (boolean? x) (.writeBoolean w (boolean x))
      (and (instance? Double x) (not (.equals ^Object x -0.0))) (.writeDouble w (unchecked-double x))
      (.contains plain (class x)) (.writeObject w x)
      :else (write-nested out x))))

(defn- at
  "Writes `x`, which is found at `place` of the value that is being written."
  [^Out out place x]
  (let [^ArrayList path (.path out)]
    (.add path place)
    (write out x)
    (.removeLast path)
    (when (< (.max-bytes out) (.length ^BytesOutputStream (.bytes out))) (too-large! (.max-bytes out)))))

(defn- write-items
  "Writes the elements of a collection, or the keys and values of a map. They are not counted first: a
  sequence may be lazy and endless, and the limit of bytes ends it."
  [^Out out items]
  (let [^FressianWriter w (.writer out)]
    (.beginClosedList w)
    (if (instance? Map items)
      (run! (fn [^Map$Entry e] (at out "key" (.getKey e)) (at out (.getKey e) (.getValue e))) items)
      (reduce (fn [^long i x] (at out i x) (inc i)) 0 items))
    (.endList w)))

(defn- write-name [^Out out call]
  (let [^FressianWriter w (.writer out)]
    (if (symbol? call)
      (do (.writeTag w "value" 1) (.writeObject w call true))
      (let [[sym & args] call]
        (.writeTag w "call" 2)
        (.writeObject w sym true)
        (.beginClosedList w)
        (run! #(at out sym %) args)
        (.endList w)))))

;;;; Kinds: what Fressian doesn't know, or doesn't keep

(defn- reader [f]
  (reify ReadHandler (read [_ r _ _] (f r))))

(defn- as
  "Returns a kind, which is sent as (to x). On the other side (from that) is `x` again."
  [classes tag to from]
  {:classes classes
   :tag tag
   :write (fn [^Out out x] (.writeTag ^FressianWriter (.writer out) tag 1) (write out (to x)))
   :read (reader (fn [^Reader r] (from (.readObject r))))})

(defn- many
  "Returns a kind of collections, which are sent as (head x), or nil if `head` is, and their elements. On the
  other side (from head elements) is the collection."
  [classes tag head from]
  {:classes classes
   :tag tag
   :write (fn [^Out out x]
            (.writeTag ^FressianWriter (.writer out) tag 2)
            (at out "comparator" (when head (head x)))
            (write-items out x))
   :read (reader (fn [^Reader r] (let [head (.readObject r)] (from head (.readObject r)))))})

(defn- class-of [descriptor]
  (with-classes #(.returnType (MethodType/fromMethodDescriptorString (str "()" descriptor) (RT/baseLoader)))))

(defn- empty-of [^Class c]
  (with-classes #(.newInstance (.getConstructor c (make-array Class 0)) (object-array 0))))

(defn- own-comparator
  "Returns the comparator of a sorted collection, or nil for the default one, which has no name."
  [^Sorted coll]
  (let [c (.comparator coll)]
    (when-not (identical? RT/DEFAULT_COMPARATOR c) c)))

(defn- array [^Class c ^List items] (Arrays/copyOf (.toArray items) (.size items) c))

(defn- described
  "Returns what is left of an exception that can't be sent."
  [^Throwable t]
  [(.getName (class t)) (ex-message t) (some-> (ex-data t) error/preview)
   (mapv (fn [^StackTraceElement f] [(.getClassName f) (.getMethodName f) (.getFileName f)
                                     (.getLineNumber f)])
         (.getStackTrace t))
   (ex-cause t)])

(defn- frame [[class method file line]]
  (StackTraceElement. class method file (int line)))

(defn- undescribed [[type message data stack cause]]
  (let [e (ex-info (or message type) {:skein/error :skein/cannot-travel, :class type, :data data} cause)]
    (.setStackTrace ^Throwable e (into-array StackTraceElement (map frame stack)))
    e))

(def ^:private broken (as [] "broken" described undescribed))

(def ^:private java-bytes
  {:tag "java"
   :read (reader (fn [^Reader r] (let [bytes (.readObject r)] (with-classes #(JavaBytes/read bytes)))))})

(defn- write-java [^Out out x]
  (let [bytes (JavaBytes/of x #(encode % (.max-bytes out)))]
    (.writeTag ^FressianWriter (.writer out) (:tag java-bytes) 1)
    (.writeBytes ^FressianWriter (.writer out) bytes)))

(defn- write-error [out x]
  (try
    (write-java out x)
    (catch IOException _ ((:write broken) out x))
    (catch RuntimeException _ ((:write broken) out x))))

(def ^:private kinds
  "The first counts of which a value's class is a subclass, or one of a set of classes."
  [(many PersistentArrayMap "array-map" nil (fn [_ ^List xs] (PersistentArrayMap. (.toArray xs))))
   (many PersistentHashMap "map" nil (fn [_ ^List xs] (PersistentHashMap/create (.toArray xs))))
   (many PersistentTreeMap "sorted-map" own-comparator
         (fn [c xs] (PersistentTreeMap/create (or c RT/DEFAULT_COMPARATOR) (seq xs))))
   (many PersistentHashSet "set" nil (fn [_ ^List xs] (PersistentHashSet/create xs)))
   (many PersistentTreeSet "sorted-set" own-comparator
         (fn [c xs] (PersistentTreeSet/create (or c RT/DEFAULT_COMPARATOR) (seq xs))))
   (many MapEntry "entry" nil (fn [_ [k v]] (MapEntry/create k v)))
   (many IPersistentVector "vector" nil (fn [_ ^List xs] (PersistentVector/create xs)))
   (many PersistentQueue "queue" nil (fn [_ xs] (into PersistentQueue/EMPTY xs)))
   (many Sequential "list" nil (fn [_ ^List xs] (PersistentList/create xs)))
   (as Double "double-bits" #(Double/doubleToRawLongBits %) #(Double/longBitsToDouble %))
   (as Integer "int32" long int)
   (as Short "short" long short)
   (as Byte "byte" long byte)
   (as #{BigInteger} "biginteger" bigint biginteger)
   (as Var "var" #(.toSymbol ^Var %) names/resolve-name)
   (as Class "class" #(.descriptorString ^Class %) class-of)
   (as Enum "enum" (fn [^Enum e] [(.getDeclaringClass e) (.name e)]) (fn [[c n]] (Enum/valueOf ^Class c n)))
   (many Object/1 "array" class array)
   (many #{ArrayList LinkedList ArrayDeque HashSet LinkedHashSet} "collection" class
         (fn [c xs] (doto ^Collection (empty-of c) (.addAll xs))))
   (many #{HashMap LinkedHashMap} "java-map" class
         (fn [c xs] (let [^Map m (empty-of c)] (run! (fn [[k v]] (.put m k v)) (partition 2 xs)) m)))
   {:classes Symbol, :write (fn [^Out out x] (.writeObject ^FressianWriter (.writer out) x true))}
   {:classes Throwable, :write write-error}])

(defn- write-rest [^Out out x]
  (cond
    (or (instance? IDeref x) (instance? ITransientCollection x))
    (unsendable! x (.path out) (str "It is a place whose content changes. Let the step's completion arity, "
                                    "or :complete, return what it holds."))
    (or (not (instance? Serializable x)) (instance? IFn x))
    (unsendable! x (.path out) "It belongs to this process. Send what it is made from.")
    :else
    (try
      (write-java out x)
      (catch ExceptionInfo e (throw e))
      (catch Exception e (unsendable! x (.path out) (str "Java can't serialize it: " e "."))))))

(defn- name-first
  "Returns a function that writes the name of a value that is or holds code, and calls `write` for others."
  [write code?]
  (fn [^Out out x]
    (if-some [call (when (code? x) (names/name-of x (vec (.path out))))]
      (write-name out call)
      (write out x))))

(defn- meta-first
  "Returns a function that writes a value's metadata, and then the value by `write`."
  [write]
  (fn [^Out out x]
    ;; The value was changed after the call that :skein.fold/made records.
    (when-some [m (not-empty (dissoc (meta x) :skein.fold/made))]
      (.writeTag ^FressianWriter (.writer out) "meta" 2)
      (at out :meta m))
    (write out x)))

(defn- writing
  "Returns the function that writes the values of the class `c`."
  [^Class c]
  (let [is? (fn [^Class of] (.isAssignableFrom of c))
        of-kind? (fn [{:keys [classes]}] (if (set? classes) (classes c) (is? classes)))]
    (cond-> (:write (first (filter of-kind? kinds)) write-rest)
      (and (is? IObj) (not (is? Fn))) meta-first
      (some is? [Fn MultiFn IRecord]) (name-first any?)
      ;; A sorted map can't be asked for keys of another type.
      (and (is? IPersistentMap) (not-any? is? [IRecord Sorted])) (name-first #(contains? % :step)))))

(def ^:private ^ClassValue class->write
  (proxy [ClassValue] [] (computeValue [c] (writing c))))

(defn- write-nested [^Out out x]
  (let [depth (.size ^ArrayList (.path out))]
    (cond
      (< max-depth depth) (too-deep! (.path out))
      (and (pos? depth) (zero? (rem depth stack-depth)))
      (do (.writeTag ^FressianWriter (.writer out) "deep" 1)
          (on-new-stack #((.get class->write (class x)) out x)))
      :else ((.get class->write (class x)) out x))))

(def ^:private write-handlers (fressian/associative-lookup fressian/clojure-write-handlers))

(defn encode
  "Returns the bytes of `x`, at most `max-bytes` of them. Throws :skein/cannot-travel,
  :skein/too-large, or what skein.spark.names/name-of throws."
  ^bytes [x max-bytes]
  (let [bytes (BytesOutputStream.)
        out (Out. (fressian/create-writer bytes :handlers write-handlers) bytes (ArrayList.) max-bytes)]
    (try (write out x) (catch StackOverflowError _ (too-deep! (.path out))))
    (when (< (long max-bytes) (.length bytes)) (too-large! max-bytes))
    (.toByteArray bytes)))

;;;; Reading

(def ^:private read-handlers
  (fressian/associative-lookup
    (-> fressian/clojure-read-handlers
        (into (keep (fn [{:keys [tag read]}] (when read [tag read]))) (conj kinds broken java-bytes))
        (assoc "value" (reader (fn [^Reader r] @(names/resolve-name (.readObject r))))
               "call" (reader (fn [^Reader r]
                                (let [f (names/resolve-name (.readObject r))] (apply f (.readObject r)))))
               "deep" (reader (fn [^Reader r] (on-new-stack #(.readObject r))))
               "meta" (reader (fn [^Reader r] (let [m (.readObject r)] (with-meta (.readObject r) m))))))))

(defn decode
  "Returns the value of the bytes that `encode` returned. Loads the namespaces that the names in it need.
  Throws :skein/far-code if there is no such var or class here."
  [^bytes bytes]
  (fressian/read-object
    (fressian/create-reader (ByteBufferInputStream. (ByteBuffer/wrap bytes)) :handlers read-handlers)))
