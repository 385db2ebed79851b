;; SPDX-License-Identifier: Apache-2.0
(ns skein.kind
  "What a test expects of the data of an error.")

(set! *warn-on-reflection* true)

(defn kind-of
  "Returns the keyword of the error with this data, or [keyword problem] if it says which of several problems it was."
  [{:skein/keys [error] :keys [problem]}]
  (if problem [error problem] error))
