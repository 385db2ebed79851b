;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.interop
  "core.async's channels of promises, on Skein. skein.async takes from promises without it."
  (:require-macros
   [cljs.core.async.interop])
  (:require
   [cljs.core.async :as a]))

(defn p->c
  "Returns a promise channel that gets the value of the promise `p`, or an ExceptionInfo that `<p!`
  throws."
  [p]
  (let [c (a/promise-chan)]
    (.then p
           (fn [v] (if (nil? v) (a/close! c) (a/put! c v)))
           (fn [e] (a/put! c (ex-info "Promise error" {:error :promise-error} e))))
    c))

(defn ^:no-doc rejection? [v]
  (and (instance? ExceptionInfo v) (= :promise-error (:error (ex-data v)))))
