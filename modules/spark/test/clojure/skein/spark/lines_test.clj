;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.lines-test
  "Ranges of files, against skein.fold.lines: without a cluster but for the last tests."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.fold :as fold]
   [skein.fold.lines :as fold-lines]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.lines :as lines]
   [skein.spark.source :as source])
  (:import
   (clojure.lang ExceptionInfo)
   (com.github.luben.zstd ZstdOutputStream)
   (java.io ByteArrayInputStream File OutputStream)
   (java.util.zip GZIPOutputStream)
   (org.apache.commons.compress.compressors.bzip2 BZip2CompressorOutputStream)
   (org.apache.commons.compress.compressors.lz4 FramedLZ4CompressorOutputStream)
   (org.tukaani.xz LZMA2Options XZOutputStream)
   (skein.spark.rt LineRange)))

(set! *warn-on-reflection* true)

(defn- file-of
  "Returns a temporary file with these bytes, packed by `packer` if there is one."
  (^File [bytes] (file-of bytes ".txt" identity))
  (^File [^bytes bytes ending packer]
   (let [file (doto (File/createTempFile "skein-spark" ending) .deleteOnExit)]
     (with-open [^OutputStream out (packer (io/output-stream file))]
       (.write out bytes))
     file)))

(defn- utf-8 ^bytes [^String text] (.getBytes text "UTF-8"))

(defn- locally [file] (fold/fold (fold/into []) (fold-lines/lines (str file))))

(defn- by-ranges
  "Returns the lines of `file` by ranges of about `n` bytes."
  [^File file n]
  (let [size (.length file)
        uri (str (.toURI file))]
    (into [] (mapcat (fn [[from to]] (fold/fold (fold/into []) (lines/part uri from to "UTF-8"))))
          (source/cuts 0 size (max 1 (quot size (long n)))))))

(def ^:private gen-text
  (gen/fmap str/join (gen/vector (gen/elements ["a" "b" "ü" "" "\n" "\r" "\r\n" "\n\n" "long-ish " "€"]) 0 40)))

(deftest ranges-have-the-lines-of-skein-fold-lines
  (let [result (check/quick-check
                 200
                 (prop/for-all [text gen-text, n (gen/choose 1 20)]
                   (let [file (file-of (utf-8 text))]
                     (try (= (locally file) (by-ranges file n)) (finally (.delete file)))))
                 :seed 3)]
    (is (:pass? result) (pr-str (:shrunk result)))))

(deftest each-cut-of-a-text-is-right
  (let [file (file-of (utf-8 "\r\nab\r\r\nü\n\rc\r\n\nlast"))]
    (doseq [n (range 1 24)]
      (is (= (locally file) (by-ranges file n)) (str n)))))

(deftest lines-longer-than-ranges-and-blocks-are-whole
  (let [long-line (str/join (repeat 700000 "x"))
        file (file-of (utf-8 (str "a\n" long-line "\r\n" long-line "\nb")))]
    (doseq [n [1000 262143 262144 262145 2000000]]
      (is (= ["a" long-line long-line "b"] (by-ranges file n))))))

(deftest invalid-utf-8-and-other-charsets-are-as-there
  (let [file (file-of (byte-array [97 -1 10 -61 10 98]))]
    (is (= (locally file) (by-ranges file 2))))
  (let [file (file-of (.getBytes "ü\né" "ISO-8859-1"))]
    (is (= ["ü" "é"] (fold/fold (fold/into []) (lines/part (str (.toURI file)) 0 3 "ISO-8859-1"))))))

(deftest a-step-that-has-enough-ends-the-range
  (let [file (file-of (utf-8 "a\nb\nc\n"))]
    (is (= ["a" "b"] (fold/fold (fold/through (take 2) (fold/into [])) (lines/part (str (.toURI file)) 0 6 "UTF-8"))))))

(deftest a-file-that-became-shorter-is-found
  (let [source (LineRange. (fn [_] (ByteArrayInputStream. (utf-8 "a\nb"))) "f" 0 10 java.nio.charset.StandardCharsets/UTF_8)]
    (is (= :skein/file-truncated
           (:skein/error (ex-data (try (fold/fold fold/count source) (catch ExceptionInfo e e))))))))

(defn- error-of [f] (:skein/error (ex-data (try (f) (catch ExceptionInfo e e)))))

(deftest compressed-data-are-told-by-their-first-bytes
  (doseq [[kind head] {:gzip [0x1F 0x8B 8 0], :zstd [0x28 0xB5 0x2F 0xFD 0], :bzip2 [66 90 104], :xz [0xFD 55 122 88 90 0], :lz4 [4 34 77 24], nil [65]}]
    (is (= kind (lines/kind-of head))))
  (is (= :zstd (lines/kind-of [0x5A 0x2A 0x4D 0x18])))
  (is (nil? (lines/kind-of []))))

(deftest files-fold-by-tasks
  (let [cluster (bed/bed :local)
        text (str/join (map #(str "line " % "\n") (range 20000)))
        plain (file-of (utf-8 text))
        gz (file-of (utf-8 text) ".packed" #(GZIPOutputStream. %))
        zst (file-of (utf-8 text) ".zst" #(ZstdOutputStream. ^OutputStream %))
        bz2 (file-of (utf-8 text) ".bz2" #(BZip2CompressorOutputStream. %))
        xz (file-of (utf-8 text) ".xz" (fn [^OutputStream out] (XZOutputStream. out (LZMA2Options. 0))))
        lz4 (file-of (utf-8 text) ".lz4" #(FramedLZ4CompressorOutputStream. %))
        misnamed (file-of (utf-8 "plain\n") ".gz" identity)
        paths (mapv str [plain gz zst bz2 xz lz4 misnamed])
        sizes (fold/through (map count) fold/sum)
        far (fn [& args] (spark/fold (fold/into []) (apply spark/lines args)))]
    (is (= (fold/fold (fold/into []) (fold-lines/lines paths)) (far cluster paths)))
    (is (= (locally plain) (far {:split-bytes 10007} cluster (str plain))))
    (is (= (fold/fold sizes (fold-lines/lines paths)) (spark/fold sizes (spark/lines cluster paths))))
    (is (= (fold/fold (fold/through (map count) fold/sum) (fold-lines/lines (str plain)))
           (spark/fold sizes (spark/lines cluster (str/replace (str plain) #"\.txt$" ".t*t")))))
    (is (= [] (far cluster (str (file-of (byte-array 0))))))
    (is (= :skein/file-missing (error-of #(spark/lines cluster "/no/such/file"))))
    (is (= :skein/file-is-directory (error-of #(spark/lines cluster (.getParent plain)))))
    (is (= :skein/bad-charset (error-of #(spark/lines {:charset "no-such"} cluster (str plain)))))))
