;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.interop
  "Turns ports into what JavaScript has: promises, abort signals and async iterators. Also rethrows the
  exceptions of ports. The other direction is in `skein.rt.port`."
  {:no-doc true}
  (:require
   [skein.rt.callback :as callback]
   [skein.rt.channel :refer [Channel]]
   [skein.rt.failures :as failures]
   [skein.rt.frame :refer [Frame]]
   [skein.rt.port :as port]))

(defn- failure
  "Takes the exception that ended `port`. Returns it, or nil if there is none."
  [port]
  (let [thrown (.failure (port/source port))]
    (when (some? thrown) (failures/taken thrown))
    thrown))

(defn- waited!
  "Adds to the stack trace of `thrown` the place of the block that runs, once. Only in V8 does a trace show that place."
  [thrown]
  (let [stack (unchecked-get thrown "stack")
        [_ place] (re-find #"\n *at (.*)\n *at [^\n]*next \(<anonymous>\)" (str (.-stack (js/Error.))))]
    (when (and (string? stack) (some? place) (not (.includes stack place)))
      (try
        (unchecked-set thrown "stack" (str stack "\n    at <? in " place))
        (catch :default _))))) ; it can't be changed

(defn rethrow
  "See skein.async/rethrow."
  [port value]
  (when (nil? value)
    (when-some [thrown (failure port)]
      (when ^boolean goog.DEBUG (waited! thrown))
      (throw thrown)))
  value)

(defn ->future
  "See skein.async.interop/->future."
  [port]
  (js/Promise.
    (fn [fulfil reject]
      (let [p (port/source port)
            give (fn give [value]
                   (let [thrown (when (nil? value) (failure p))]
                     (if (some? thrown) (reject thrown) (fulfil value))))
            w (callback/callback give)]
        (if ^boolean (.takeNow p w)
          (give (.-v w))
          (.takeLater p w))))))

(defn ->signal
  "See skein.async.interop/->signal."
  [port]
  (let [controller (js/AbortController.)]
    (.then (->future port)
           (fn [value] (if (nil? value) (.abort controller) (.abort controller value)))
           (fn [thrown] (.abort controller thrown)))
    (.-signal controller)))

(defn- iterator
  "Returns an async iterator of the values of `port`. A loop that is left early leaves the port open."
  [port]
  #js {:next (fn [] (.then (->future port) (fn [value] #js {:done (nil? value) :value value})))})

(defn- iterable! [type]
  (unchecked-set (.-prototype type) js/Symbol.asyncIterator (fn [] (this-as port (iterator port)))))

(when ^boolean port/JS
  (iterable! Channel)
  (iterable! Frame))
