;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-test
  "The tests that run in JavaScript: as they are and optimized, in Node and in a browser."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cljs.build :as build]
   [skein.skip :refer [skip!]]))

(set! *warn-on-reflection* true)

(def ^:private optimized-files
  "The folder of what the optimized programs share, once compiled: cljs.core and skein.async."
  "target/cljs/optimized")

(def ^:private tests "modules/cljs/test/clojure/skein/cljs")

(defn- passed? [output]
  (let [{:keys [test pass fail error]} (build/counts output)]
    (and (pos? (or test 0)) (pos? pass) (= 0 fail error))))

(def ^:private optimized
  (delay (build/compile! tests 'skein.cljs.runner :advanced :output-dir optimized-files)))

(def ^:private marks
  "Parts of skein.async, each with a text that is in a program if and only if the part is."
  {"alts" "alts must have at least one channel operation"
   "timeouts" "clearTimeout"
   "transducers" "buffer must be supplied when transducer is"
   "hubs" "\"solo\""
   "map" "as the function's result"
   "pipelines" "(pos? n)"})

(deftest a-program-that-uses-little-is-small
  (let [path (build/compile! "modules/cljs/test/clojure/skein/cljs_small" 'skein.cljs-small.program :advanced
                             :output-dir optimized-files)
        program (slurp path)
        all (slurp @optimized)]
    (doseq [[part mark] marks]
      (is (str/includes? all mark) part)
      (is (not (str/includes? program mark)) part))
    ;; Most of it is cljs.core.
    (is (< (count program) 100000))
    (if (build/node)
      (is (= "GOT 42\n" (build/run-in-node path)))
      (skip! "there is no Node"))))

(deftest a-program-may-do-without-promises-and-messages
  (let [path (build/compile! "modules/cljs/test/clojure/skein/cljs_small" 'skein.cljs-small.program :advanced
                             :output-to "target/cljs/smallest.js" :output-dir optimized-files
                             :closure-defines {'goog.DEBUG false 'skein.rt.port/JS false})
        program (slurp path)]
    (doseq [mark ["asyncIterator" "AbortSignal" "WeakMap" "because nil means closed"]]
      (is (str/includes? (slurp @optimized) mark))
      (is (not (str/includes? program mark)) mark))
    (is (< (count program) 97500))
    (if (build/node)
      (is (= "GOT 42\n" (build/run-in-node path)))
      (skip! "there is no Node"))))

(deftest the-tests-pass-in-node
  (if (build/node)
    (let [output (build/run-in-node (build/compile! tests 'skein.cljs.runner :none) "--expose-gc")]
      (is (passed? output) output))
    (skip! "there is no Node")))

(deftest the-tests-pass-in-node-optimized
  (if (build/node)
    (let [output (build/run-in-node @optimized "--expose-gc")]
      (is (passed? output) output))
    (skip! "there is no Node")))

(deftest the-tests-pass-in-a-browser
  (if (build/browser)
    (let [output (build/run-in-browser (build/compile! tests 'skein.cljs.runner :none :target nil :output-dir "target/cljs/page"))]
      (is (passed? output) output))
    (skip! "there is no headless Chromium")))

(deftest the-tests-pass-in-a-browser-optimized
  (if (build/browser)
    (let [output (build/run-in-browser @optimized)]
      (is (passed? output) output))
    (skip! "there is no headless Chromium")))
