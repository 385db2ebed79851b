;; SPDX-License-Identifier: Apache-2.0
(ns lab.vega
  "Fetches Vega and Vega-Lite, which draw the plots, from their npm packages once, checks them, and keeps them in target/lab."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (java.io File)
   (java.nio.file Files OpenOption)
   (java.security MessageDigest)
   (java.util HexFormat)
   (java.util.zip GZIPInputStream)
   (org.apache.commons.compress.archivers.tar TarArchiveEntry TarArchiveInputStream)))

(set! *warn-on-reflection* true)

(def ^:private packages
  "[package file-in-it SHA-256-of-the-file]"
  [["vega@6.4.0" "package/build/vega.min.js" "8f6a3587cf8d4f42c7e08120e3eb05d067e746d554e39d2dcf52acc0bd5ba28f"]
   ["vega-lite@6.5.0" "package/build/vega-lite.min.js" "83e215e84e308ee8688fa6503ba0f1cf8a3c05c0d61df2841a0b92bf86809e00"]])

(defn- fail! [message data]
  (throw (ex-info message data)))

(defn- pack!
  "Fetches a package into `folder` with npm. Returns its archive."
  ^File [package ^File folder]
  (let [command ["npm" "pack" "--silent" package]
        process (-> (ProcessBuilder. ^java.util.List command)
                    (.directory folder)
                    (.redirectErrorStream true)
                    .start)
        out (slurp (.getInputStream process))
        archive (last (re-seq #"\S+\.tgz" out))]
    (if (and (zero? (.waitFor process)) archive)
      (io/file folder archive)
      (fail! (str "npm could not fetch " package ": " (first (str/split-lines out))) {:package package}))))

(defn- entry-of
  "Returns the bytes of the file called `path` in an archive."
  ^bytes [^File archive path]
  (with-open [in (TarArchiveInputStream. (GZIPInputStream. (io/input-stream archive)))]
    (loop []
      (if-let [entry (.getNextEntry in)]
        (if (= path (.getName ^TarArchiveEntry entry)) (.readAllBytes in) (recur))
        (fail! (str archive " holds no " path) {:path path})))))

(defn- sha-256 [^bytes content]
  (.formatHex (HexFormat/of) (.digest (MessageDigest/getInstance "SHA-256") content)))

(defn- script [[package path expected]]
  (let [file (io/file "target" "lab" (str (str/replace package "@" "-") ".js"))]
    (when-not (.exists file)
      (.mkdirs (.getParentFile file))
      (let [archive (pack! package (.getParentFile file))
            content (entry-of archive path)]
        (when (not= expected (sha-256 content))
          (fail! (str package " is not the file that was checked: its SHA-256 is " (sha-256 content)) {:package package}))
        (Files/write (.toPath file) ^bytes content ^"[Ljava.nio.file.OpenOption;" (make-array OpenOption 0))
        (.delete archive)))
    (slurp file)))

(defn scripts
  "Returns {:scripts [text]}, or {:missing why} in words, if npm is not there or fails."
  []
  (try
    {:scripts (mapv script packages)}
    (catch java.io.IOException _
      {:missing "The plots are missing: npm, which fetches Vega-Lite once, is not on PATH."})
    (catch clojure.lang.ExceptionInfo e
      {:missing (str "The plots are missing: " (ex-message e) ".")})))
