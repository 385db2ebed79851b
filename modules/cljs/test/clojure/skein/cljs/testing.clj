;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.testing
  "Macros for the tests that run in JavaScript.")

(set! *warn-on-reflection* true)

(defmacro defblock
  "Defines a test whose body runs as a block."
  [name & body]
  `(cljs.test/deftest ~name
     (cljs.test/async done#
       (skein.async/take! (skein.async/go
                            (try ~@body
                                 (catch :default e# (cljs.test/do-report {:type :error :message nil :expected nil :actual e#})))
                            nil)
                          (fn [~'_] (done#))))))

(defmacro repeated
  "Runs `form` `n` times in a row, without a loop."
  [n form]
  `(do ~@(repeat n form)))
