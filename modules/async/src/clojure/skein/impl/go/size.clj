;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.size
  "The sizes of a block's code, and their limits in the JVM. All sizes are estimates, in bytes of
  bytecode.

  Blocks are grouped into arms of up to `max-arm`, arms into methods of up to `max-method`. Code
  that does not fit into a method is refused."
  {:no-doc true})

(set! *warn-on-reflection* true)

(def ^:const max-arm "The size of an arm above which it is cut at the next branch." 2400)

(def ^:const max-method "The JIT never compiles a method of more than 8000 bytes." 7000)

(def ^:const max-code "The JVM accepts at most 65535 bytes in a method." 60000)

(def ^:const slot "The size of the code that loads a local from its slot, or stores it there." 27)

(def ^:const clearing "The size of the code that empties a run of slots." 14)

(defn of
  "Returns the size of `form` in the method where it stands."
  ^long [form]
  (cond
    (seq? form) (case (first form)
                  quote 2
                  (fn* reify*) 30
                  (reduce (fn part [^long n x] (+ n (of x))) (if (keyword? (first form)) 40 14) form))
    (map? form) (reduce-kv (fn pair [^long n k v] (+ n 10 (of k) (of v))) 5 form)
    (coll? form) (reduce (fn part [^long n x] (+ n 5 (of x))) 5 form)
    :else 2))
