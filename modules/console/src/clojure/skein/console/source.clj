;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.source
  "Finds the lines of source around a place, in the folders and jars of the target.

  * `lines` around a place

  It reads only Clojure and Java files below those folders or in those jars, because a dump from elsewhere may name any file."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (java.io File IOException)
   (java.nio.file Files Path)
   (java.util.zip ZipFile)))

(set! *warn-on-reflection* true)

(def ^:const ^:private around "Lines before and after." 6)
(def ^:const ^:private max-bytes 2000000)

(defn- source-name? [file]
  (boolean (re-find #"\.(?:clj|cljc|cljs|java)$" (str file))))

(defn- in-folder
  "Returns the text of `file` below a folder, or nil. Does not follow links out of the folder."
  [^File folder file]
  (let [root (.toRealPath (.toPath folder) (make-array java.nio.file.LinkOption 0))
        path (.resolve root ^String file)]
    (when (Files/isRegularFile path (make-array java.nio.file.LinkOption 0))
      (let [^Path real (.toRealPath path (make-array java.nio.file.LinkOption 0))]
        (when (and (.startsWith real root) (<= (Files/size real) (long max-bytes)))
          (slurp (.toFile real)))))))

(defn- in-jar [^File jar file]
  (with-open [zip (ZipFile. jar)]
    (when-some [entry (.getEntry zip ^String file)]
      (when (<= 0 (.getSize entry) (long max-bytes))
        (slurp (.getInputStream zip entry))))))

(defn- text-in [path file]
  (let [f (io/file path)]
    (try
      (cond
        (.isDirectory f) (in-folder f file)
        (and (.isFile f) (str/ends-with? path ".jar") (not (.isAbsolute (io/file file)))) (in-jar f file))
      (catch IOException _)
      (catch java.nio.file.InvalidPathException _))))

(defn lines
  "Returns the lines around a place as [{:n :text :here?}], or nil if the source isn't found.

  paths  folders and jars, searched in this order
  place  {:file :line}"
  [paths {:keys [file line]}]
  (when (and line (pos? (long line)) (source-name? file))
    (when-some [text (some (fn look [path] (text-in path file)) paths)]
      (let [all (str/split-lines text)
            from (max 1 (- (long line) (long around)))
            to (min (count all) (+ (long line) (long around)))]
        (when (<= (long line) (count all))
          (mapv (fn shown [n] {:n n :text (nth all (dec (long n))) :here? (= n line)}) (range from (inc to))))))))
