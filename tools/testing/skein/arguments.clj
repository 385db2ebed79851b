;; SPDX-License-Identifier: Apache-2.0
(ns skein.arguments
  "Command-line arguments of programs beside the tests.")

(set! *warn-on-reflection* true)

(defn positive
  "Reads `text` by `parse`, or takes `default` if it is nil. Ends the program with exit code 2 and a message on stderr unless that
  is a number above 0."
  [usage parse text default]
  (let [n (if text (parse text) default)]
    (if (and n (pos? n))
      n
      (do (binding [*out* *err*]
            (println (str "skein: this must be a number above 0, but is " (pr-str text) "; usage: " usage)))
          (System/exit 2)))))
