;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.error
  "How Skein reports what a caller did wrong: exceptions that are data. As on the JVM, each has
  a keyword of namespace `skein` under :skein/error; doc/errors.md says what each means."
  {:no-doc true})

(defn preview
  "Returns `value` in at most 80 characters, for a message."
  [value]
  (if ^boolean goog.DEBUG
    (let [text (binding [*print-length* 10 *print-level* 4] (pr-str value))]
      (if (<= (count text) 80) text (str (subs text 0 79) "…")))
    ""))

(defn fail!
  "Throws an ex-info with `message` and the map `data`, with the keyword `error` under :skein/error."
  [error message data]
  (throw (if ^boolean goog.DEBUG
           (ex-info message (-assoc data :skein/error error)) ; assoc itself is much larger
           (ex-info (.-fqn error) {:skein/error error}))))
