;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.metrics-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is use-fixtures]]
   [skein.async :as a :refer [<! chan go]]
   [skein.deadline :refer [await-port]]
   [skein.inspect :as inspect]
   [skein.inspect.watched :as watched]))

(set! *warn-on-reflection* true)

(use-fixtures :each watched/fresh)

(defn- parse
  "Returns {family {labels value}} of a text in the format of OpenMetrics. Throws if a line breaks the format: a family begins with its
  type and its help, comes once, and ends before the next one. A counter's samples end in _total. The last line is # EOF."
  [text]
  (is (str/ends-with? text "\n# EOF\n"))
  (loop [[line & more] (str/split-lines text), families {}, current nil]
    (if (= "# EOF" line)
      (do (is (nil? more)) families)
      (let [[_ type-of type] (re-matches #"# TYPE ([a-z][a-z_]*) (gauge|counter)" line)
            [_ help-of] (re-matches #"# HELP ([a-z][a-z_]*) [^\n\\]+" line)
            [_ family total label value n] (re-matches #"([a-z_]+?)(_total)?(?:\{([a-z]+)=\"([a-z-]+)\"\})? (\d+)" line)]
        (cond
          type-of (do (is (nil? (families type-of)))
                      (recur more (assoc families type-of {}) [type-of type]))
          help-of (do (is (= help-of (first current)))
                      (recur more families current))
          :else (do (is (= [family (if total "counter" "gauge")] current) line)
                    (is (nil? (get-in families [family [label value]])))
                    (recur more (assoc-in families [family [label value]] (parse-long n)) current)))))))

(deftest metrics-agree-with-the-snapshot
  (let [c (chan), ports (vec (repeatedly 7 #(go (<! c))))]
    ((fn [] (go (<! (chan)))))
    (watched/eventually #(do (inspect/deadlocks {:prove true}) (seq (inspect/leaks))))
    (watched/eventually #(= 7 (count (inspect/blocks {:state :parked}))))
    (let [metrics (parse (inspect/metrics))]
      (is (= {["state" "new"] 0, ["state" "ready"] 0, ["state" "running"] 0, ["state" "parked"] 7} (metrics "skein_blocks")))
      (is (= {["op" "take"] 7, ["op" "put"] 0} (metrics "skein_waiting")))
      (is (= {[nil nil] 1} (metrics "skein_blocks_collected")))
      (is (= {["verdict" "proven"] 0, ["verdict" "certain"] 0, ["verdict" "suspected"] 0} (metrics "skein_deadlocks"))))
    (a/close! c)
    (run! await-port ports)))
