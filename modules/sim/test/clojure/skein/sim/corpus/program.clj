;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.corpus.program
  "Small programs with a known bug, each with a twin that does not have it. A program is {:name
  :within :buggy :fixed :options}: a simulation finds the bug within that many schedules.")

(set! *warn-on-reflection* true)

(defn expect
  "Throws unless (f a b)."
  [f a b]
  (when-not (f a b)
    (throw (ex-info (str "expected " a ", but it is " b) {:expected a :actual b}))))

(defn program
  "Returns a program; `within` is how many schedules may be needed."
  ([name within buggy fixed] (program name within {} buggy fixed))
  ([name within options buggy fixed]
   {:name name :within within :options options :buggy buggy :fixed fixed}))
