;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.paths
  "Finds the files that the arguments of a command name.

  - `expand`    paths, some with wildcards -> paths
  - `repeated`  paths -> those that name a file a second time"
  (:import
   (java.io File IOException)
   (java.nio.file FileSystems LinkOption Path)))

(set! *warn-on-reflection* true)

(defn- wildcard? [^String path]
  (boolean (re-find #"[*?\[{]" path)))

(defn- matches
  "Returns the files and folders that a path with wildcards names, sorted. A wildcard does not match a separator."
  [^File path]
  (if (wildcard? (str path))
    (let [parent (.getParentFile path)
          matcher (.getPathMatcher (FileSystems/getDefault) (str "glob:" (.getName path)))]
      (for [^File folder (if parent (matches parent) [nil])
            ^String file (sort (.list (or folder (File. "."))))
            :when (.matches matcher (Path/of file (make-array String 0)))]
        (File. folder file)))
    [path]))

(defn expand
  "Returns `paths` with wildcards expanded. A path that names no file and has one of * ? [ { in it is replaced by the files that it
  matches, sorted. If it matches none, it stays as it is."
  [paths]
  (into []
        (mapcat (fn files [^String path]
                  (or (when (and (wildcard? path) (not (.exists (File. path))))
                        (seq (map str (filter (fn file? [^File file] (.isFile file)) (matches (File. path))))))
                      [path])))
        paths))

(defn repeated
  "Returns those of `paths` that name the same file as an earlier path."
  [paths]
  (let [identity-of (fn identity-of [^String path]
                      (try (str (.toRealPath (Path/of path (make-array String 0)) (make-array LinkOption 0)))
                           (catch IOException _ path)))]
    (first (reduce (fn step [[again seen] path]
                     (let [id (if (= path "-") path (identity-of path))]
                       (if (seen id) [(conj again path) seen] [again (conj seen id)])))
                   [[] #{}]
                   paths))))
