;; SPDX-License-Identifier: Apache-2.0
(ns lab.e9-downloads
  "Many downloads from a slow server. After Ivan Grishaev's virtuoso, 2023-25.

  The server sends 500 kB a second on each connection, and resets connections beyond a limit.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e9-downloads"
  (:require
   [lab.measure :as measure]
   [lab.server :as server]
   [skein.virtual :as v]
   [skein.virtuoso :as virtuoso]))

(set! *warn-on-reflection* true)

(def ^:private sizes
  {:full {:few 100, :many 2000, :varied 320, :kilobytes 25, :max-open 256, :budget-ms 0}
   :quick {:few 20, :many 1000, :varied 160, :kilobytes 20, :max-open 256, :budget-ms 0}
   :tiny {:few 5, :many 60, :varied 20, :kilobytes 5, :max-open 20, :budget-ms 0}})

(defn- download
  "Returns the number of bytes received."
  [site n]
  (count (slurp (str site n))))

(defn- all-at-once
  "Returns how many of n downloads fail when all begin at once."
  [site n n-bytes]
  (count (remove #{n-bytes} (virtuoso/map (fn [_] (try (download site n-bytes) (catch java.io.IOException e e)))
                              (range n)))))

(defn- run [{:keys [few many varied kilobytes max-open]}]
  (server/with-server {:bytes-per-s 500000, :max-open max-open}
    (fn [site]
      (let [n-bytes (* 1000 (long kilobytes))
            window (quot (long max-open) 2)
            get (partial download site)
            ;; One in ten is ten times as long.
            sizes (map #(if (zero? (rem (long %) 10)) (* 10 n-bytes) n-bytes) (range varied))
            case! (fn [row items contestants]
                    (doseq [[column f] contestants]
                      (measure/measure! {:row row, :column column, :expected (reduce + items)}
                                        #(reduce + (f items)))))]
        (run! get (repeat 20 1000)) ; warms up: each figure is of one run
        (case! (str few " downloads") (repeat few n-bytes)
               {"map" #(map get %), "pmap" #(pmap get %), "skein.virtuoso map" #(virtuoso/map get %)
                "skein.virtuoso pmap" #(virtuoso/pmap window get %), "skein.virtual pmap" #(v/pmap window get %)})
        (case! (str many " downloads, window " window) (repeat many n-bytes)
               {"skein.virtuoso pmap" #(virtuoso/pmap window get %), "skein.virtual pmap" #(v/pmap window get %)})
        (measure/note! {:row (str many " downloads at once"), :column "skein.virtuoso map"}
                       #(let [failed (all-at-once site many n-bytes)]
                          {:text (str failed " of " many " failed"), :failed failed}))
        (case! (str varied " downloads, one in ten long, window 64") sizes
               {"skein.virtuoso pmap" #(virtuoso/pmap 64 get %), "skein.virtual pmap" #(v/pmap 64 get %)})))))

(defn -main "Runs the experiment." [] (measure/main sizes run))
