;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.once
  "Types and protocols that stay the same when their namespace is loaded again, for example by
  `(require 'my.app :reload-all)`. Their instances outlive a reload. A new type of the same name
  would be a different class, and the code would not recognise the old instances."
  {:no-doc true})

(set! *warn-on-reflection* true)

(defn- unless-there [form]
  (when (or *compile-files* (not (resolve (second form))))
    form))

(defmacro deftype-once
  "Like `deftype`, but does nothing if this namespace has the type."
  {:style/indent 2}
  [type-name fields & specs]
  (unless-there `(deftype ~type-name ~fields ~@specs)))

(defmacro defrecord-once
  "Like `defrecord`, but does nothing if this namespace has the record."
  {:style/indent 2}
  [record-name fields & specs]
  (unless-there `(defrecord ~record-name ~fields ~@specs)))

(defmacro defprotocol-once
  "Like `defprotocol`, but does nothing if this namespace has the protocol."
  {:style/indent 1}
  [protocol-name & docstring-and-methods]
  (unless-there `(defprotocol ~protocol-name ~@docstring-and-methods)))
