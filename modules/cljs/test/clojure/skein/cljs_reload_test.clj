;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-reload-test
  "A namespace that is loaded again, after a literal and a macro in it have changed."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cljs.build :as build]
   [skein.skip :refer [skip!]]))

(set! *warn-on-reflection* true)

(def ^:private source "modules/cljs/test/clojure/skein/cljs_reload/program.cljs")
(def ^:private copy "target/cljs/reload")
(def ^:private files "target/cljs/reload-out")

(def ^:private current (atom 1))

(defmacro version [] @current)

(defn- compile-version!
  "Compiles the program with `literal` as its literal and `n` as what the macro gives. Returns its path."
  [literal n]
  (reset! current n)
  (let [file (io/file copy "skein" "cljs_reload" "program.cljs")]
    (io/make-parents file)
    (spit file (str/replace (slurp source) ":first" (str literal))))
  (build/compile! copy 'skein.cljs-reload.program :none :output-dir files))

(deftest blocks-that-start-after-a-reload-run-the-new-code
  (if (build/node)
    (do (compile-version! :new 2)
        (io/copy (io/file files "skein" "cljs_reload" "program.js") (io/file "target/cljs/other-version.js"))
        (let [output (build/run-in-node (compile-version! :old 1))
              [before after again :as lines] (keep edn/read-string (re-seq #"(?m)^\{.*" output))]
          (is (= 3 (count lines)) output)
          (is (= [[:old 1] [1 :old 1]] ((juxt :server :block) before)))
          (is (= [[:old 1] [1 :new 2]] ((juxt :server :block) after)) "a running block continues with its code")
          (is (= after again) "the same version adds no function")))
    (skip! "there is no Node")))
