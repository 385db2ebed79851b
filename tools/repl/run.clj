;; SPDX-License-Identifier: Apache-2.0
;; ./skein repl
(ns repl.run
  "A REPL in which Ctrl-C ends the running call, not the process: it interrupts the REPL's thread. Code that does not wait
  ignores the interrupt, so a second Ctrl-C ends the process."
  (:require
   [clojure.main :as main]
   [clojure.repl :as repl]))

(set! *warn-on-reflection* true)

(defn on-ctrl-c
  "Returns the function that Ctrl-C calls. `state` is an atom: :reads, :runs, or :interrupted."
  [^Thread thread state exit]
  (fn interrupt [_]
    (case (first (swap-vals! state {:reads :reads, :runs :interrupted, :interrupted :interrupted}))
      :reads (binding [*out* *err*] (println "\nCtrl-D ends the REPL."))
      :runs (.interrupt thread)
      :interrupted (exit 130))))

(defn run
  "Reads, evaluates and prints until the end of the input. It keeps `state` up to date."
  [state]
  (main/repl
    :init (fn [] (apply require main/repl-requires))
    :read (fn [request-prompt request-exit]
            (reset! state :reads)
            (let [form (main/repl-read request-prompt request-exit)]
              (Thread/interrupted) ; clears an interrupt that came after the previous form
              (reset! state :runs)
              form))))

(defn -main []
  (let [state (atom :reads)]
    (repl/set-break-handler! (on-ctrl-c (Thread/currentThread) state (fn exit [code] (System/exit code))))
    (println (str "Clojure " (clojure-version) ". Ctrl-C interrupts, Ctrl-D ends."))
    (run state)
    (println)
    (System/exit 0)))
