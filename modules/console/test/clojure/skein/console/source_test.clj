;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.source-test
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.console.source :as source])
  (:import
   (java.io File)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (java.util.zip ZipEntry ZipOutputStream)))

(set! *warn-on-reflection* true)

(def ^:private text (str/join "\n" (map #(str "line " %) (range 1 31))))

(defn- write! ^File [folder name text]
  (doto (io/file folder name) io/make-parents (spit text)))

(defn- jar! [^File file entry text]
  (with-open [out (ZipOutputStream. (io/output-stream file))]
    (.putNextEntry out (ZipEntry. ^String entry))
    (.write out (.getBytes ^String text))))

(defn- shown [paths file line]
  (map (juxt :n :here?) (filter :here? (source/lines paths {:file file :line line}))))

(defmacro ^:private with-folder [[folder] & body]
  `(let [~folder (.toFile (Files/createTempDirectory "skein-source" (make-array FileAttribute 0)))]
     (try ~@body (finally (run! (fn [^File f#] (.delete f#)) (reverse (file-seq ~folder)))))))

(deftest the-lines-around-a-place
  (with-folder [folder]
    (write! folder "src/demo/a.clj" text)
    (jar! (io/file folder "b.jar") "demo/b.clj" text)
    (let [paths [(str folder "/none") (str folder "/src") (str folder "/b.jar")]]
      (is (= [4 5 6 7 8 9 10 11 12 13 14 15 16] (map :n (source/lines paths {:file "demo/a.clj" :line 10}))))
      (is (= "line 10" (:text (first (filter :here? (source/lines paths {:file "demo/a.clj" :line 10}))))))
      (is (= [1 2 3 4 5 6 7] (map :n (source/lines paths {:file "demo/a.clj" :line 1}))))
      (is (= [24 25 26 27 28 29 30] (map :n (source/lines paths {:file "demo/a.clj" :line 30}))))
      (is (= [[10 true]] (shown paths "demo/b.clj" 10)))
      (is (= [[10 true]] (shown paths (str folder "/src/demo/a.clj") 10)) "a file that was loaded by its whole path")
      (testing "missing files and lines"
        (doseq [[file line] [["demo/a.clj" 31] ["demo/a.clj" 0] ["demo/a.clj" nil] ["demo/c.clj" 1] [nil 1] ["NO_SOURCE_PATH" 1] ["a\u0000.clj" 1]]]
          (is (nil? (source/lines paths {:file file :line line})) [file line]))))))

(deftest files-outside-the-folders-are-not-read
  (with-folder [folder]
    (write! folder "src/a.clj" text)
    (write! folder "secret.clj" text)
    (write! folder "src/secret.txt" text)
    (Files/createSymbolicLink (.toPath (io/file folder "src/link.clj")) (.toPath (io/file folder "secret.clj")) (make-array FileAttribute 0))
    (is (= [[1 true]] (shown [(str folder "/src")] "a.clj" 1)))
    (doseq [file ["../secret.clj" "x/../../secret.clj" (str folder "/secret.clj") "secret.txt" "link.clj" "/etc/passwd"]]
      (is (nil? (source/lines [(str folder "/src")] {:file file :line 1})) file))))
