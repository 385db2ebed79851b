;; SPDX-License-Identifier: Apache-2.0
(ns skein.bench.clock
  "Measures programs: the best of several rounds, in ns of the process's CPU time, as other
  processes may share the machine.")

(def ^:private n-rounds 6)

(defn- cpu-us []
  (let [usage (js-invoke js/process "cpuUsage")]
    (+ (unchecked-get usage "user") (unchecked-get usage "system"))))

(defn- repeated [take! program n times done]
  (if (pos? times)
    (take! (program n) (fn [_] (repeated take! program n (dec times) done)))
    (done)))

(defn- measure [take! [_ n times program] round best done]
  (if (= round n-rounds)
    (done best)
    (let [start (cpu-us)]
      (repeated take! program n times
                (fn []
                  (let [ns-each (/ (* 1e3 (- (cpu-us) start)) (* n times))]
                    (js/setTimeout (fn [] (measure take! [nil n times program] (inc round) (min best ns-each) done))
                                   0)))))))

(defn run
  "Measures `subject`, [name n times program], and prints its name and ns, with a tab between. `take!` is that of the
  program's library."
  [take! subject]
  (measure take! subject 0 js/Infinity
           (fn [ns-each] (println (str (first subject) "\t" (.toFixed ns-each 1))))))

(enable-console-print!)
