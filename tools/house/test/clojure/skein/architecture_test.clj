;; SPDX-License-Identifier: Apache-2.0
(ns skein.architecture-test
  "doc/architecture.md names existing files, and every module."
  (:require
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private page (delay (slurp "doc/architecture.md")))

(defn- named
  "Returns the names of files in `text`, as in `Channel.java`."
  [text]
  (into #{} (map second) (re-seq #"`([A-Za-z_]+\.(?:java|clj))`" text)))

(defn- file-names [files]
  (into #{} (map #(last (str/split (:path %) #"/"))) files))

(deftest the-files-of-the-walks-exist
  (is (< 30 (count (named @page))))
  (is (= #{} (set/difference (named @page) (file-names (concat (project/main-clojure) (project/main-java))))))
  (is (= #{"A.java" "b_c.clj"} (named "`A.java` and `b_c.clj`, not `D.txt`"))))

(deftest every-module-is-on-the-page
  (is (= #{} (into #{} (remove #(str/includes? @page (str "| `" % "` |")))
                   (remove #(str/starts-with? % "tools/") project/modules)))))
