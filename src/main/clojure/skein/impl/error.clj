;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.error
  "Errors as values: `ex-info` whose data names the error by a keyword.")

(set! *warn-on-reflection* true)

(def ^:private preview-chars 80)

(defn preview
  "Returns `value` printed in at most 80 characters, however large or deep it is."
  [value]
  (let [text (binding [*print-length* 16, *print-level* 6, *print-meta* false, *print-dup* false]
               (pr-str value))]
    (if (<= (count text) (long preview-chars))
      text
      (str (subs text 0 (- (long preview-chars) 3)) "..."))))

(defn fail!
  "Throws an `ex-info` with `message` and `data`, in which `error`, a keyword of
  the namespace skein, stands under :skein/error. Each is told in doc/errors.md."
  [error message data]
  (throw (ex-info message (assoc data :skein/error error))))
