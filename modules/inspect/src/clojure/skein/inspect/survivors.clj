;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.survivors
  "The blocks that a test leaves behind, for `leak-free` of skein.test. The inspector must be on.

  * `mark` before the test
  * `survivors` after it"
  {:no-doc true}
  (:require
   [skein.inspect.snapshot :as snapshot]
   [skein.inspect.verdict :as verdict])
  (:import
   (skein.inspect.rt Entry Registry)))

(set! *warn-on-reflection* true)

(defn mark
  "Returns a mark for the present moment."
  []
  (.mark (Registry/get)))

(defn survivors
  "Runs the garbage collector, and returns the blocks that were made after `mark` and have not ended, as
  `skein.inspect/blocks` does. A block that waits for something that only it can reach is garbage, and is left out."
  [mark]
  (let [made (fn made [] (into #{} (comp (filter (fn after? [^Entry e] (Registry/isAfter e mark))) (map (fn id [^Entry e] (.id e))))
                               (.live (Registry/get))))]
    (if (empty? (made))
      []
      (do (verdict/collect!)
          (filterv (comp (made) :id) (:blocks (snapshot/take-snapshot)))))))
