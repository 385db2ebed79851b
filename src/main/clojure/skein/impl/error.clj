;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.error
  "Errors as data: every failure of Skein is an ex-info that names itself.

  - `fail!`     throws one
  - `preview`   a value, cut short for a message")

(set! *warn-on-reflection* true)

(def ^:private max-preview-chars 80)

(defn preview
  "Returns `value` printed, cut to 80 characters.

  Long and endless sequences are cut while they are printed.

      (preview [1 2 3])
      ;=> \"[1 2 3]\""
  [value]
  (let [text (binding [*print-length* 20, *print-level* 4] (pr-str value))]
    (if (<= (count text) (long max-preview-chars))
      text
      (str (subs text 0 (- (long max-preview-chars) 3)) "..."))))

(defn fail!
  "Throws an ex-info with `message`, and `{:skein/error keyword}` plus `data` as its data.

  keyword  names the error, in namespace `skein`; doc/errors.md explains each
  message  what happened, why, what to do
  data     map of the values that are to blame"
  [keyword message data]
  (throw (ex-info message (assoc data :skein/error keyword))))
