;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.reload-test
  "Sources and folds from before a reload continue to work."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.reloading :as reloading]))

(set! *warn-on-reflection* true)

(def ^:private requires
  '[[skein.fold :as fold] [skein.fold.lines :as lines] [skein.fold.source :as source]])

(def ^:private reloads
  '[(run! (fn [n] (require n :reload))
          '[skein.fold.source skein.fold.kinds skein.fold.parts skein.fold.input skein.fold.lines skein.fold])
    (require 'skein.fold 'skein.fold.lines 'skein.fold.source :reload-all)])

(def ^:private rows
  '[[:lines
     (let [file (java.io.File/createTempFile "reload" ".txt")] (.deleteOnExit file) (spit file "a\nb\n") (lines/lines (str file)))
     (fn [xs] (fold/fold fold/count xs))
     2]
    [:reading (let [left (atom (list 1 2 3))] (source/reading (fn [] (ffirst (swap-vals! left rest))))) (fn [xs] (fold/fold + xs)) 6]
    [:indexed (source/indexed 4 inc) (fn [xs] (fold/fold + xs)) 10]
    [:own-type
     (do (deftype Own [] source/Source (-source [_] [1 2 3])) (->Own))
     (fn [xs] (fold/fold + xs))
     6]
    [:extended-type
     (do (deftype Bare [])
         (extend-protocol source/Source Bare (-source [_] [1 2 3]))
         (->Bare))
     (fn [xs] (fold/fold + xs))
     6]
    [:fold
     (fold/fuse {:n fold/count, :first-two (fold/through (take 2) (fold/into [])), :by (fold/group-by odd? fold/sum)})
     (fn [f] (fold/fold f [1 2 3]))
     {:n 3, :first-two [1 2], :by {true 4, false 2}}]
    ;; Its parts have had enough when the reload comes.
    [:running-fold
     (let [seen (promise) go-on (promise)
           firsts (fold/fuse [(fold/through (take 1) (fold/into [])) fold/count])]
       [seen go-on (future (fold/fold firsts (eduction (map (fn [x] (when (= 2 x) (deliver seen true) @go-on) x)) (range 3))))])
     (fn [[seen go-on got]] @seen (deliver go-on true) @got)
     [[0] 3]]])

(deftest sources-and-folds-from-before-a-reload-work
  (is (= [] (reloading/faults requires reloads rows))))
