;; SPDX-License-Identifier: Apache-2.0
(ns skein.docstrings-test
  "Everything public is documented."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- public-things
  "Returns the main namespaces and their public vars."
  []
  (let [names (project/main-namespaces)]
    (apply require names)
    (mapcat (fn [n] (cons (the-ns n) (vals (ns-publics n)))) names)))

(deftest everything-public-has-a-docstring
  (is (= [] (remove #(or (:doc (meta %)) (str/includes? (str %) ".proxy$")) ; `proxy` leaves a var for its class
                    (public-things)))))

(def ^:private declaration
  "A declaration of a type, or of a package in package-info.java. Matches with the Javadoc and
  annotations before it, if there are any."
  (let [modifiers "(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp)\\s+)*"
        annotation "@\\w+(?:\\((?:[^()\"]|\"[^\"]*\")*\\))?\\s*"]
    (re-pattern (str "(?m)(/\\*\\*[^*]*+(?:\\*(?!/)[^*]*+)*+\\*/\\s*)?^[ \\t]*(?:" annotation ")*"
                     "(?:" modifiers "(?:class|interface|enum|record|@interface)\\s+([A-Z]\\w*)|package ([a-z.]+);)"))))

(defn- without-javadoc
  "Returns the types that a Java file declares without Javadoc; for package-info.java, the package."
  [{:keys [path text]}]
  (for [[_ javadoc type package] (re-seq declaration text)
        :when (and (not javadoc) (or type (str/ends-with? path "package-info.java")))]
    (str path ": " (or type package))))

(deftest every-java-type-has-javadoc
  (is (= [] (mapcat without-javadoc (project/files ["modules" "apps" "tools"] [".java"])))))

(deftest namespaces-for-users-are-in-the-readme-of-their-module
  (is (= [] (for [{:keys [path] :as file} (project/files ["modules"] [".clj" ".cljs"])
                  :let [module (second (re-find #"^(modules/[^/]+)/src/clojure/" path))]
                  :when (and module (project/for-users? file))
                  :let [readme (slurp (str module "/README.md"))]
                  :when (not (str/includes? readme (str "`" (project/ns-name-of file) "`")))]
              (str path " is neither :no-doc nor in its module's README")))))
