;; SPDX-License-Identifier: Apache-2.0
;; Tallies for ./skein wf --tallies examples/tallies.clj LOG. The value of the file's last form has the tallies.
(set! *warn-on-reflection* true)

(defn section
  "Returns the first part of a URL's path: /products for /products/lamp?size=2."
  [{:keys [url]}]
  (some->> url (re-find #"^/[^/?]*")))

(defn slow-section [{:keys [micros] :as record}]
  (when (and micros (> micros 500000)) (section record)))

[{:name "sections, by bytes" :key section :value #(:bytes % 0)}
 {:name "sections that took more than half a second" :key slow-section}]
