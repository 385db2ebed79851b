;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.broken
  "A namespace that can't be loaded, for the tests.")

(set! *warn-on-reflection* true)

(throw (ex-info "broken on purpose" {}))
