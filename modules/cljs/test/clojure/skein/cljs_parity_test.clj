;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-parity-test
  "The same random scripts on skein.async and on core.async have the same outcomes."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cljs.build :as build]))

(set! *warn-on-reflection* true)

(def ^:private script "modules/cljs/test/clojure/skein/cljs/scripts.cljs")

(defn- outcomes
  "Returns the lines that the scripts print on the library `library`, a line a script."
  [library]
  (let [folder (str "target/cljs/scripts-" library)
        file (io/file folder "scripts" "main.cljs")]
    (io/make-parents file)
    (spit file (-> (slurp script)
                   (str/replace "skein.cljs.scripts" "scripts.main")
                   (str/replace "[skein.async " (str "[" library " "))))
    (str/split-lines (build/run-in-node (build/compile! folder 'scripts.main :none
                                                        :output-to (str folder ".js") :output-dir (str folder "-out"))))))

(deftest random-scripts-agree-with-core-async
  (if (build/node)
    (let [ours (outcomes "skein.async")
          theirs (outcomes "cljs.core.async")]
      (is (= 2000 (count ours) (count theirs)) (str/join "\n" (take 20 ours)))
      (is (= [] (take 3 (remove (fn [[_ a b]] (= a b)) (map vector (range) ours theirs))))))
    (do (println "SKIPPED: there is no Node on the PATH")
        (is (nil? (build/node))))))
