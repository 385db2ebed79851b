;; SPDX-License-Identifier: Apache-2.0
(ns skein.sources-test
  "What every source file says of itself."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- sources []
  (concat (project/files ["modules" "apps" "tools" "examples"] [".clj" ".cljs" ".edn" ".java" ".sh"])
          (project/files ["skein" ".ci/run" "deps.edn" ".clj-kondo/config.edn"] [""])))

(defn- licensed? [{:keys [text]}]
  (re-find #"\A(?:#!.*\n)?(?:;;|//|#) SPDX-License-Identifier: Apache-2\.0\n" text))

(deftest every-file-begins-with-its-licence
  (is (= [] (map :path (remove licensed? (sources))))))

(deftest every-clojure-file-asks-for-warnings
  (is (= [] (for [file (sources)
                  :when (and (str/ends-with? (:path file) ".clj")
                             (not-any? #{'(set! *warn-on-reflection* true)} (project/forms file)))]
              (:path file)))))

(deftest namespaces-for-users-are-in-the-readme-of-their-module
  (is (= [] (for [{:keys [path] :as file} (project/files ["modules"] [".clj" ".cljs"])
                  :let [module (second (re-find #"^(modules/[^/]+)/src/clojure/" path))]
                  :when (and module (project/for-users? file))
                  :let [readme (slurp (str module "/README.md"))]
                  :when (not (str/includes? readme (str "`" (project/ns-name-of file) "`")))]
              (str path " is neither :no-doc nor in its module's README")))))
