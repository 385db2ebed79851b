;; SPDX-License-Identifier: Apache-2.0
(ns skein.names-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private empty-words #{"core" "util" "utils" "misc" "helpers" "common"})

(defn- namespace-faults
  "Reports namespaces whose name has a word that says nothing about their subject, such as util. The bridge has core.async's
  names."
  [file]
  (for [word (some-> (project/ns-name-of file) str (str/split #"[.-]"))
        :when (and (empty-words word) (not (re-find #"^modules/core-async/src/clojure/(?:clojure|cljs)/core/" (:path file))))]
    (str (:path file) ":1: '" word "' says nothing in a namespace's name")))

(defn- module-of [file]
  (second (re-find #"^(modules/[^/]+)/src/clojure/" (:path file))))

(defn- not-for-users? [file]
  (let [form (some #(when (and (seq? %) (= 'ns (first %))) %) (project/forms file))]
    (some #(and (map? %) (:no-doc %)) [(meta (second form)) (nth form 2 nil) (nth form 3 nil)])))

(defn- public-faults
  "Reports a library's namespace that is neither in its module's README nor marked as not for users."
  [readme-of file]
  (let [n (project/ns-name-of file)]
    (when-not (or (nil? (module-of file))
                  (str/starts-with? (str n) "skein.impl.")
                  (not-for-users? file)
                  (str/includes? (readme-of (module-of file)) (str "`" n "`")))
      [(str (:path file) ":1: " n " is neither :no-doc nor in the module's README")])))

(defn- licence-faults [file]
  (let [[line line-2] (map second (project/lines file))
        first-line (if (some-> line (str/starts-with? "#!")) line-2 line)]
    (when-not (re-matches #"(;;|//|#) SPDX-License-Identifier: Apache-2\.0" (or first-line ""))
      [(str (:path file) ":1: does not begin with the SPDX line")])))

(def ^:private home-path
  "Someone's home folder; written so that this file doesn't contain one."
  #"/(?:root|home/[a-z][a-z0-9_-]*|Users/[A-Za-z][A-Za-z0-9_-]*)/[A-Za-z0-9._-]")

(defn- home-path-faults [file]
  (for [[n text] (project/lines file)
        :when (re-find home-path text)]
    (str (:path file) ":" n ": a path in somebody's home folder")))

(defn- code-files []
  (concat (project/clojure-files)
          (project/java-files)
          (project/files ["deps.edn" ".clj-kondo/config.edn" "modules" "apps" "tools"] [".edn" ".cljs"])
          (project/files ["skein" ".ci/run"] ["skein" "run"])))

(defn- text-files []
  (concat (code-files)
          (project/files ["."] ["README.md" "CHANGELOG.md" "CONTRIBUTING.md" "pom.xml"])
          (project/files ["doc" "examples" "modules" "apps" "tools"] [".md" ".edn" ".txt" "pom.xml"])))

(deftest namespaces-have-names-of-their-subject
  (is (= [] (mapcat namespace-faults (project/clojure-files))))
  (is (= ["a.clj:1: 'util' says nothing in a namespace's name"]
         (namespace-faults {:path "a.clj" :text "(ns skein.string-util)"}))))

(deftest public-namespaces-are-in-the-readme
  (is (= [] (mapcat #(public-faults (fn readme-of [module] (slurp (str module "/README.md"))) %) (project/main-clojure))))
  (let [fault #(public-faults {"modules/a" "`skein.a`"} {:path "modules/a/src/clojure/skein/a.clj" :text %})]
    (is (= [nil nil nil nil] (map fault ["(ns skein.a)" "(ns skein.impl.b)" "(ns ^:no-doc skein.a.c)" "(ns skein.a.d \"Text.\" {:no-doc true})"])))
    (is (= ["modules/a/src/clojure/skein/a.clj:1: skein.a.c is neither :no-doc nor in the module's README"]
           (fault "(ns skein.a.c)")))))

(deftest files-begin-with-the-licence
  (is (= [] (mapcat licence-faults (code-files))))
  (is (nil? (licence-faults {:path "run" :text "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0"})))
  (is (= ["a.clj:1: does not begin with the SPDX line"]
         (licence-faults {:path "a.clj" :text "(ns a)\n;; SPDX-License-Identifier: Apache-2.0"})
         (licence-faults {:path "a.clj" :text ""}))))

(deftest no-file-names-a-home-folder
  (is (= [] (mapcat home-path-faults (text-files))))
  (is (= ["a.md:2: a path in somebody's home folder"]
         (home-path-faults {:path "a.md" :text (str "see\n" "/home/" "ann/.m2 and ~/.m2")}))))

(defn- type-name [file]
  (second (re-find #"([^/]+)\.java$" (:path file))))

(defn- twice-named
  "Returns the names that two Java types of different packages have. The bridge's are left out, because they are core.async's."
  [files]
  (for [[n those] (sort-by key (group-by type-name (remove #(str/includes? (:path %) "java/clojure/core/async/") files)))
        :when (and (next those) (not= "package-info" n))]
    (str n ": " (str/join ", " (map :path those)))))

(deftest a-name-of-a-type-means-one-thing
  (is (= [] (twice-named (project/main-java))))
  (is (= ["A: x/A.java, y/A.java"] (twice-named [{:path "x/A.java"} {:path "y/A.java"} {:path "y/B.java"}]))))

(defn- mirrored-folders
  "Returns the pairs of folders of namespaces whose last two names are each other's in reverse, such as a/b/c and a/c/b."
  [namespaces]
  (let [folders (into #{} (map #(vec (butlast (str/split (str %) #"\.")))) namespaces)]
    (for [folder (sort-by str folders)
          :let [mirror (some-> (when (< 1 (count folder)) folder) pop pop (conj (peek folder) (peek (pop folder))))]
          :when (and mirror (neg? (compare (str folder) (str mirror))) (folders mirror))]
      (str (str/join "/" folder) " and " (str/join "/" mirror)))))

(deftest no-folder-mirrors-another
  (is (= [] (mirrored-folders (project/main-namespaces))))
  (is (= ["skein/a/b and skein/b/a"] (mirrored-folders '[skein.a.b.x skein.b.a.y skein.a.c.z]))))

(defn- repeated-tests
  "Reports tests of one file with the same name, of which Clojure keeps only the last."
  [file]
  (for [[n times] (sort-by key (frequencies (map second (re-seq #"(?m)^\((?:deftest|deftwin|defspec|defsim)\s+(?:\^\S+\s+)?([^\s)]+)" (:text file)))))
        :when (< 1 (long times))]
    (str (:path file) ":1: " times " tests are named " n)))

(deftest tests-of-a-file-have-different-names
  (is (= [] (mapcat repeated-tests (project/files ["modules" "apps" "tools"] [".clj" ".cljs" ".cljc"]))))
  (is (= ["a.clj:1: 2 tests are named x"] (repeated-tests {:path "a.clj" :text "(deftest x)\n(deftest ^:slow x)\n(deftest y)"}))))
