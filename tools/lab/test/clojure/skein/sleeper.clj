;; SPDX-License-Identifier: Apache-2.0
(ns skein.sleeper
  "A program that waits for ever, for tests of code that starts programs.")

(set! *warn-on-reflection* true)

(defn -main
  "Never returns."
  [& _]
  @(promise))
