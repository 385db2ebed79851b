;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.paths-test
  (:require
   [clojure.java.io :as io]
   [clojure.test :refer [deftest is]]
   [skein.cli.paths :as paths])
  (:import
   (java.io File)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)))

(set! *warn-on-reflection* true)

(deftest patterns-stand-for-files
  (let [folder (Files/createTempDirectory "skein-paths" (make-array FileAttribute 0))
        path (fn [name] (str folder File/separator name))
        file (fn [name] (doto (path name) (spit "")))
        [a b c] (map file ["a.log" "b.log" "c.txt"])]
    (is (= [a b] (paths/expand [(path "*.log")])))
    (is (= [c a b] (paths/expand [c (path "[ab].{log,gz}")])))
    (is (= [(path "*.none") "-"] (paths/expand [(path "*.none") "-"])) "what matches nothing stays, to be reported")
    (let [odd (file "x[1].log")]
      (is (= [odd] (paths/expand [odd])) "a file of that very name"))))

(deftest folders-in-a-path-may-be-patterns
  (let [folder (str (Files/createTempDirectory "skein-paths" (make-array FileAttribute 0)))
        file (fn [& names] (let [f ^File (apply io/file folder names)] (io/make-parents f) (spit f "") (str f)))
        [a b c] [(file "a" "x" "access.log") (file "b" "x" "access.log") (file "b" "y" "other.log")]]
    (file "access.log")
    (is (= [a b] (paths/expand [(str folder "/*/x/access.log")])))
    (is (= [b c] (paths/expand [(str folder "/b/?/*.log")])))
    (is (= [(str folder "/?")] (paths/expand [(str folder "/?")])) "only folders match")))

(deftest repeated-files-are-found
  (let [folder (str (Files/createTempDirectory "skein-paths" (make-array FileAttribute 0)))
        a (str folder File/separator "a.log")
        same (str folder File/separator "." File/separator "a.log")]
    (spit a "")
    (is (= [same "-"] (paths/repeated [a "-" "none.log" same "-"])))
    (is (= [] (paths/repeated [a "-" "none.log"])))))
