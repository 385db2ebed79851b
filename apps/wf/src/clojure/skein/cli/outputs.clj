;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.outputs
  "The files that `skein wf` writes beside standard output: malformed lines, a page, and saved counts.

  - `check!`            throws if writing one would lose data
  - `write-text!`       writes one
  - `with-line-sink`    opens one for malformed lines
  - `start-lines!`      empties that one"
  (:require
   [clojure.string :as str]
   [skein.cli.options :as options]
   [skein.impl.error :as error])
  (:import
   (java.io File FileNotFoundException IOException)
   (java.nio.file Files LinkOption Path)
   (skein.wf LineSink WriteFailure)))

(set! *warn-on-reflection* true)

;;;; Before anything is read

(defn- path-of
  "Returns the real path of an argument; the process's standard input may be a file, too."
  ^Path [^String text]
  (Path/of (if (= text "-") "/dev/stdin" text) (make-array String 0)))

(def ^:private no-options (make-array LinkOption 0))

(defn- same-file?
  "Returns whether two paths name the same file, even through links. False for devices such as /dev/null, which keep nothing that could
  be lost."
  [^String a ^String b]
  (let [a (path-of a)
        b (path-of b)]
    (if (and (Files/exists a no-options) (Files/exists b no-options))
      (and (Files/isRegularFile a no-options)
           (try (Files/isSameFile a b) (catch IOException _ false)))
      (= (.normalize (.toAbsolutePath a)) (.normalize (.toAbsolutePath b))))))

(defn- check-writable!
  "Throws :skein/file when there is no folder for a file, or it can't be written."
  [^String output]
  (let [file (.getAbsoluteFile (File. output))
        folder (.getParentFile file)]
    (when-let [reason (cond
                        (.isDirectory file) "it is a directory"
                        (and folder (not (.isDirectory folder))) (str "there is no folder " folder)
                        (if (.exists file) (not (.canWrite file)) (not (.canWrite (or folder file)))) "its permissions forbid it")]
      (error/fail! [:skein/file :unwritable] (str output ": can't be written: " reason) {:output output}))))

(defn check!
  "Throws :skein/bad-argument when an output of `options` is a file that the command reads, is the same file as another output, has no
  name, or would replace saved counts without adding to them."
  [{:keys [malformed html save with tallies config geo]} paths]
  (let [outputs (into {} (filter val) {"--malformed" malformed, "--html" html, "--save" save})
        read (concat paths (remove nil? (list* tallies config geo)))]
    (doseq [[option output] outputs]
      (when (str/blank? output) (options/fail! (str option " needs the name of a file")))
      (check-writable! output)
      (when-let [input (first (filter #(same-file? output %) (cond->> read (and with (not= option "--save")) (cons with))))]
        (options/fail! (str option " would overwrite " input ", which is to be read; name another file"))))
    (doseq [[one a] outputs, [other b] outputs]
      (when (and (pos? (compare one other)) (same-file? a b))
        (options/fail! (str one " and " other " can't both be " b))))
    (when (and save (Files/exists (path-of save) no-options) (not (Files/isRegularFile (path-of save) no-options)))
      (options/fail! (str "--save replaces a file, and " save " is not a file")))
    (when (and save (not with) (pos? (.length (File. ^String save))))
      (options/fail! (str "--save would replace " save "; add --with " save " to add to its counts, or remove the file first")))))

;;;; Writing

(defn- reason
  "Returns why a file can't be written, without its name, which Java puts before the reason."
  [^Throwable e]
  (let [message (.getMessage e)
        [_ reason] (when (instance? FileNotFoundException e) (re-find #"\(([^()]*)\)$" (str message)))]
    (or reason message "no reason given")))

(defn- unwritable! [path e]
  (error/fail! [:skein/file :unwritable] (str path ": can't be written: " (reason e)) {:output path}))

(defn write-text!
  "Writes `text` into the file `path`, in UTF-8. Throws :skein/file."
  [^String path text]
  (try (spit (File. path) text :encoding "UTF-8")
       (catch IOException e (unwritable! path e))))

(defn with-line-sink
  "Calls `f` with a sink of lines that writes to the file `path`, or with nil if `path` is nil. Returns what `f` returns. The
  file stays as it is until `start-lines!`. Throws :skein/file."
  [path f]
  (if path
    (try (with-open [sink (LineSink. path)] (f sink))
         (catch WriteFailure e (unwritable! (.-output e) (.getCause e))))
    (f nil)))

(defn start-lines!
  "Empties the file of `sink`. Does nothing if `sink` is nil."
  [^LineSink sink]
  (when sink (.start sink)))
