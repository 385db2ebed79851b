;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.window
  "How skein.virtual calls a function on the items of a collection.

  * `options` `run-options` - read the first argument of pmap and of prun!
  * `lazily` `transducer` - pmap over a collection, and in a transduction: on skein.rt.scope.Window
  * `run-all` - prun!, which has no results to keep in order: on skein.scope"
  {:no-doc true}
  (:require
   [skein.impl.check :as check]
   [skein.impl.on-error :as on-error]
   [skein.scope :as s])
  (:import
   (clojure.lang RT)
   (com.sun.management UnixOperatingSystemMXBean)
   (java.lang.management ManagementFactory)
   (java.util Iterator)
   (java.util.concurrent.locks ReentrantLock)
   (skein.rt.scope Window)))

(set! *warn-on-reflection* true)

(def ^:const max-default-n
  "The most calls at once that `default-n` returns."
  1024)

(defn default-n
  "Returns the default number of calls at once: half of the files that the process may still
  open, at most `max-default-n`."
  ^long []
  (let [system (ManagementFactory/getOperatingSystemMXBean)]
    (if (instance? UnixOperatingSystemMXBean system)
      (let [limit (.getMaxFileDescriptorCount ^UnixOperatingSystemMXBean system)
            open (.getOpenFileDescriptorCount ^UnixOperatingSystemMXBean system)]
        (max 1 (min max-default-n (quot (- limit open) 2))))
      max-default-n)))

(def ^:private count-option
  [(fn count? [n] (and (int? n) (<= 1 (long n) Integer/MAX_VALUE)))
   (str "a whole number from 1 to " Integer/MAX_VALUE)])

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:n count-option
   :ahead count-option
   :ordered? [boolean? "true or false"]
   :on-error (on-error/option [:throw :collect :report])})

(def ^:private run-known
  {:n count-option
   :on-error (on-error/option [:throw :report])})

(defn options
  "Returns {:n :ahead :ordered? :on-error} from a number or a map of some of these."
  [n-or-options]
  (let [given (check/leading "pmap" :n n-or-options known)
        n (long (:n given (default-n)))]
    (merge {:ahead (min (* 4 n) Integer/MAX_VALUE) :ordered? true :on-error :throw}
           given
           {:n n})))

(defn run-options
  "Returns {:n :on-error} from a number or a map of some of these."
  [n-or-options]
  (merge {:n (default-n) :on-error :throw} (check/leading "prun!" :n n-or-options run-known)))

(defn- open-window
  "Returns a window that calls `f` on the items of `iterator`, or on offered items if it is nil."
  ^Window [{:keys [n ahead ordered? on-error]} f iterator]
  (Window. (on-error/handling on-error f)
           iterator (int n) (int (max (long n) (long ahead))) ordered?))

(defn- results [^Window w]
  (lazy-seq
    (loop [x (.read w)]
      (cond
        (identical? Window/END x) nil
        (on-error/none? x) (recur (.read w))
        :else (cons x (results w))))))

(defn lazily
  "Returns a lazy seq of the results of `f` on the items of `coll`."
  [options f coll]
  (results (open-window options f (RT/iter coll))))

(defmacro ^:private or-cancel
  "Evaluates the body; if it throws, cancels the window `w`."
  [w & body]
  `(try ~@body (catch Throwable t# (.cancel ~w) (throw t#))))

(defn- with-result
  "Adds `x`, which `w` has returned, to `acc` by `rf`, unless it stands for no result."
  [^Window w rf acc x]
  (let [acc (if (on-error/none? x) acc (rf acc x))]
    (when (reduced? acc) (.cancel w))
    acc))

(defn- read-one
  "Blocks until there is a result, and adds it to `acc` by `rf`."
  [^Window w rf acc]
  (with-result w rf acc (.read w)))

(defn- read-ready
  "Adds to `acc` all results that can be read without waiting."
  [^Window w rf acc]
  (if (and (.isReady w) (not (reduced? acc)))
    (recur w rf (read-one w rf acc))
    acc))

(defn- offer
  "Offers `x` to the window. While the window is full, adds results to `acc`. Afterwards adds all
  ready results."
  [^Window w rf acc x]
  (cond
    (reduced? acc) acc
    (.offer w x) (read-ready w rf acc)
    :else (recur w rf (read-one w rf acc) x)))

(defn- drain [^Window w rf acc]
  (let [x (.read w)]
    (if (identical? Window/END x)
      acc
      (let [acc (with-result w rf acc x)]
        (if (reduced? acc)
          (unreduced acc)
          (recur w rf acc))))))

(defn transducer
  "Returns a transducer that calls `f` on its items."
  [options f]
  (fn [rf]
    (let [w (open-window options f nil)]
      (fn
        ([] (rf))
        ([acc] (rf (or-cancel w (drain w rf acc))))
        ([acc x] (or-cancel w (offer w rf acc x)))))))

(defn run-all
  "Calls `f` on the items of `coll`, at most `n` at once. Returns nil when all calls have ended."
  [{:keys [n on-error]} f coll]
  (let [f (on-error/handling on-error f)
        ^Iterator items (RT/iter coll)
        input (ReentrantLock.) ; the input is the user's code, and may block
        next-item (fn [] (.lock input) (try (if (.hasNext items) (.next items) items) (finally (.unlock input))))]
    (s/scope [s]
      ;; A child serves item after item, so that an item needs no thread of its own. With its first it starts the next
      ;; child, so that no more begin than there are items, and it ends after that one, so that the end of the first is
      ;; the end of all.
      (letfn [(serve [number]
                (s/fork s
                  (loop [follower nil]
                    (let [x (next-item)]
                      (cond
                        (s/cancelled?) nil ; a call threw: no other begins
                        (identical? items x) (some-> follower deref)
                        :else (let [follower (or follower (when (< number n) (serve (inc number))))]
                                (f x)
                                (recur follower)))))))]
        @(serve 1) ; not only at the end of the scope, so that an interrupt is thrown as that
        nil))))
