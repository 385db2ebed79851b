;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-reload.program
  "Prints what its blocks know, and then loads its other version twice."
  (:require-macros
   [skein.cljs-reload-test :refer [version]])
  (:require
   [skein.async :as a :refer [<! >! chan go]]))

(enable-console-print!)

(defonce ^:private replies (chan))
(defonce ^:private versions (a/to-chan! (repeat 2 "target/cljs/other-version.js")))

;; Started once; runs for ever.
(defonce ^:private server
  (go (while true (>! (<! replies) [:first (version)]))))

(defn- block [c]
  (go [(<! c) :first (version)]))

(defn- sites []
  (count (filter (fn [k] (.startsWith k "skein$")) (js/Object.keys js/skein.cljs_reload.program))))

;; A file that is loaded again has no `require`.
(defonce ^:private vm (js/require "vm"))
(defonce ^:private fs (js/require "fs"))

(defn- load-again
  "Loads the file as ClojureScript's REPL in Node does."
  [path]
  (set! js/goog.isProvided_ (fn [_] false))
  (set! js/goog.require (fn [_] nil)) ; all are there
  (.runInThisContext vm (.readFileSync fs path "utf8")))

(go (let [reply (chan 1)]
      (>! replies reply)
      (println (pr-str {:server (<! reply) :block (<! (block (a/to-chan! [1]))) :sites (sites)}))
      (when-some [path (<! versions)] (load-again path))))
