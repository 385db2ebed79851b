;; SPDX-License-Identifier: Apache-2.0
(ns skein.arguments
  "Command-line arguments of programs beside the tests.")

(set! *warn-on-reflection* true)

(defn positive
  "Returns the number in `text`, read by `parse`, or `default` if `text` is nil. Unless it is a number above 0, ends the program with
  exit code 2 and a message on stderr."
  [usage parse text default]
  (let [n (if text (parse text) default)]
    (if (and n (pos? n))
      n
      (do (binding [*out* *err*]
            (println (str "skein: the argument must be a number above 0, but is " (pr-str text) "; usage: " usage)))
          (System/exit 2)))))
