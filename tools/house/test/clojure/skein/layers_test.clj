;; SPDX-License-Identifier: Apache-2.0
(ns skein.layers-test
  "Checks which namespaces and packages of modules/async use each other. Between modules the class path decides, see
  warnings_test. `units` is the whole rule: a namespace or Java package may use its own
  unit and those that its unit names, which are all in lower layers."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private units
  "From the bottom up: [level unit what-it-holds what-it-may-use]. In the third
  column a name stands for itself and `name.*` for all beneath it; the longest
  that fits decides. Namespaces without a line here belong to modules above
  async or beside it. Nothing in async may use them."
  '[[0 error     [skein.impl.error skein.impl.check
                  skein.impl.internals skein.impl.mirror
                  skein.impl.once skein.base]                        []]
    [1 runtime   [skein.rt skein.rt.*]                               [error]]
    [2 protocols [skein.impl.protocols]                              [error runtime]]
    [2 expand    [skein.impl.expand skein.impl.forms
                  skein.impl.infer]                                  [error runtime]]
    [3 foreign   [skein.impl.channel skein.impl.async.ports]         [error runtime protocols]]
    [3 passes    [skein.impl.go.*]                                   [error runtime expand]]
    [4 go        [skein.impl.go]                                     [error runtime expand passes]]
    ;; The compiler in modules/cljs: the macros of blocks name it, and load it when ClojureScript expands them.
    [4 cljs      [skein.impl.cljs]                                   []]
    ;; Its operations: the expansion of `<?` names one.
    [4 operations [skein.impl.operations]                            []]
    [5 late      [skein.impl.late]                                   [runtime protocols foreign go cljs]]
    [6 port      [skein.impl.port skein.impl.argument
                  skein.impl.threads skein.impl.alt]                 [error runtime late]]
    [7 async     [skein.async skein.async.* skein.impl.async.*]      [error runtime protocols late port operations]]
    [5 virtual   [skein.virtual skein.virtual.*]                     [error runtime]]
    [8 scope     [skein.scope skein.scope.*]                         [error runtime late async]]])

(def ^:private unit->uses
  (into {} (map (fn [[_ unit _ uses]] [unit (set uses)])) units))

(def ^:private unit->level
  (into {} (map (fn [[level unit]] [unit level])) units))

(defn- fits? [pattern place]
  (or (= pattern place)
      (and (str/ends-with? pattern ".*")
           (str/starts-with? place (subs pattern 0 (dec (count pattern)))))))

(defn- unit-of
  "Returns the unit that holds the namespace or package called `place`, or nil."
  [place]
  (->> (for [[_ unit patterns] units
             pattern (map str patterns)
             :when (fits? pattern place)]
         [(count pattern) unit])
       sort last second))

(defn- place-of
  "Returns the namespace or package that `word` names or is in, such as skein.rt for
  skein.rt.Channel$Slot, or nil if it is not one of Skein's."
  [word]
  (some-> (re-find #"^skein(?:\.[a-z][A-Za-z0-9_-]*)+" word)
          (str/replace \_ \-)))

(defn- words-of
  "Returns the words of `form` that may name a place: of each symbol its namespace,
  or else its name."
  [form]
  (for [part (project/parts form) :when (symbol? part)]
    (or (namespace part) (name part))))

(defn- clojure-uses [file]
  (for [form (project/forms file)
        place (keep place-of (words-of form))]
    [(:line (meta form)) place]))

(defn- code-lines
  "Returns the lines of a Java file as [number text], its comments and strings blanked."
  [file]
  (->> (str/replace (:text file) #"(?s)/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\""
                    #(str/replace % #"[^\n]" " "))
       (assoc file :text)
       project/lines))

(defn- java-uses [file]
  (for [[n text] (code-lines file)
        word (re-seq #"\bskein\.[A-Za-z0-9_.]+" text)
        :let [place (place-of word)]
        :when place]
    [n place]))

(defn- java-package [file]
  (some #(second (re-find #"^package ([a-z0-9_.]+);" (second %))) (code-lines file)))

(defn- use-fault [here there]
  (let [from (unit-of here)
        to (unit-of there)]
    (cond
      (nil? from) (str here " is unknown: add a row for it in layers_test")
      (nil? to) (str there " is unknown: add a row for it in layers_test")
      (= from to) nil
      (contains? (unit->uses from) to) nil
      :else (str here " may not use " there))))

(defn- layer-faults
  "Returns what the file of namespace or package `here` uses and may not, given [line place] pairs."
  [file here uses]
  (distinct
    (for [[line there] (cons [1 here] uses)
          :let [fault (use-fault here there)]
          :when fault]
      (str (:path file) ":" line ": " fault))))

(defn- clojure-faults [file]
  (layer-faults file (str (project/ns-name-of file)) (clojure-uses file)))

(defn- java-faults [file]
  (layer-faults file (java-package file) (java-uses file)))

(deftest units-use-only-lower-layers
  (doseq [[unit uses] unit->uses, used uses]
    (is (contains? unit->level used) (str unit " uses an unknown unit"))
    (is (< (long (unit->level used 99)) (long (unit->level unit))) (str unit " uses " used))))

(defn- in-async [files]
  (filter #(str/starts-with? (:path %) "modules/async/") files))

(deftest namespaces-use-only-allowed-namespaces
  (is (= [] (mapcat clojure-faults (filter project/ns-name-of (in-async (project/main-clojure)))))))

(deftest java-packages-use-only-allowed-packages
  (is (= [] (mapcat java-faults (in-async (project/main-java))))))

(defn- clojure-faults-of [& forms]
  (clojure-faults {:path "a.clj" :text (str/join "\n" (map pr-str forms))}))

(deftest a-use-that-is-not-allowed-is-found
  (testing "a require, sideways and upwards"
    (is (= ["a.clj:1: skein.virtual may not use skein.async"]
           (clojure-faults-of '(ns skein.virtual (:require [skein.async :as a])))))
    (is (= ["a.clj:1: skein.async may not use skein.scope"]
           (clojure-faults-of '(ns skein.async (:require [skein.scope :as s]))))))
  (testing "an import, by list and by name"
    (is (= ["a.clj:1: skein.impl.error may not use skein.rt"]
           (clojure-faults-of '(ns skein.impl.error (:import (skein.rt Channel))))
           (clojure-faults-of '(ns skein.impl.error (:import skein.rt.Channel))))))
  (testing "a full name in the code, late or in a hint"
    (is (= ["a.clj:2: skein.impl.error may not use skein.rt"]
           (clojure-faults-of '(ns skein.impl.error) '(defn f [x] (skein.rt.Timers/after x)))))
    (is (= ["a.clj:2: skein.impl.expand may not use skein.impl.late"]
           (clojure-faults-of '(ns skein.impl.expand) '(requiring-resolve 'skein.impl.late/compile-go))))
    (is (= ["a.clj:2: skein.impl.error may not use skein.rt"]
           (clojure-faults {:path "a.clj" :text "(ns skein.impl.error)\n(defn f [^skein.rt.Frame x] x)"}))))
  (testing "another module"
    (is (= ["a.clj:1: skein.fold is unknown: add a row for it in layers_test"]
           (clojure-faults-of '(ns skein.async (:require [skein.fold :as f]))))))
  (testing "Java"
    (is (= ["A.java:2: skein.rt may not use skein.async"]
           (java-faults {:path "A.java"
                         :text "package skein.rt; // not skein.scope\nimport skein.async.Line;"})))))

(deftest an-allowed-use-passes
  (is (= [] (clojure-faults-of '(ns skein.scope (:require [skein.async :as a]))
                               '(defn f [] (requiring-resolve 'skein.impl.late/compile-go)))))
  (is (= [] (clojure-faults-of '(ns skein.async.limit (:require [skein.async :as a]) (:import (skein.rt Channel)))))))
