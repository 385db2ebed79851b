;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.unpack
  "Compressed data, recognised by their first bytes: `packing` `unpacked`.

  Java itself unpacks gzip. For the others the program needs a library on its class path, which is looked up by name."
  {:no-doc true}
  (:require
   [skein.impl.error :as error])
  (:import
   (clojure.lang Reflector)
   (java.io BufferedInputStream ByteArrayInputStream IOException InputStream SequenceInputStream)
   (skein.fold.files Gzip)))

(set! *warn-on-reflection* true)

(def ^:private commons "org.apache.commons/commons-compress")

(def ^:private kinds
  "Each kind of compression: its name, its first bytes, its library, the class of streams that unpack it, and what else their
  constructor takes. :5x stands for a byte from 0x50 to 0x5F."
  [{:name "gzip", :magic [0x1F 0x8B]}
   {:name "bzip2", :magic [0x42 0x5A 0x68], :library commons, :more [true]
    :type "org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream"}
   {:name "zstd", :magic [0x28 0xB5 0x2F 0xFD], :library "com.github.luben/zstd-jni", :type "com.github.luben.zstd.ZstdInputStream"}
   ;; Zstandard that begins with a skippable frame, as pzstd writes it.
   {:name "zstd", :magic [:5x 0x2A 0x4D 0x18], :library "com.github.luben/zstd-jni", :type "com.github.luben.zstd.ZstdInputStream"}
   {:name "xz", :magic [0xFD 0x37 0x7A 0x58 0x5A 0x00], :library "org.tukaani/xz", :type "org.tukaani.xz.XZInputStream"}
   {:name "lz4", :magic [0x04 0x22 0x4D 0x18], :library commons, :more [true]
    :type "org.apache.commons.compress.compressors.lz4.FramedLZ4CompressorInputStream"}])

(def ^:const magic-bytes "How many bytes are needed to recognise the compression." 6)

(defn- may-begin?
  "Returns whether the magic number of a kind begins with the bytes `head`, or `head` with the magic number."
  [head {:keys [magic]}]
  (every? true? (map #(= % (if (= :5x %) (when (<= 0x50 (long %2) 0x5F) :5x) %2)) magic head)))

(defn- kind-of [head]
  (some #(when (and (<= (count (:magic %)) (count head)) (may-begin? head %)) %) kinds))

(defn packing
  "Returns how data that begin with some bytes are compressed, such as \"gzip\", or nil. `magic-bytes` of them are enough."
  [head]
  (:name (kind-of (map #(bit-and 0xFF (long %)) head))))

(defn- peeked
  "Returns the first bytes of `in`, no more than are needed to recognise the compression, since a read may wait for more."
  [^BufferedInputStream in]
  (.mark in magic-bytes)
  (loop [head []]
    (let [b (if (and (nil? (kind-of head)) (some #(may-begin? head %) kinds)) (.read in) -1)]
      (if (neg? b)
        (do (.reset in) head)
        (recur (conj head b))))))

(defn- constructed [{:keys [library type more]} path in]
  (let [class (try (Class/forName type)
                   (catch ClassNotFoundException _
                     (error/fail! :skein/missing-library
                                  (str "Reading " path " needs " library " on the class path. Add it, or unpack the file.")
                                  {:path path, :library library})))]
    (try (Reflector/invokeConstructor class (to-array (cons in more)))
         (catch Error e (throw (IOException. e)))))) ; such as that of a native library that can't be loaded

(defn- with-last-frame
  "Returns `in` with one more Zstandard frame, empty and to be skipped. Without it zstd-jni treats a frame that is cut off as the end of
  the data, if the frame before ended in the same read."
  [^InputStream in]
  (SequenceInputStream. in (ByteArrayInputStream. (byte-array [0x58 0x2A 0x4D 0x18 0 0 0 0]))))

(defn unpacked
  "Returns the unpacked contents of `in`, or `in` itself. Throws :skein/missing-library.

  path      what the data are called in errors
  left-out  AtomicLong, set to the number of other bytes after the last member of a gzip file; nil: these are an error"
  ^InputStream [path ^BufferedInputStream in left-out]
  (let [kind (kind-of (peeked in))]
    (case (:name kind)
      nil in
      "gzip" (Gzip. in left-out)
      "zstd" (constructed kind path (with-last-frame in))
      (constructed kind path in))))
