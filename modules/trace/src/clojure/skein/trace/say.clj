;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.say
  "What the expansions of `p` and of the macros of skein.trace.verbose call: lines with the place of the macro in the source."
  {:no-doc true}
  (:require
   [skein.trace.call :as call]
   [skein.trace.event :as event]
   [skein.trace.sink :as sink]))

(set! *warn-on-reflection* true)

(defn site-of
  "Returns {:file :line} of a macro call in the source."
  [form]
  {:file *file*, :line (:line (meta form))})

(defn say!
  "Sends `text` to the sinks as a line with the place `site`, {:file :line}. Returns nil."
  [site ^String text]
  (let [line (if (.endsWith text "\n") (subs text 0 (dec (.length text))) text)]
    (event/quietly
      (fn say [] (event/emit! (sink/standard-sinks) (event/about :verbose (assoc site :value line))))))
  nil)

(defn fired!
  "Says that the form with this text gave `value`. Returns `value`."
  [site text value]
  (say! site (str text " => " (event/quietly (fn shown [] (call/text value)))))
  value)
