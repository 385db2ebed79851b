;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.interop
  "Ports as what JavaScript has: promises, abort signals, async iterators; and the exceptions of
  ports. The other direction is in `skein.rt.port`."
  (:require
   [skein.impl.operations :as operations]
   [skein.rt.channel :refer [Channel]]
   [skein.rt.failures :as failures]
   [skein.rt.frame :refer [Frame]]
   [skein.rt.port :as port]))

(defn- failure
  "Returns the exception that ended `port`, or nil. It counts as observed."
  [port]
  (let [source (port/source port)
        thrown (.failure source)]
    (when (some? thrown) (failures/observed source))
    thrown))

(defn rethrow
  "See skein.async/rethrow."
  [port value]
  (when (nil? value)
    (when-some [thrown (failure port)]
      (throw thrown)))
  value)

(defn promise
  "See skein.async/promise."
  [port]
  (js/Promise.
    (fn [fulfil reject]
      (operations/take! port
                        (fn [value]
                          (let [thrown (when (nil? value) (failure port))]
                            (if (some? thrown) (reject thrown) (fulfil value))))
                        true))))

(defn signal
  "See skein.async/signal."
  [port]
  (let [controller (js/AbortController.)]
    (.then (promise port)
           (fn [value] (if (nil? value) (.abort controller) (.abort controller value)))
           (fn [thrown] (.abort controller thrown)))
    (.-signal controller)))

(defn- iterator
  "Returns an async iterator of the values of `port`. A loop that is left early leaves the port open."
  [port]
  #js {:next (fn [] (.then (promise port) (fn [value] #js {:done (nil? value) :value value})))})

(defn- iterable! [type]
  (unchecked-set (.-prototype type) js/Symbol.asyncIterator (fn [] (this-as port (iterator port)))))

(iterable! Channel)
(iterable! Frame)
