;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.paths-test
  (:require
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

(deftest repeated-files-are-found
  (let [folder (str (Files/createTempDirectory "skein-paths" (make-array FileAttribute 0)))
        a (str folder File/separator "a.log")
        same (str folder File/separator "." File/separator "a.log")]
    (spit a "")
    (is (= [same "-"] (paths/repeated [a "-" "none.log" same "-"])))
    (is (= [] (paths/repeated [a "-" "none.log"])))))
