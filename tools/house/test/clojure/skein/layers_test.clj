;; SPDX-License-Identifier: Apache-2.0
(ns skein.layers-test
  "Checks which namespaces and packages of modules/async use each other. Between modules the class path decides, see
  warnings_test. `units` is the whole rule: a namespace or Java package may use its own
  unit and those that its unit names, which are all in lower layers."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private units
  "From the bottom up: [level unit what-it-holds what-it-may-use]. In the third
  column a name stands for itself and `name.*` for all beneath it; the longest
  that fits decides. Namespaces without a line here belong to modules above
  async or beside it. Nothing in async may use them."
  '[[0 error     [skein.impl.error skein.impl.check
                  skein.impl.internals skein.impl.once
                  skein.base]                                        []]
    [1 kernel    [skein.rt]                                          [error]]
    [2 on-error  [skein.impl.on-error skein.impl.backoff]            [error kernel]]
    [2 schedule  [skein.rt.schedule]                                 [kernel]]
    [3 block     [skein.rt.block]                                    [error kernel schedule]]
    [4 children  [skein.rt.scope]                                    [error kernel schedule block]]
    [5 spi       [skein.async.spi]                                   [error kernel block]]
    [5 expand    [skein.impl.expand skein.impl.forms
                  skein.impl.infer skein.impl.go.ops]                [error block]]
    [6 foreign   [skein.impl.foreign]                                [error kernel schedule block spi]]
    [6 passes    [skein.impl.go.*]                                   [error block expand]]
    [7 go        [skein.impl.go]                                     [error expand passes]]
    ;; The compiler in modules/cljs: the macros of blocks name it, and load it when ClojureScript expands them.
    [7 cljs      [skein.impl.cljs]                                   []]
    [7 port      [skein.impl.port skein.impl.threads
                  skein.impl.alt]                                    [error kernel schedule block children spi
                                                                      foreign]]
    [8 go-block  [skein.impl.block]                                  [error kernel go cljs port]]
    [9 async     [skein.async skein.async.* skein.impl.async.*]      [error kernel schedule block children spi foreign
                                                                      port go-block]]
    [5 errors    [skein.errors]                                      [error kernel block]]
    [10 scope    [skein.scope skein.scope.*]                         [error kernel on-error schedule block children go-block
                                                                      async]]
    [11 streams  [skein.async.streams skein.impl.streams.*]          [error kernel on-error schedule block spi port async
                                                                      scope]]
    [11 virtual  [skein.virtual skein.virtual.*]                     [error kernel on-error schedule block children scope]]])

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
  "Returns the namespace or package of a file."
  [{:keys [path]}]
  (-> (re-find #"(?<=/src/)(?:java/.*(?=/)|clojure/.*(?=\.clj$))" path)
      (str/replace #"^[a-z]+/" "")
      (str/replace "/" ".")
      (str/replace "_" "-")))

(defn- code
  "Returns the text of a file with comments and strings blank; in Clojure characters too, which may
  be a quote or a semicolon."
  [{:keys [path text]}]
  (str/replace text (if (str/ends-with? path ".java")
                      #"(?s)/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\""
                      #"(?s)\\.|;[^\n]*|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"")
               #(str/replace % #"[^\n]" " ")))

(defn- uses
  "Returns [line place] of the namespaces and packages that a file names, other than in keywords:
  skein.rt for skein.rt.Channel$Slot."
  [file]
  (for [[line text] (project/lines {:text (code file)})
        place (re-seq #"(?<![\w.:-])skein(?:\.[a-z][A-Za-z0-9_-]*)+" text)]
    [line (str/replace place "_" "-")]))

(defn- faults
  "Returns what a file uses and may not."
  [file]
  (let [here (place-of file)
        unknown (fn [place] (str place " is unknown: add a row for it in layers_test"))]
    (distinct
      (for [[line there] (cons [1 here] (uses file))
            :let [from (unit-of here), to (unit-of there)
                  fault (cond
                          (nil? from) (unknown here)
                          (nil? to) (unknown there)
                          (or (= from to) (contains? (unit->uses from) to)) nil
                          :else (str here " may not use " there))]
            :when fault]
        (str (:path file) ":" line ": " fault)))))

(deftest units-use-only-lower-layers
  (doseq [[unit uses] unit->uses, used uses]
    (is (contains? unit->level used) (str unit " uses an unknown unit"))
    (is (< (long (unit->level used 99)) (long (unit->level unit))) (str unit " uses " used))))

(deftest files-use-only-what-their-unit-may
  (is (= [] (mapcat faults (project/files ["modules/async/src"] [".clj" ".java"])))))
