;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.training
  "Runs typical commands, one after another in one process, to train the start-up cache.

      java ... skein.base.Launch skein.cli.training WIDE-FINDER-LOG LOG"
  (:require
   [skein.cli :as cli])
  (:import
   (java.io OutputStream PrintStream)))

(set! *warn-on-reflection* true)

(defn- commands
  "Returns the commands to run. The first one runs longest, because what the cache learns about its methods matters most."
  [wide-finder-log log]
  [["wf" wide-finder-log]
   ["wf" "--preset" "site" wide-finder-log]
   ["wf" log]
   ["wf" "--by" "url,host+day" "--distinct" "client" "--status" "2xx" "--from" "2025-03-02" "--no-bots" "--format" "json" log]
   ["wf" "--by" "path" "--rank" "p95-time" "--color" "always" log]
   ["wf" "--by" "status" "--where" "agent=Mozilla" "--client" "10.0.0.0/8" "--format" "csv" log]
   ["wf" "--help"]])

(defn -main
  "Runs the commands and discards what they print. Exits with 1 if one fails."
  [wide-finder-log log]
  (let [nowhere (OutputStream/nullOutputStream)
        codes (mapv #(cli/run % {:out nowhere, :err (PrintStream. nowhere)}) (commands wide-finder-log log))]
    (System/exit (if (every? zero? codes) 0 1))))
