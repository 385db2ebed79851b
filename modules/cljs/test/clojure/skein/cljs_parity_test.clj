;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-parity-test
  "The same random scripts and blocks on skein.async and on core.async have the same outcomes."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cljs.build :as build]
   [skein.skip :refer [skip!]]))

(set! *warn-on-reflection* true)

(def ^:private programs "modules/cljs/test/clojure/skein/cljs_parity")
(def ^:private copy "target/cljs/parity")

(defn- write! [name text]
  (let [file (io/file copy "skein" "cljs_parity" name)]
    (io/make-parents file)
    (spit file text)))

(defn- copy-programs!
  "Writes the programs into `copy`, and the scripts and blocks once more, with core.async in the place of Skein."
  []
  (doseq [name ["program.cljs" "numbers.cljs"]]
    (write! name (slurp (io/file programs name))))
  (doseq [name ["scripts" "blocks"]
          :let [text (slurp (io/file programs (str name ".cljs")))]]
    (write! (str name ".cljs") text)
    (write! (str "core_async_" name ".cljs") (-> text
                                                 (str/replace (str "skein.cljs-parity." name) (str "skein.cljs-parity.core-async-" name))
                                                 (str/replace "[skein.async " "[cljs.core.async ")
                                                 (str/replace "[skein.async.spi " "[cljs.core.async ")))))

(def ^:private runs
  "A function for each place where the scripts run; it returns what they print there."
  (let [copied (delay (copy-programs!))
        compiled (fn [level & options]
                   (delay @copied
                          (apply build/compile! copy 'skein.cljs-parity.program level options)))
        plain (compiled :none)
        page (compiled :none :target nil :output-dir "target/cljs/page")
        ;; With :main, the compiler would look for the copy on the class path. core.async needs :target in Node.
        optimized (compiled :advanced :main nil :target :nodejs :output-to "target/cljs/parity-node.js")
        optimized-page (compiled :advanced :main nil :output-dir "target/cljs/optimized")]
    (cond-> {}
      (build/node) (assoc "Node" #(build/run-in-node @plain)
                          "Node, optimized" #(build/run-in-node @optimized))
      (build/browser) (assoc "browser" #(build/run-in-browser @page)
                             "browser, optimized" #(build/run-in-browser @optimized-page)))))

(deftest random-programs-agree-with-core-async
  (when-not (build/node) (skip! "there is no Node"))
  (when-not (build/browser) (skip! "there is no headless Chromium"))
  (is (= (* 2 (count (keep identity [(build/node) (build/browser)]))) (count runs)) "each with and without optimizations")
  (doseq [[place run] runs
          :let [output (run)]]
    (is (= {:scripts {:skein 2000 :core-async 2000 :differences []}
            :blocks {:skein 3000 :core-async 3000 :differences []}}
           (try (edn/read-string output) (catch Exception _ output)))
        place)))
