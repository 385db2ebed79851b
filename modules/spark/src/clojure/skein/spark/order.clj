;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.order
  "Folds that need their elements in order, such as those with `take` or `distinct`.

  The stages before the first one that keeps state run on the executors, which return vectors. The other stages run here, on
  the elements of these vectors, one after the other."
  {:no-doc true}
  (:require
   [skein.fold :as fold]
   [skein.spark.names :as names]))

(set! *warn-on-reflection* true)

(defn- stages
  "Returns the transducers that `xform` is composed of, in the order that elements meet them."
  [xform]
  (let [[v & args] (when (some? xform) (names/maker-call xform))]
    (cond
      (nil? xform) []
      (= #'comp v) (into [] (mapcat stages) args)
      :else [xform])))

(defn- refused
  "Returns the stage that keeps the fold `f` from being combined in any order, as {:stage name, :index i}, or nil."
  [f]
  (try
    (fold/fold {:ordered? false} (dissoc f :complete) [])
    nil
    (catch clojure.lang.ExceptionInfo e
      (if (= :skein/bad-argument (:skein/error (ex-data e)))
        (select-keys (ex-data e) [:stage :index])
        (throw e)))))

(defn first-in-order
  "Returns {:stage name, :index i} of the first stage of the fold `f` that needs its elements in order, or nil if none does. The
  index of its step is the number of stages."
  [f]
  (refused f))

(defn prefix
  "Returns the fold into a vector of the elements that the first `n` stages of the fold `f` let through."
  [f n]
  (let [before (take n (stages (:xform f)))]
    (fold/through (when (seq before) (apply comp before)) (fold/into []))))

(defn suffix
  "Returns the fold `f` without its first `n` stages."
  [f n]
  (let [after (drop n (stages (:xform f)))]
    (assoc f :xform (when (seq after) (apply comp after)))))
