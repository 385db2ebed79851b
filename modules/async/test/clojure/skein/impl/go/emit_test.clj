;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.emit-test
  (:require
   [clojure.test :refer [deftest is]]
   [clojure.walk :as walk]
   [skein.impl.go.emit :as emit]
   [skein.impl.go.readable :refer [readable]]
   [skein.impl.go.slots :as slots]
   [skein.impl.infer :as infer]))

(set! *warn-on-reflection* true)

(def ^:private table
  "The name of the symbol that holds the table of places."
  ",,{:file \"a.clj\" :sites {1 [<! 2 3 \"(<! c)\"] }}")

(defn- emitted
  "Returns the emitted code, with SITES in place of the symbol `table`."
  [blocks]
  (walk/postwalk-replace
    {(symbol nil table) 'SITES}
    (readable (emit/emit (slots/assign {:entry 0, :blocks blocks} {'c__1 (infer/tagged 'c nil), 'x__2 (infer/tagged 'x nil)})
                {'c__1 {:sym 'c}, 'x__2 {:sym 'x}} 'go))))

(deftest one-park-is-two-clauses
  (is (= '(let* [frame1 (new skein.rt.block.Frame
                             (reify* [skein.rt.block.Body]
                               (run [this2 frame3]
                                 (loop* [state4 (. frame3 -state)]
                                   (let* [n5 (. skein.rt.block.FrameOps (number state4))]
                                     (case* n5 0 0 nil
                                            {0 [0 (let* [c6 (. frame3 -o0)]
                                                    (do (set! (. frame3 -o0) nil)
                                                        (if (. frame3 (take c6 1))
                                                          (recur 1)
                                                          (. skein.rt.block.Frame -PARKED))))]
                                             1 [1 (let* [v7 (. frame3 (takeValue)) x8 (. frame3 -o1)]
                                                    (do (set! (. frame3 -o1) nil) (f x8 v7)))]}
                                            :compact :int))))
                               (handler [this2 n9] -1)
                               (sites [this2] (. clojure.lang.EdnReader (readString (clojure.core/str 'SITES) {})))))]
            (do (set! (. frame1 -o0) c)
                (set! (. frame1 -o1) x)
                (. frame1 (go))))
         (binding [*file* "a.clj"]
           (emitted [{:params [], :code [], :exit [:park {:method 'take} ['c__1] 1 ['<! 2 3 "(<! c)"]]}
                     {:kind :resume, :params ['v__3], :code [], :exit [:return '(f x__2 v__3)]}])))))

(deftest the-table-of-places-can-be-read-whatever-the-print-settings
  (let [blocks [{:params [], :code [], :exit [:park {:method 'take} ['c__1] 1 [(with-meta '<! {:line 2}) 2 3 "(<! c)"]]}
                {:kind :resume, :params [], :code [], :exit [:return nil]}]
        symbols (fn symbols [form] (filter symbol? (tree-seq coll? seq form)))]
    (doseq [settings [{} {#'*print-length* 1} {#'*print-level* 0} {#'*print-readably* nil} {#'*print-dup* true} {#'*print-meta* true}]]
      (is (some #{'SITES} (symbols (with-bindings (assoc settings #'*file* "a.clj") (emitted blocks)))) settings))))

(defn- parts [form pred] (filter pred (tree-seq coll? seq form)))

(deftest a-large-program-is-cut-into-methods
  (let [n 300
        park (fn park [i] {:kind (if (zero? i) nil :resume), :params (if (zero? i) [] [(symbol (str "v__" i))]), :code []
                           :exit (if (= i n) [:return nil] [:park {:method 'take} ['c__1] (inc i) ['<! 1 1 "(<! c)"]])})
        form (emitted (mapv park (range (inc n))))]
    (is (< 1 (count (parts form (fn group? [x] (and (seq? x) (= 'fn* (first x))))))))
    (is (= (inc n) (reduce + (map (fn clauses [x] (count (nth x 5))) (parts form (fn case? [x] (and (seq? x) (= 'case* (first x)))))))))))
