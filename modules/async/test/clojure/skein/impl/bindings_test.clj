;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.bindings-test
  "Macros refuse a vector of a wrong shape when they are expanded, and say which they want."
  (:require
   [clojure.test :refer [are deftest]]
   [skein.async]
   [skein.scope]
   [skein.virtual]))

(set! *warn-on-reflection* true)

(defn- refusal
  "The error and the message by which the expansion of `form` is refused."
  [form]
  (try (macroexpand form) :accepted
       (catch Exception e
         (some (fn own [e] (when-some [error (:skein/error (ex-data e))] [error (ex-message e)]))
               (take-while some? (iterate ex-cause e))))))

(deftest vectors-of-a-wrong-shape-are-refused
  (are [form message] (= [:skein/bad-argument message] (refusal 'form))
    (skein.async/go-loop 5 1) "The vector of go-loop must be [name value ...], but is 5. [:skein/bad-argument]"
    (skein.async/go-loop [x] 1) "The vector of go-loop must be [name value ...], but is [x]. [:skein/bad-argument]"
    (skein.scope/scope 5) "The vector of scope must be [name] or [name options], but is 5. [:skein/bad-argument]"
    (skein.scope/scope [] 1) "The vector of scope must be [name] or [name options], but is []. [:skein/bad-argument]"
    (skein.scope/scope [s {} 5] 1) "The vector of scope must be [name] or [name options], but is [s {} 5]. [:skein/bad-argument]"))

(deftest options-in-the-body-of-a-scope-are-refused
  (are [form message] (= message (refusal 'form))
    (skein.scope/scope [sc] {:timeout-ms 50} (f))
    [:skein/bad-argument "The body of scope begins with the options {:timeout-ms 50}. They go into the vector: (scope [sc {:timeout-ms 50}] ...). [:skein/bad-argument]"]
    (skein.scope/scope [sc] {:timeout-ms 50}) :accepted
    (skein.scope/scope [sc] {} (f)) :accepted
    (skein.scope/scope [sc] {:other 50} (f)) :accepted))
