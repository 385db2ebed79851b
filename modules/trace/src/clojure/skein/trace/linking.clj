;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.linking
  "Which functions of a namespace call one another directly, past their vars.

  Code that was compiled ahead of time with direct linking says so in its class files: a
  method that calls another class's `invokeStatic`. Of code that was compiled in this JVM
  there are no class files; of that, only whether code is linked directly from now on is known.

  Source: The Java Virtual Machine Specification, 4.4, the constant pool."
  (:import (clojure.lang Var)
           (java.io BufferedInputStream DataInputStream InputStream IOException)
           (java.net URL)
           (java.util Collections Map WeakHashMap)))

(set! *warn-on-reflection* true)

(defn- read-constant
  "[tag parts] of the constant that comes next; the parts are text or indices where they matter."
  [^DataInputStream in]
  (let [tag (.readUnsignedByte in)]
    [tag (case tag
           1 (.readUTF in)
           (3 4 18 17) (.readInt in)
           (5 6) (.readLong in)
           (7 8 16 19 20) (.readUnsignedShort in)
           (9 10 11 12) [(.readUnsignedShort in) (.readUnsignedShort in)]
           15 (do (.readUnsignedByte in) (.readUnsignedShort in)))]))

(defn- constant-pool
  "{index [tag parts]} of a class file."
  [^InputStream class-file]
  (let [in (DataInputStream. (BufferedInputStream. class-file))
        _ (.readLong in) ; magic and version
        size (.readUnsignedShort in)]
    (loop [i 1, pool {}]
      (if (< i size)
        (let [[tag :as constant] (read-constant in)]
          (recur (+ i (if (or (= 5 tag) (= 6 tag)) 2 1)) (assoc pool i constant)))
        pool))))

(defn- class-file
  "Where the class file of `c` is, or nil for a class that was made in this JVM."
  ^URL [^Class c]
  (.getResource c (str "/" (.replace (.getName c) \. \/) ".class")))

(defn- read-linked-classes
  "The names of classes whose `invokeStatic` a class calls, as by direct linking."
  [^Class c]
  (when-some [file (class-file c)]
    (let [pool (with-open [in (.openStream file)] (constant-pool in))
          part (fn part [i] (second (pool i)))]
      (into #{} (for [[tag parts] (vals pool)
                      :when (= 10 tag) ; a method
                      :let [[class-index name-and-type] parts]
                      :when (= "invokeStatic" (part (first (part name-and-type))))]
                  (.replace ^String (part (part class-index)) \/ \.))))))

;; Read once, as tracing a namespace asks of each function who calls it.
(def ^:private ^Map class->linked (Collections/synchronizedMap (WeakHashMap.)))

(defn- linked-classes [c]
  (or (.get class->linked c)
      (let [linked (or (try (read-linked-classes c)
                            (catch IOException _)) ; who is not known to call is not told
                       #{})]
        (.put class->linked c linked)
        linked)))

(defn callers
  "Returns the vars of the namespace of `v` whose functions call that of `v` directly, as far as that can be known.
  `function-of` gives what a var holds."
  [^Var v function-of]
  (let [callee (class (function-of v))]
    (when (class-file callee)
      (for [[_ ^Var caller] (sort-by key (ns-interns (.ns v)))
            :when (and (.hasRoot caller) (not= v caller) (fn? (function-of caller))
                       (contains? (linked-classes (class (function-of caller))) (.getName callee)))]
        caller))))

(defn compiling-directly?
  "Returns whether calls of the var `v` that are compiled now go past it."
  [^Var v]
  (let [{:keys [redef dynamic declared]} (meta v)]
    (boolean (and (:direct-linking *compiler-options*) (fn? (.getRawRoot v)) (not (or redef dynamic declared))))))
