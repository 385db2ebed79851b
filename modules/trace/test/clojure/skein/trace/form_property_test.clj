;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.form-property-test
  "Tracing changes nothing: random programs give the same value or exception, and the same
  effects in the same order, in trace-forms as without, and in a block as well.

  2000 programs a run, or as many as the system property skein.programs says."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as properties]
   [skein.impl.go-programs :as programs]
   [skein.trace :as trace])
  (:import
   (clojure.lang LineNumberingPushbackReader)))

(set! *warn-on-reflection* true)

(def ^:private n-programs (Long/getLong "skein.programs" 2000))

(defn- traced [form args?]
  (list `trace/trace-forms {:sink [] :args? args?} form))

(defn- outcomes
  "Returns the results of the program as it is, traced, and sometimes also traced in a block."
  [form seed]
  (let [plain (programs/plain form)]
    (cond
      (= [:invalid] plain) [plain]
      (zero? (rem (long seed) 3)) [plain (programs/plain (traced form false)) (programs/parking (traced form false) seed)]
      :else [plain (programs/plain (traced form (even? (long seed))))])))

(deftest tracing-changes-nothing
  (let [property (properties/for-all [tree programs/program, seed gen/nat]
                   (programs/alike? (outcomes (programs/form [] tree) seed)))
        {:keys [pass? seed shrunk]} (check/quick-check n-programs property :max-size 120)
        [tree run-seed] (:smallest shrunk)
        form (when tree (programs/form [] tree))]
    (is pass? (pr-str {:seed seed, :form form, :outcomes (when form (outcomes form run-seed))}))))

(defn- load-traced
  "Loads a library of Clojure into a namespace of its own, each of its forms in trace-forms."
  [path]
  (binding [*ns* (create-ns (gensym "skein.trace.traced-library"))
            *warn-on-reflection* false]
    (with-open [in (LineNumberingPushbackReader. (io/reader (io/resource path)))]
      (let [[_ _ & clauses] (read in)]
        (eval (list* `ns (ns-name *ns*) (filter seq? clauses))))
      (run! (fn load-form [form] (eval (list `trace/trace-forms {:sink []} form)))
            (take-while (complement #{::end}) (repeatedly (fn [] (read {:eof ::end} in))))))
    *ns*))

(deftest whole-libraries-work-traced
  (doseq [[path calls] {"clojure/set.clj" '[(join #{{:a 1}} #{{:a 1, :b 2}}) (rename-keys {:a 1} {:a :b}) (difference #{1 2} #{2} #{3})]
                        "clojure/string.clj" '[(replace "a.b" #"\." "-") (split "a,b,,c" #",") (capitalize "abc") (index-of "abc" "c")
                                               (escape "<" {\< "lt"}) (join "," (range 3)) (blank? nil)]
                        "clojure/walk.clj" '[(postwalk-replace {1 2} [1 {1 [1]}]) (keywordize-keys {"a" {"b" 1}})]
                        "clojure/zip.clj" '[(-> (vector-zip [1 [2 3]]) down right down (edit inc) root)]
                        "clojure/data.clj" '[(diff {:a 1 :b [1 2]} {:a 1 :b [1 3]})]
                        "clojure/core/reducers.clj" '[(fold + (map inc (filter even? (vec (clojure.core/range 1000))))) (into [] (take 2 [1 2 3]))]}]
    (let [traced (load-traced path)
          original (create-ns (symbol (str/replace (subs path 0 (- (count path) 4)) "/" ".")))
          value (fn value [n form] (binding [*ns* n] (eval form)))]
      (require (ns-name original))
      (try
        (doseq [form calls] (is (= (value original form) (value traced form)) (str path " " form)))
        (finally (remove-ns (ns-name traced)))))))
