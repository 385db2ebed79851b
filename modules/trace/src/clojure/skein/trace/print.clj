;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.print
  "Any value as a text of limited size, without side effects on the program.

  `text` realises no lazy sequence, derefs nothing that is pending, follows no cycle,
  ends with … at its limits, and does not throw. Where possible it returns the text of
  `pr-str`. A value that it must not look into is shown as #<Class hash>.

  Of the program's code it runs only a `print-method` for the value's own class."
  {:no-doc true}
  (:require
   [skein.impl.internals :as internals]
   [skein.impl.once :refer [deftype-once]])
  (:import
   (clojure.lang Agent Atom BigInt Delay EnumerationSeq Fn IPending IPersistentMap IPersistentSet IPersistentVector IRecord ISeq IteratorSeq Keyword LazySeq MultiFn Namespace Ref Symbol Var Volatile)
   (java.io Writer)
   (java.util Collection IdentityHashMap List Map Map$Entry Set UUID)
   (java.util.concurrent Future)
   (java.util.regex Pattern)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(def ^:private ^:const max-bits "The most bits of a number that is written out." 4096)

;; Where to write, and how much: at most `chars` in total, `length` elements of a collection, `levels` of nesting. `open`
;; has the values that are being written.
(deftype-once ^:private Sheet [^StringBuilder out ^long chars ^long length ^long levels ^IdentityHashMap open])

(defn- full? [^Sheet sheet]
  (>= (.length ^StringBuilder (.out sheet)) (.chars sheet)))

(defn- add! [^Sheet sheet ^String s]
  (let [^StringBuilder out (.out sheet)
        room (- (.chars sheet) (.length out))]
    (when (pos? room)
      (.append out s 0 (int (min room (.length s)))))))

(declare write!)

(defn- within!
  "Calls `f`, which writes the parts of `value`, unless an outer call is writing the same value."
  [^Sheet sheet value ^long level f]
  (let [^IdentityHashMap open (.open sheet)]
    (cond
      (>= level (.levels sheet)) (add! sheet "#")
      (.containsKey open value) (add! sheet "#<cycle>")
      :else (do (.put open value true)
                (try (f (inc level))
                     (finally (.remove open value)))))))

(defn- name-of
  "Returns the short name of the class of `value`, and a number that distinguishes it from others of its class."
  [value]
  (let [^Class c (class value)
        short-name (.getSimpleName c)]
    (str (if (= "" short-name) (.getName c) short-name) " " (Integer/toHexString (System/identityHashCode value)))))

(defn- opaque! [sheet value]
  (add! sheet (str "#<" (name-of value) ">")))

;;;; Atoms of text

(defn- string! [^Sheet sheet ^String s]
  (add! sheet "\"")
  (let [n (.length s)]
    (loop [i 0]
      (when (and (< i n) (not (full? sheet)))
        (let [c (.charAt s i)]
          (add! sheet (or (char-escape-string c) (String/valueOf c))))
        (recur (inc i)))))
  (add! sheet "\""))

(defn- too-big? [n]
  (let [bits (fn bits ^long [x] (.bitLength (biginteger x)))]
    (cond
      (ratio? n) (or (too-big? (numerator n)) (too-big? (denominator n)))
      (or (instance? BigInt n) (instance? BigInteger n)) (< (long max-bits) (long (bits n)))
      (decimal? n) (< (long max-bits) (.bitLength (.unscaledValue ^BigDecimal n)))
      :else false)))

(defn- fn-name [f]
  (internals/demunged (.getName (class f))))

(defn- throwable! [sheet ^Throwable t]
  (add! sheet (str "#<" (.getSimpleName (class t)) " "))
  (if-some [message (.getMessage t)] (string! sheet message) (add! sheet "without a message"))
  (add! sheet ">"))

;;;; Collections

(defn- series!
  "Writes the elements of `items` by `write-one`, up to the sheet's length."
  [^Sheet sheet ^Iterable items separator write-one]
  (let [it (.iterator items)]
    (loop [n 0]
      (when (and (.hasNext it) (not (full? sheet)))
        (when (pos? n) (add! sheet separator))
        (if (= n (.length sheet))
          (add! sheet "...")
          (do (write-one (.next it))
              (recur (inc n))))))))

(defn- items! [sheet items level opening closing]
  (within! sheet items level
           (fn write-items [level]
             (add! sheet opening)
             (series! sheet items " " (fn item [x] (write! sheet x level)))
             (add! sheet closing))))

(defn- map! [sheet ^Map m level opening]
  (within! sheet m level
           (fn write-entries [level]
             (add! sheet opening)
             (series! sheet (if (instance? Iterable m) m (.entrySet m)) ", " ; a record has its fields in order
                      (fn entry [^Map$Entry e]
                        (write! sheet (.getKey e) level)
                        (add! sheet " ")
                        (write! sheet (.getValue e) level)))
             (add! sheet "}"))))

(defn- pending? [x]
  (and (instance? IPending x) (not (.isRealized ^IPending x))))

(defn- unread?
  "Returns whether realizing the first element of `s` would run code."
  [s]
  (or (pending? s) (instance? EnumerationSeq s) (instance? IteratorSeq s)))

(defn- realised!
  "Writes the elements of a sequence that are already realized."
  [^Sheet sheet s level]
  (loop [s s, n 0]
    (cond
      (unread? s) (add! sheet (if (pos? n) " …" "…"))
      (instance? LazySeq s) (recur (or (.seq ^LazySeq s) ()) n)
      (and (seq s) (not (full? sheet)))
      (do (when (pos? n) (add! sheet " "))
          (if (= n (.length sheet))
            (add! sheet "...")
            (do (write! sheet (first s) level)
                (recur (.more ^ISeq s) (inc n))))))))

(defn- seq! [sheet s level]
  (within! sheet s level
           (fn write-elements [level]
             (add! sheet "(")
             (realised! sheet s level)
             (add! sheet ")"))))

(defn- array! [^Sheet sheet a level]
  (within! sheet a level
           (fn write-elements [level]
             (let [n (java.lang.reflect.Array/getLength a)]
               (add! sheet (str "#<" (.getSimpleName (class a)) " ["))
               (dotimes [i (min n (.length sheet))]
                 (when (pos? i) (add! sheet " "))
                 (write! sheet (java.lang.reflect.Array/get a (int i)) level))
               (when (< (.length sheet) n) (add! sheet " ..."))
               (add! sheet "]>")))))

(defn- promise? [x]
  (and (instance? IPending x) (.startsWith (.getName (class x)) "clojure.core$promise$")))

(defn- reference! [sheet r level]
  (within! sheet r level
           (fn write-value [level]
             (add! sheet (str "#<" (if (promise? r) "Promise" (.getSimpleName (class r))) " "))
             (if (pending? r)
               (add! sheet "pending")
               (write! sheet (try (deref r) (catch Throwable t t)) level)) ; a realised delay may hold an exception
             (add! sheet ">"))))

(defn- future! [sheet ^Future f level]
  (within! sheet f level
           (fn write-value [level]
             (add! sheet "#<Future ")
             (if (.isDone f)
               (write! sheet (try (.get f) (catch Throwable t (or (.getCause t) t))) level)
               (add! sheet "pending"))
             (add! sheet ">"))))

;;;; Print methods of others

(defn- sheet-full
  "Returns the exception that ends a print-method when it has written too much."
  ^Error []
  (proxy [Error] ["the text is full" nil false false]))

(defn- writer-on ^Writer [^Sheet sheet]
  (let [put (fn put [^String s]
              (when (full? sheet) (throw (sheet-full)))
              (add! sheet s))]
    (proxy [Writer] []
      (write
        ([x] (put (cond (string? x) x
                        (number? x) (String/valueOf (char (int x)))
                        :else (String/valueOf ^chars x))))
        ([x offset length]
         (let [offset (int offset), length (int length)]
           (put (if (string? x)
                  (.substring ^String x offset (+ offset length))
                  (String/valueOf ^chars x offset length))))))
      (flush [])
      (close []))))

(defn- own-print-method
  "Returns the print-method for exactly the class of `value`, or nil if there is none or the class is Clojure's or Java's."
  [value]
  (let [^Class c (class value)
        class-name (.getName c)]
    (when-not (or (.startsWith class-name "clojure.") (.startsWith class-name "java."))
      (get (.getMethodTable ^MultiFn print-method) c))))

(defn- print-by! [^Sheet sheet value method]
  (let [start (.length ^StringBuilder (.out sheet))]
    (try
      (binding [*print-length* (.length sheet), *print-level* (.levels sheet)]
        (method value (writer-on sheet)))
      (catch Throwable _ ; the user's print-method may throw anything
        (when-not (full? sheet)
          (.setLength ^StringBuilder (.out sheet) start)
          (add! sheet (str "#<unprintable " (name-of value) ">")))))))

;;;; Values

(defn- number! [sheet n]
  (if (too-big? n)
    (opaque! sheet n)
    (add! sheet (pr-str n))))

(defn- java-util? [x]
  (.startsWith (.getName (class x)) "java.util."))

(defn- clojure-lang? [x]
  (.startsWith (.getName (class x)) "clojure.lang."))

(defn- collection! [sheet x level]
  (cond
    (instance? IRecord x) (map! sheet x level (str "#" (.getName (class x)) "{"))
    (not (or (clojure-lang? x) (java-util? x))) (opaque! sheet x)
    (instance? IPersistentVector x) (items! sheet x level "[" "]")
    (instance? Map x) (map! sheet x level "{")
    (instance? Set x) (items! sheet x level "#{" "}")
    (instance? ISeq x) (seq! sheet x level)
    (instance? Map$Entry x) (items! sheet [(key x) (val x)] level "[" "]")
    (instance? List x) (items! sheet x level "[" "]")
    (java-util? x) (items! sheet x level (str "#<" (.getSimpleName (class x)) " [") "]>")
    :else (opaque! sheet x)))

(defn- object! [sheet x level]
  (cond
    (some? (own-print-method x)) (print-by! sheet x (own-print-method x))
    (or (instance? Collection x) (instance? Map x) (instance? IPersistentMap x) (instance? IPersistentSet x)
        (instance? ISeq x) (instance? Map$Entry x)) (collection! sheet x level)
    (or (instance? Atom x) (instance? Ref x) (instance? Agent x) (instance? Volatile x) (instance? Delay x)
        (promise? x))
    (reference! sheet x level)
    (instance? Future x) (future! sheet x level)
    (instance? Throwable x) (throwable! sheet x)
    (.isArray (class x)) (array! sheet x level)
    (instance? Fn x) (add! sheet (str "#<fn " (fn-name x) ">"))
    (or (instance? Pattern x) (instance? Class x) (instance? Var x) (instance? UUID x)
        (instance? java.util.Date x) (instance? java.time.Instant x)) (add! sheet (pr-str x))
    (instance? Namespace x) (add! sheet (str "#<Namespace " x ">"))
    :else (opaque! sheet x)))

(defn- write! [sheet x level]
  (cond
    (full? sheet) nil
    (nil? x) (add! sheet "nil")
    (string? x) (string! sheet x)
    (or (instance? Keyword x) (instance? Symbol x) (instance? Boolean x) (instance? Long x)) (add! sheet (str x))
    (char? x) (add! sheet (pr-str x))
    (number? x) (if (.startsWith (.getName (class x)) "java.util.concurrent.") (opaque! sheet x) (number! sheet x))
    :else (object! sheet x level)))

(defn- brief
  "Returns the text of `value` if it has no parts and the text is short, otherwise nil."
  [value ^long chars]
  (cond
    (nil? value) "nil"
    (or (instance? Long value) (instance? Boolean value) (instance? Keyword value) (instance? Symbol value))
    (let [s (.toString ^Object value)]
      (when (<= (.length s) chars) s))))

(defn- written ^String [value ^long chars length level]
  (let [out (StringBuilder.)
        sheet (Sheet. out (inc chars) (long length) (long level) (IdentityHashMap.))]
    (try
      (write! sheet value 0)
      (catch Throwable _ ; such as a collection that another thread changes, or a stack overflow
        (.setLength out 0)
        (opaque! sheet value)))
    (when (< chars (.length out))
      (.setLength out (dec chars))
      (.append out "…"))
    (.toString out)))

(def default-limits
  "How much of a value is shown: `:length` elements of a collection, `:level` levels of nesting,
  `:chars` characters in total."
  {:length 20, :level 5, :chars 400})

(defn text
  "Returns `value` as text of at most `:chars` characters on one line; the last is … where
  it was cut. For `limits` see `default-limits`.

      (text {:a (map inc (range 3)), :b [1 \"x\"]} default-limits)
      ;=> \"{:a (…), :b [1 \\\"x\\\"]}\""
  ^String [value {:keys [length level chars]}]
  (let [chars (long chars)]
    (or (brief value chars)
        (let [^String s (written value chars length level)]
          (if (neg? (.indexOf s "\n")) s (.replace s "\n" "\\n"))))))
