;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.travel-test
  "Folds in a second Clojure that knows the class path and nothing else."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [are deftest is]]
   [skein.fold :as fold]
   [skein.kind :refer [kind-of]]
   [skein.spark :as spark]
   [skein.spark.folds :as folds]))

(set! *warn-on-reflection* true)

(defmacro ^:private at-prompt
  "Evaluates the forms as a prompt would: in a namespace that has no file."
  [& forms]
  `(binding [*ns* (create-ns '~'prompt), *file* "NO_SOURCE_PATH"]
     (clojure.core/refer-clojure)
     (eval '(do ~@forms))))

(deftest folds-of-files-travel
  (are [f sample] (nil? (spark/problem f sample))
    fold/sum [1 2]
    + [1]
    (fold/through (map list) fold/count) [1]
    folds/stats [1 2]
    (spark/named `folds/less-than 3 false) [1 2]
    (fold/through (comp (map folds/bucket) (filter (folds/below 3)) (take 4)) fold/frequencies) [1 2]
    (fold/group-by folds/month (fold/finish #(str "done here: " %) fold/count)) [1 2])
  (is (nil? (spark/problem fold/sum))))

(deftest planted-problems-are-found
  (are [f sample error says] (let [{:keys [message] :as problem} (spark/problem f sample)]
                               (and (= error (or (:skein/error problem) (:class problem)))
                                    (str/includes? (str message) says)))
    ;; code without a name
    (fold/through (map #(inc %)) fold/sum) [] :skein/cannot-travel "no name"
    (let [limit 3] (assoc fold/sum :step (fn [a x] (+ a (min x limit))))) [] :skein/cannot-travel "[:f :step]"
    (fold/through (let [seen (atom 0)] (map (fn [x] (swap! seen inc) x))) fold/sum) [] :skein/cannot-travel "no name"
    (at-prompt (defn f [x] x) (skein.fold/through (map f) skein.fold/sum)) [] :skein/cannot-travel "prompt"
    (at-prompt (def xf (map inc)) (skein.fold/through xf skein.fold/sum)) [] :skein/cannot-travel "prompt"
    ;; values that can't be sent
    (fold/through (map (partial vector (Thread/currentThread))) fold/count) [] :skein/cannot-travel "Thread"
    folds/keeps-transient [] :skein/cannot-travel "content changes"
    folds/keeps-atom [] :skein/cannot-travel "content changes"
    (fold/through (map (constantly (Object.))) fold/distinct) [1] :skein/cannot-travel "java.lang.Object"
    ;; functions that fail
    folds/no-identity [] nil "no identity"
    (fold/through (map inc) fold/count) ["a"] "java.lang.ClassCastException" "String"))

(deftest a-name-is-checked-when-it-is-given
  (are [named error says] (let [e (try named (catch clojure.lang.ExceptionInfo e e))]
                            (and (= error (kind-of (ex-data e))) (str/includes? (str (ex-message e)) says)))
    (spark/named 'no.such.place/fold) [:skein/far-code :missing] "no.such.place"
    (spark/named `folds/no-such-fold) [:skein/far-code :missing] "no-such-fold"
    (spark/named 'skein.spark.broken/fold) [:skein/far-code :broken] "broken on purpose"
    (spark/named 'count) :skein/bad-argument "count"
    (spark/named (at-prompt (defn by [k] k) 'prompt/by) :hour) :skein/cannot-travel "prompt"))

(deftest non-folds-are-refused
  (is (= :skein/bad-argument (:skein/error (spark/problem {:step 1}))))
  (is (= :skein/bad-argument (:skein/error (spark/problem 7)))))

(deftest a-redefined-function-is-not-sent-as-the-old-one
  (with-redefs [folds/bucket (fn [n] n)]
    (is (= :skein/cannot-travel (:skein/error (spark/problem (fold/through (map folds/bucket) fold/sum)))))))
