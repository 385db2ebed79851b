;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.error
  "How Skein reports what a caller did wrong: exceptions that are data. As on the JVM, each has
  a keyword of namespace `skein` under :skein/error; doc/errors.md says what each means. They are
  thrown by the macro fail! of skein.impl.cljs.error."
  {:no-doc true})

(defn preview
  "Returns `value` in at most 80 characters, for a message."
  [value]
  (if ^boolean goog.DEBUG
    (let [text (binding [*print-length* 10 *print-level* 4] (pr-str value))]
      (if (<= (count text) 80) text (str (subs text 0 79) "…")))
    ""))

(defn throw!
  "Throws an ex-info with `message` and the map `data`, with the keyword `error` under :skein/error."
  [error message data]
  (throw (ex-info message (-assoc data :skein/error error)))) ; assoc itself is much larger

(defn throw-name!
  "Throws an ex-info with the keyword :skein/`name` as its message and under :skein/error. The keyword is made here,
  because one that stands in the code takes 50 bytes."
  [name]
  (let [full-name (js* "('skein/'+~{})" name)]
    (throw (ex-info full-name {:skein/error (Keyword. "skein" name full-name nil)}))))
