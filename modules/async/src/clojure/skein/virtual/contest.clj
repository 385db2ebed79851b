;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.contest
  "Runs several functions at once, each as a child of one scope, until the result is decided.

  * `race` `any` `all` - of seqs of functions; see skein.virtual"
  {:no-doc true}
  (:require
   [skein.impl.check :as check]
   [skein.scope :as s])
  (:import
   (java.util.concurrent LinkedBlockingQueue)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(defn- functions
  "Returns `fs`, the arguments of the function `of`, as a vector, or throws :skein/bad-argument. A collection can be
  called, but not without arguments: it holds functions, or is a mistake."
  [of fs]
  (mapv (fn check [f]
          (check/that (str "f of " of) f (and (ifn? f) (or (record? f) (not (coll? f))))
                      (if (coll? f)
                        (str "a function (for a collection of functions use (apply " of " fs))")
                        "a function")))
        fs))

(defn- outcome [f]
  (try {:value (f)} (catch Throwable t {:error t})))

(defn- outcomes-until
  "Calls `fs` and returns their outcomes, {:value x} or {:error throwable}, in the order in which they came, up to the first
  that is `decisive?`. All calls have ended when this returns: those that are not needed any more are cancelled."
  [decisive? fs]
  (let [outcomes (LinkedBlockingQueue.)]
    (s/scope [s]
      (doseq [f fs]
        ;; No exception reaches the scope: which one is thrown is decided here, and a loser's never is.
        ;; Not put, which throws on an interrupted thread.
        (s/fork s (.add outcomes (outcome f))))
      (loop [seen []]
        (let [seen (conj seen (.take outcomes))]
          (if (or (decisive? (peek seen)) (= (count seen) (count fs)))
            (do (s/cancel! s) seen)
            (recur seen)))))))

(defn- thrown-here [thrown]
  (throw (Failures/reached thrown)))

(defn race
  "Returns the value of the function that ends first, or throws its exception."
  [fs]
  (let [[{:keys [value error]}] (outcomes-until some? (functions "race" fs))]
    (if error (thrown-here error) value)))

(defn- with-suppressed
  "Returns the first of `errors`, with the others as its suppressed exceptions."
  [[^Throwable error & others]]
  (doseq [^Throwable t others :when (not (identical? t error))] (.addSuppressed error t))
  error)

(defn any
  "Returns the value of the first of `fs` that succeeds."
  [fs]
  (let [seen (outcomes-until (complement :error) (functions "any" fs))
        {:keys [value error]} (peek seen)]
    (if error (thrown-here (with-suppressed (map :error seen))) value)))

(defn all
  "Returns a vector of the values of `fs`, or throws the first exception."
  [fs]
  (let [fs (functions "all" fs)]
    (s/scope [s]
      (mapv deref (mapv (fn start [f] (s/fork s (f))) fs)))))
