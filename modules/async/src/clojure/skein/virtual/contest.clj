;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.contest
  "Runs several functions at once, each on a virtual thread, until the result is decided.

  * `race` `any` `all` - of seqs of functions; see skein.virtual"
  {:no-doc true}
  (:require
   [skein.impl.check :as check])
  (:import
   (java.util.concurrent LinkedBlockingQueue)
   (skein.rt.block Failures)
   (skein.rt.scope VirtualFuture)))

(set! *warn-on-reflection* true)

;; An outcome is {:index i :value x} or {:index i :error throwable}.

(defn- contestant
  "Starts a thread that adds the outcome of `f` to `outcomes`. Returns its future."
  ^VirtualFuture [^LinkedBlockingQueue outcomes index f]
  (VirtualFuture/start
    (fn contest []
      ;; Not put, which throws on an interrupted thread.
      (.add outcomes (try {:index index :value (f)} (catch Throwable t {:index index :error t}))))))

(defn- stop
  "Cancels the futures and waits until their threads have ended, interrupted or not."
  [futures]
  (run! future-cancel futures)
  (loop [[^VirtualFuture f & more :as left] futures, interrupted? false]
    (cond
      (nil? f) (when interrupted? (.interrupt (Thread/currentThread)))
      (try (.join (.thread f)) true (catch InterruptedException _ false)) (recur more interrupted?)
      :else (recur left true))))

(defn- check-function
  "Returns `f`, an argument of the function `of`, or throws :skein/not-a-function. A collection can be called, but not without
  arguments: it holds functions, or is a mistake."
  [of f]
  (check/that :skein/not-a-function (str "f of " of) f (and (ifn? f) (or (record? f) (not (coll? f))))
              (if (coll? f) (str "a function (for a collection of functions use (apply " of " fs))") "a function")))

(defn- contest
  "Starts `fs` and returns the result of `decide`, a function of `next-outcome`, which waits for
  the next outcome. All threads have ended when this returns.

  of  the name of the public function, for messages"
  [of fs decide]
  (let [outcomes (LinkedBlockingQueue.)
        fs (mapv (partial check-function of) fs)
        begun (volatile! [])]
    (try
      (run! (fn begin [index] (vswap! begun conj (contestant outcomes index (fs index)))) (range (count fs)))
      (decide (fn next-outcome [] (.take outcomes)))
      (finally (stop @begun)))))

(defn race
  "Returns the value of the function that ends first, or throws its exception."
  [fs]
  (contest "race" fs (fn first-of-all [next-outcome]
                       (let [{:keys [value error]} (next-outcome)]
                         (if error (throw (Failures/reached error)) value)))))

(defn- with-suppressed
  "Returns the first of `errors`, with the others as its suppressed exceptions."
  [[^Throwable error & others]]
  (doseq [^Throwable t others :when (not (identical? t error))] (.addSuppressed error t))
  error)

(defn any
  "Returns the value of the first of `fs` that succeeds."
  [fs]
  (contest "any" fs (fn first-success [next-outcome]
                      (loop [errors []]
                        (if (= (count errors) (count fs))
                          (throw (Failures/reached (with-suppressed errors)))
                          (let [{:keys [value error]} (next-outcome)]
                            (if error (recur (conj errors error)) value)))))))

(defn all
  "Returns a vector of the values of `fs`, or throws the first exception."
  [fs]
  (contest "all" fs (fn every-value [next-outcome]
                      (loop [values (vec (repeat (count fs) nil)), missing (count fs)]
                        (if (zero? missing)
                          values
                          (let [{:keys [index value error]} (next-outcome)]
                            (when error (throw (Failures/reached error)))
                            (recur (assoc values index value) (dec missing))))))))
