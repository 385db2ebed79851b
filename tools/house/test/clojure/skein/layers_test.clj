;; SPDX-License-Identifier: Apache-2.0
(ns skein.layers-test
  "What may use what. `units` is the whole rule: a namespace or Java package may
  use its own unit and those that its unit names, which all stand further down."
  (:require [clojure.set :as set]
            [clojure.string :as str]
            [clojure.test :refer [deftest is testing]]
            [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private units
  "From the bottom up: [level unit what-it-holds what-it-may-use]. In the third
  column a name stands for itself and `name.*` for all beneath it; the longest
  that fits decides. New namespaces get a line here."
  '[;; The ground: error reports, the scheduler and channels, the log reader.
    [0 error      [skein.impl.error]                          []]
    [-1 thread    [skein.thread]                              []]
    [0 runtime    [skein.rt skein.rt.*]                       [thread]]
    [0 log-reader [skein.wf skein.wf.*]                       []]
    [0 fold-rt    [skein.fold.rt skein.fold.spi]              [thread]]
    [1 protocols  [skein.impl.protocols]                      [error runtime]]
    [1 expand     [skein.impl.expand skein.impl.infer]        [error runtime]]
    ;; The go compiler and the ports of a channel.
    [2 ports      [skein.impl.channel skein.impl.alt
                skein.impl.threads skein.impl.argument]                       [error runtime protocols]]
    [2 passes     [skein.impl.go.*]                           [error runtime expand]]
    [3 go         [skein.impl.go]                             [error runtime expand passes]]
    ;; The columns. None uses another but as said here; folds know no scheduler,
    ;; so that one can travel to a cluster.
    [4 async      [skein.async skein.async.*
                skein.impl.async.*]                       [error runtime protocols ports go]]
    [4 virtual    [skein.virtual skein.virtual.*]             [error runtime]]
    [4 fold       [skein.fold skein.fold.*]                   [error fold-rt]]
    [4 trace      [skein.trace skein.trace.*]                 [error runtime expand]]
    [4 inspect    [skein.inspect skein.inspect.*]             [error runtime protocols]]
    [5 scope      [skein.scope skein.scope.*]                 [error runtime protocols ports go async]]
    [5 test       [skein.test skein.test.*]                   [error runtime protocols ports go async]]
    [5 reducers   [skein.reducers]                            [error fold]]
    [5 fold-lines [skein.fold.lines]                          [error runtime fold-rt fold]]
    ;; The applications.
    [6 widefinder [skein.widefinder skein.widefinder.*]       [error log-reader fold-rt fold fold-lines]]
    [6 console    [skein.console skein.console.*]             [error inspect]]
    [6 lab        [skein.lab skein.lab.*]                     [error async scope virtual fold reducers
                                                               trace inspect]]
    [7 cli        [skein.cli skein.cli.*]                     [error log-reader widefinder console lab]]])

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
  "Returns the namespace or package that `word` is or is in, such as skein.rt for
  skein.rt.Channel$Slot, or nil if it has nothing to do with Skein's own places."
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
      (nil? from) (str here " is unknown: say where it belongs in layers_test")
      (nil? to) (str there " is unknown: say where it belongs in layers_test")
      (= from to) nil
      (contains? (unit->uses from) to) nil
      :else (str here " may not use " there))))

(defn- layer-faults
  "What the file of namespace or package `here` uses and may not, given [line place] pairs."
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

(deftest units-use-only-what-stands-below
  (doseq [[unit uses] unit->uses, used uses]
    (is (contains? unit->level used) (str unit " uses an unknown unit"))
    (is (< (long (unit->level used 99)) (long (unit->level unit))) (str unit " uses " used))))

(deftest namespaces-use-only-what-they-may
  (is (= [] (mapcat clojure-faults (filter project/ns-name-of (project/main-clojure))))))

(deftest java-packages-use-only-what-they-may
  (is (= [] (mapcat java-faults (project/main-java)))))

(deftest public-columns-do-not-stand-on-one-another
  (let [columns (into #{} (keep (fn [[level unit]] (when (= 4 level) unit))) units)]
    (doseq [column columns]
      (is (empty? (set/intersection columns (unit->uses column)))))))

(defn- clojure-faults-of [& forms]
  (clojure-faults {:path "a.clj" :text (str/join "\n" (map pr-str forms))}))

(deftest a-use-that-is-not-allowed-is-found
  (testing "a require, sideways"
    (is (= ["a.clj:1: skein.trace may not use skein.async"]
           (clojure-faults-of '(ns skein.trace (:require [skein.async :as a]))))))
  (testing "an import, by list and by name"
    (is (= ["a.clj:1: skein.fold may not use skein.rt"]
           (clojure-faults-of '(ns skein.fold (:import (skein.rt Channel))))
           (clojure-faults-of '(ns skein.fold (:import skein.rt.Channel))))))
  (testing "a full name in the code, late or in a hint"
    (is (= ["a.clj:2: skein.fold.source may not use skein.rt"]
           (clojure-faults-of '(ns skein.fold.source) '(defn f [x] (skein.rt.Timers/after x)))))
    (is (= ["a.clj:2: skein.inspect may not use skein.console"]
           (clojure-faults-of '(ns skein.inspect) '(requiring-resolve 'skein.console/start))))
    (is (= ["a.clj:2: skein.fold may not use skein.rt"]
           (clojure-faults {:path "a.clj" :text "(ns skein.fold)\n(defn f [^skein.rt.Frame x] x)"}))))
  (testing "a namespace without a place"
    (is (= ["a.clj:1: skein.novel is unknown: say where it belongs in layers_test"]
           (clojure-faults-of '(ns skein.novel)))))
  (testing "Java"
    (is (= ["A.java:2: skein.rt may not use skein.wf"]
           (java-faults {:path "A.java"
                         :text "package skein.rt; // not skein.cli\nimport skein.wf.Line;"})))))

(deftest what-is-allowed-passes
  (is (= [] (clojure-faults-of '(ns skein.cli (:require [skein.widefinder :as wf]))
                               '(defn f [] (requiring-resolve 'skein.console/start)))))
  (is (= [] (clojure-faults-of '(ns skein.fold.lines (:require [skein.fold :as fold])
                                    (:import (skein.rt LineSlices)))))))
