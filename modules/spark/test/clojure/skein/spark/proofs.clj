;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.proofs
  "`./skein spark WHAT [N]`: what takes too long for a test. The default of N is in parentheses.

  * `cases [N]`: each fold from each source in 1, 2, 7 and 64 partitions equals a local one, and so do N generated cases (2000)
  * `delays [N]`: the parts of N folds (200), whose tasks end in any order, are combined in the order of the elements
  * `kills [N]`: N folds (20), of which an executor is killed at a random moment, each fifth time both
  * `loads [N]`: in N fresh Clojures (100), two tasks load a namespace at once
  * `logs [N]`: `wf --spark` prints of 40 files, N MB in all (1024), what `wf` prints
  * `partitions [N]`: N partial values (10,000) of 1 kB, in a process of 256 MB"
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :as test :refer [is]]
   [skein.arguments :as arguments]
   [skein.fold :as fold]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.far-test :as far-test]
   [skein.spark.folds :as folds]
   [skein.spark.local-test :as local-test]
   [skein.spark.wf-test :as wf-test])
  (:import
   (java.lang ProcessHandle)
   (java.util.concurrent.locks LockSupport)
   (java.util.zip GZIPOutputStream)))

(set! *warn-on-reflection* true)

(def ^:private usage "./skein spark cases [N] | delays [N] | kills [N] | loads [N] | logs [MB] | partitions [N]")

(defn- cases [n]
  (local-test/folds-equal-local-ones local-test/all-folds)
  (let [result (local-test/equal-to-local (bed/bed :local) n)]
    (is (:pass? result) (pr-str (:shrunk result)))))

(defn- kill-later
  "Kills one executor, or all, at a random moment within three seconds of the first partial value."
  [all?]
  (future
    (LockSupport/parkNanos (long (rand 3e9)))
    (run! #(.destroyForcibly ^ProcessHandle %) (cond->> (shuffle (bed/executors)) (not all?) (take 1)))))

(defn- kills [n]
  (let [far (spark/range {:partitions 12} (bed/bed :pair) 0 3000)]
    (dotimes [i n]
      (let [all? (= 4 (mod i 5))
            kill (delay (kill-later all?))
            start (System/nanoTime)
            value (fold/fold {:lost-after-ms bed/patience-ms, :on-progress (fn [_] @kill)} folds/slow far)]
        (is (= (vec (range 3000)) value))
        @@kill
        (println (format "  %2d: %s, %.1f s" i (if all? "both" "one") (/ (- (System/nanoTime) start) 1e9)))
        (flush)))))

(defn- loads [n]
  (let [expected (fold/fold folds/stats (range 100))]
    (dotimes [_ n]
      (is (= [expected expected] (map (:complete folds/stats identity) (far-test/loaded-at-once 2)))))))

(defn- logs [megabytes]
  (let [plain (mapv #(wf-test/log-bytes (quot (* 1000000 (long megabytes)) 40) %) (range 4))
        packers [[".log" identity] [".log.gz" #(GZIPOutputStream. %)] [".log.zst" wf-test/zstd]]
        paths (vec (for [i (range 40)
                         :let [[ending packer] (packers (mod i 3))]]
                     (wf-test/file-of (str "long" i ending) packer (plain (mod i 4)))))]
    (try
      (wf-test/same? "--format" "json" paths)
      (wf-test/same? "--preset" "site" "--format" "edn" paths)
      (finally (run! io/delete-file paths)))))

(def ^:private smallest-driver "Spark refuses to start with less than 450 MB, unless it is told that it has them." "471859200")

(defn- partitions [n]
  (let [form `(with-open [cluster# (spark/connect {:conf (assoc (bed/conf) "spark.testing.memory" ~smallest-driver), :jars :there} "local[2]")]
                (let [texts# (fold/fold (fold/through (map folds/kilobyte) (fold/into [])) (spark/range {:partitions ~n} cluster# 0 ~n))]
                  (prn [(count texts#) (transduce (map count) + texts#)])))
        printed (fresh-jvm/output ["-Xmx256m"] ["-e" "(require 'skein.spark 'skein.fold 'skein.spark.bed 'skein.spark.folds)" "-e" (pr-str form)])]
    (is (= (str [n (* 1000 (long n))]) (last (str/split-lines printed))))))

(def ^:private proofs
  "Name -> [the check, a function of a number; the number by default]."
  {"cases" [cases 2000], "delays" [local-test/in-order-with-delays 200], "kills" [kills 20], "loads" [loads 100]
   "logs" [logs 1024], "partitions" [partitions 10000]})

(defn -main
  "Runs the checks called `what`. Exits with 1 if one fails."
  [& [what n]]
  (if-let [[claim default] (proofs what)]
    (binding [test/*report-counters* (ref test/*initial-report-counters*)]
      (let [start (System/nanoTime)]
        (claim (arguments/positive usage parse-long n default))
        (let [{:keys [pass fail error]} @test/*report-counters*
              wrong (+ (long fail) (long error))]
          (println (format "%s: %d claims hold, %d do not, %.0f s" what pass wrong (/ (- (System/nanoTime) start) 1e9)))
          (System/exit (if (and (pos? (long pass)) (zero? wrong)) 0 1)))))
    (do (binding [*out* *err*] (println "skein: usage:" usage))
        (System/exit 2))))
