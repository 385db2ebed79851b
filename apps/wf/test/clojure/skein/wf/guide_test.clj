;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.guide-test
  "Runs every command of doc/wf.md, and compares its output with the text below it."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cli :as cli])
  (:import
   (java.io ByteArrayOutputStream File PrintStream)))

(set! *warn-on-reflection* true)

(defn- console-blocks [text]
  (map second (re-seq #"(?s)```console\n(.*?)```" text)))

(defn commands
  "Returns `[command expected-lines]` for each line of the guide that begins with $, in order."
  [text]
  (for [block (console-blocks text)
        [command & expected] (reduce (fn step [groups line]
                                       (if (str/starts-with? line "$ ") (conj groups [(subs line 2)]) (conj (pop groups) (conj (peek groups) line))))
                                     []
                                     (str/split-lines block))]
    [command expected]))

(defn- words
  "Returns the words of a shell command; single quotes keep one together."
  [command]
  (map (fn word [[_ quoted plain]] (or quoted plain)) (re-seq #"'([^']*)'|(\S+)" command)))

(defn- argument
  "Lets what a command writes go to a temporary file."
  [^File folder word]
  (if (#{"report.html" "odd.log"} word) (str (io/file folder word)) word))

(defn output
  "Returns what `./skein ARGUMENTS...` prints to standard output, as lines without the spaces at their ends, or what went wrong."
  [command folder]
  (let [[skein & arguments] (map #(argument folder %) (words command))
        out (ByteArrayOutputStream.)
        err (ByteArrayOutputStream.)
        code (cli/run arguments {:out out, :err (PrintStream. err true "UTF-8")})]
    (if (and (= "./skein" skein) (zero? (long code)))
      (mapv str/trimr (str/split-lines (.toString out "UTF-8")))
      [(.toString err "UTF-8")])))

(deftest the-guide-says-what-its-commands-print
  (let [folder (.toFile (java.nio.file.Files/createTempDirectory "skein-guide" (make-array java.nio.file.attribute.FileAttribute 0)))]
    (try
      (doseq [[command expected] (commands (slurp "doc/wf.md"))]
        (is (= expected (output command folder)) command))
      (is (str/starts-with? (slurp (io/file folder "report.html")) "<!doctype html>"))
      (is (= "shop.example.com 198.51.100.9 - - [04/Mar/2025:11:20\n" (slurp (io/file folder "odd.log"))))
      (finally
        (run! io/delete-file (.listFiles folder))
        (io/delete-file folder)))))
