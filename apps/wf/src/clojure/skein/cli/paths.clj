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
  "Returns the files that a path with wildcards names, sorted."
  [^String path]
  (let [root (or (.getParentFile (File. path)) (File. "."))
        prefix (if (.getParentFile (File. path)) (str root File/separator) "")
        matcher (.getPathMatcher (FileSystems/getDefault) (str "glob:" (.getName (File. path))))]
    (if (wildcard? (str root))
      []
      (->> (.listFiles root)
           (filter (fn match? [^File file] (and (.isFile file) (.matches matcher (Path/of (.getName file) (make-array String 0))))))
           (map (fn path-of [^File file] (str prefix (.getName file))))
           sort))))

(defn expand
  "Returns `paths` with wildcards expanded. A path that names no file and has one of * ? [ { in its last part is replaced by the
  files that it matches, sorted. If it matches none, it stays as it is."
  [paths]
  (into []
        (mapcat (fn files [^String path]
                  (or (when (and (wildcard? path) (not (.exists (File. path)))) (seq (matches path)))
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
