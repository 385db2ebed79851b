;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.port
  "Finds the object that stands for what a user passes as a port; see `skein.rt.channel` for its methods.

  * channels and frames: themselves
  * a promise: a channel that gives its value for ever, or fails
  * an AbortSignal: a channel that gives its reason for ever
  * an async iterable: its values, each requested when somebody takes
  * a port of another library, if `other-port` says how to use it"
  {:no-doc true}
  (:require-macros
   [skein.impl.cljs.error :refer [fail!]])
  (:require
   [skein.impl.error :as error]
   [skein.rt.buffers :as buffers]
   [skein.rt.callback :as callback]
   [skein.rt.channel :as channel]
   [skein.rt.failures :as failures]))

(def ^:private sources
  "Maps promises, signals and iterables to the objects that stand for them. So each is asked only once,
  however many takes there are, and an alts that chose another port leaves nothing behind in it."
  (js/WeakMap.))

;;;; Promises and signals

(goog-define
  ^{:doc "Whether promises, signals and async iterables are ports, and channels are async iterables. Without them a program
  is 2.3 kB smaller."}
  JS true)

(defn- settled
  "Returns a channel that gives the value put there to every take, for ever."
  []
  (channel/channel (buffers/Promise. nil)))

(defn- settle [ch value]
  (when (some? value) (.putNow ch callback/scratch value))
  (.close ch))

(defn- fail [ch thrown]
  (when-not ^boolean (.isClosed ch)
    (set! (.-thrown ch) (failures/keep-untaken thrown))
    (.close ch)))

(defn- promise-source [promise]
  (let [ch (settled)]
    (.then promise (fn [value] (settle ch value)) (fn [thrown] (fail ch thrown)))
    ch))

(defn- signal-source [signal]
  (let [ch (settled)
        abort (fn [] (settle ch (.-reason signal)))]
    (if ^boolean (.-aborted signal)
      (abort)
      (.addEventListener signal "abort" abort #js {:once true}))
    ch))

;;;; Async iterables

(deftype Iteration [iterator ^:mutable ch ^:mutable asked?]
  Object
  (ask [this]
    (when-not ^boolean asked?
      (set! asked? true)
      (-> (js/Promise.resolve (.next iterator))
          (.then (fn [step] (.arrive this step)))
          (.catch (fn [thrown] (fail ch thrown))))))
  (arrive [this step]
    (set! asked? false)
    (if ^boolean (.-done step)
      (.close ch)
      (do (.putNow ch callback/scratch (.-value step))
          (when ^boolean (.awaited ch) (.ask this)))))
  (stop [_]))

(defn- iterable-source [iterator]
  (let [iteration (Iteration. iterator nil false)]
    (set! (.-ch iteration) (channel/channel (buffers/fixed 1) iteration))
    (.-ch iteration)))

;;;; Ports of other libraries

(def ^{:doc "Function that returns the object that stands for a port of another library, or nil; nil if there is none."}
  other-port
  nil)

(defn- other [port]
  (when (some? other-port) (other-port port)))

;;;; All

(defn- make-source [port]
  (let [iterate (unchecked-get port js/Symbol.asyncIterator)]
    (cond
      (js-fn? (.-then port)) (promise-source port)
      (and (exists? js/AbortSignal) (instance? js/AbortSignal port)) (signal-source port)
      (some? iterate) (iterable-source (.call iterate port)))))

(defn- js-source
  "Returns the object that stands for the JavaScript object `port`, or nil."
  [port]
  (if-some [known (.get sources port)]
    known
    (let [source (make-source port)]
      (when (some? source) (.set sources port source))
      source)))

(defn- refuse [port verb]
  (let [value (error/preview port)]
    (fail! :skein/bad-argument
      (str "The argument must be a channel to " verb ", but is " value ".")
      {:value value})))

(defn- foreign-source
  "Like `source`, for a port that is neither a channel nor a frame."
  {:jsdoc ["@noinline"]}
  [port]
  (if-some [s (when (some? port)
                (or (other port) (when ^boolean JS (js-source port))))]
    s
    (refuse port "take from")))

(defn source
  "Returns the object that stands for `port` in a take. Throws :skein/bad-argument."
  [port]
  (if (and (some? port) (some? (.-takeNow port))) port (foreign-source port)))

(defn target
  "Returns the object that stands for `port` in a put. Throws :skein/bad-argument."
  [port]
  (cond
    (nil? port) (refuse port "put on")
    (some? (.-putNow port)) port
    :else (if-some [t (other port)] t (refuse port "put on"))))
