;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.tokens
  "A file of the schedules that have failed: a line for each, with the name of its test and its token.

  * `of` - the tokens of a test
  * `add!` - one more"
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]))

(set! *warn-on-reflection* true)

(defn of
  "Returns the tokens of the test called `test` in the file `path`, oldest first."
  [path test]
  (when (.exists (io/file path))
    (for [line (str/split-lines (slurp path))
          :let [[name token] (str/split line #" ")]
          :when (= (str test) name)]
      token)))

(defn add!
  "Adds the token of the test called `test` to the file, unless it is there."
  [path test token]
  (let [file (io/file path)]
    (when-not (some #{token} (of file test))
      (io/make-parents file)
      (when-not (.exists file)
        (spit file "# Schedules that have failed. The tests of skein.sim replay them first.\n"))
      (spit file (str test " " token "\n") :append true))))
