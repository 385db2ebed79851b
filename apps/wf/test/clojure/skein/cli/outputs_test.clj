;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.outputs-test
  "The files that `skein wf` writes beside its report, and those that it must not destroy."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.cli :as cli]
   [skein.skip :refer [skip!]])
  (:import
   (java.io ByteArrayOutputStream File PrintStream)
   (java.nio.file Files Path)
   (java.nio.file.attribute FileAttribute)))

(set! *warn-on-reflection* true)

(def ^:private good "1.2.3.4 - - [01/Mar/2025:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\"\n")
(def ^:private bad "1.2.3.4 what is this\n")

(defn- folder ^File []
  (.toFile (Files/createTempDirectory "skein-outputs" (make-array FileAttribute 0))))

(defn- run [& arguments]
  (let [out (ByteArrayOutputStream.)
        err (ByteArrayOutputStream.)
        code (cli/run (map str arguments) {:out out, :err (PrintStream. err true "UTF-8")})]
    {:code code, :out (.toString out "UTF-8"), :err (.toString err "UTF-8")}))

(defn- link [^File link ^File target]
  (Files/createSymbolicLink (.toPath link) (.toPath target) (make-array FileAttribute 0)))

(deftest malformed-lines-go-to-a-file
  (let [folder (folder)
        log (io/file folder "a.log")
        odd (io/file folder "odd.log")]
    (spit log (str good bad good))
    (spit odd "what was there before\n")
    (is (= 0 (:code (run "wf" "--by" "status" "--malformed" odd log))))
    (is (= bad (slurp odd)))
    (testing "which is empty when there are none"
      (spit log good)
      (is (= 0 (:code (run "wf" "--by" "status" "--malformed" odd log))))
      (is (= "" (slurp odd))))))

(deftest a-log-is-never-written-over
  (let [folder (folder)
        log (io/file folder "own.log")
        alias (io/file folder "alias.log")]
    (spit log (str good bad))
    (link alias log)
    (doseq [[option output input] [["--malformed" log log] ["--html" log log] ["--malformed" alias log] ["--html" log alias]
                                   ["--malformed" (io/file folder "." "own.log") (io/file folder "*.log")]]
            :let [{:keys [code out err]} (run "wf" "--by" "status" option output input)]]
      (is (= [2 ""] [code out]))
      (is (str/starts-with? err (str "skein wf: " option " would overwrite ")) err)
      (is (= (str good bad) (slurp log))))))

(deftest what-the-command-reads-besides-logs-is-never-written-over
  (let [folder (folder)
        log (io/file folder "a.log")
        other (io/file folder "other")]
    (spit log good)
    (doseq [[option text] [["--config" "--top 3\n"] ["--tallies" ":client"] ["--geo" "no database"]]
            output ["--malformed" "--html"]]
      (spit other text)
      (is (= [2 (str "skein wf: " output " would overwrite " other ", which is to be read; name another file (see: skein wf --help)\n") text]
             (conj ((juxt :code :err) (run "wf" option other output other log)) (slurp other)))))
    (testing "saved counts"
      (.delete other)
      (run "wf" "--by" "status" "--save" other log)
      (let [length (.length other)]
        (doseq [output ["--malformed" "--html"]]
          (is (= 2 (:code (run "wf" "--by" "status" "--with" other output other log))))
          (is (= length (.length other))))))))

(deftest one-file-can-not-be-both-outputs
  (let [folder (folder)
        log (io/file folder "a.log")
        both (io/file folder "both")]
    (spit log good)
    (is (= {:code 2, :out "", :err (str "skein wf: --malformed and --html can't both be " both " (see: skein wf --help)\n")}
           (run "wf" "--by" "status" "--malformed" both "--html" both log)))
    (is (not (.exists both)))
    (is (= 0 (:code (run "wf" "--by" "status" "--malformed" "/dev/null" "--html" "/dev/null" log))))))

(deftest a-refused-command-changes-no-files
  (let [folder (folder)
        log (io/file folder "a.log")
        precious (io/file folder "precious")]
    (spit log good)
    (doseq [question [["--by" "status" "--status" "foo"] ["--by" "nosuch"] ["--by" "url" "--rank" "nosuch"] ["-e" "("]]
            option ["--malformed" "--html"]]
      (spit precious "precious")
      (is (= 2 (:code (apply run "wf" (concat question [option precious log])))) (pr-str question))
      (is (= "precious" (slurp precious)) (pr-str question)))))

(deftest unwritable-files-are-named
  (let [folder (folder)
        log (io/file folder "a.log")
        ^File nowhere (io/file folder "no" "such")]
    (spit log (str good bad))
    (doseq [option ["--malformed" "--html"]]
      (is (= [1 (str "skein wf: " nowhere ": can't be written: there is no folder " (.getParent nowhere))]
             ((juxt :code (comp last str/split-lines :err)) (run "wf" "--by" "status" option nowhere log))))
      (is (= [2 (str "skein wf: " option " needs the name of a file (see: skein wf --help)")]
             ((juxt :code (comp last str/split-lines :err)) (run "wf" "--by" "status" option "" log)))))
    (testing "also when it is the disk that is full"
      (if-not (Files/exists (Path/of "/dev/full" (make-array String 0)) (make-array java.nio.file.LinkOption 0))
        (skip! "there is no /dev/full")
        (doseq [option ["--malformed" "--html"]]
          (is (= [1 "skein wf: /dev/full: can't be written: No space left on device"]
                 ((juxt :code (comp last str/split-lines :err)) (run "wf" "--by" "status" option "/dev/full" log)))))))))
