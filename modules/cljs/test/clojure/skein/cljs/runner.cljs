;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.runner
  "Runs all tests in JavaScript. The last line has the counts, as EDN."
  (:require
   [cljs.test :as test]
   [skein.cljs.block-test]
   [skein.cljs.errors-test]
   [skein.cljs.forms-test]
   [skein.cljs.interop-test]
   [skein.cljs.operations-test]
   [skein.cljs.scheduler-test]))

(def ^:private printed #js [])

(enable-console-print!)

;; A page posts what was printed to its server.
(when (exists? js/document)
  (set-print-fn! (fn [text] (.push printed text))))

(defmethod test/report [::test/default :end-run-tests] [counts]
  (println (str "COUNTS " (pr-str (select-keys counts [:test :pass :fail :error]))))
  (when (exists? js/document)
    (js/fetch "/result" #js {:method "POST" :body (.join printed "\n")})))

(defn ^:export -main []
  (test/run-tests 'skein.cljs.block-test
                  'skein.cljs.errors-test
                  'skein.cljs.forms-test
                  'skein.cljs.interop-test
                  'skein.cljs.operations-test
                  'skein.cljs.scheduler-test))

(set! *main-cli-fn* (fn []))
(-main)
