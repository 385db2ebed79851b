;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.files-test
  "Ranges of files, against skein.fold.lines. Only the last tests need a cluster."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.fold :as fold]
   [skein.fold.lines :as fold-lines]
   [skein.kind :refer [kind-of]]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.cluster :as cluster]
   [skein.spark.files :as files]
   [skein.spark.source :as source])
  (:import
   (clojure.lang ExceptionInfo)
   (com.github.luben.zstd ZstdOutputStream)
   (java.io File OutputStream)
   (java.util.zip GZIPOutputStream)
   (org.apache.commons.compress.compressors.bzip2 BZip2CompressorOutputStream)
   (org.apache.commons.compress.compressors.lz4 FramedLZ4CompressorOutputStream)
   (org.apache.spark SparkEnv)
   (org.tukaani.xz LZMA2Options XZOutputStream)
   (skein.fold.spi Slice)))

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

(defn- part [^File file from to]
  {:uri (str (.toURI file)), :from from, :to to, :size (.length file)})

(defn- by-ranges
  "Returns the lines of `file` by ranges of about `n` bytes."
  [^File file n]
  (let [size (.length file)]
    (into [] (mapcat (fn [[from to]] (fold/fold (fold/into []) (files/line-part (part file from to) "UTF-8"))))
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

(deftest all-cores-end-together
  (let [tasks (fn [total cores] (count (first (#'files/parts [{:uri "file:/a", :size total}] (#'files/default-split-bytes total cores)))))]
    (is (= [0 1 8 8] (map #(tasks % 2) [0 1 1000 1000000000])))
    (is (= 10 (tasks (inc (* 8 files/max-split-bytes)) 2)) "a ninth task of equal length would run alone")))

(deftest invalid-utf-8-and-other-charsets-are-read-as-by-skein-fold-lines
  (let [file (file-of (byte-array [97 -1 10 -61 10 98]))]
    (is (= (locally file) (by-ranges file 2))))
  (let [file (file-of (.getBytes "ü\né" "ISO-8859-1"))]
    (is (= ["ü" "é"] (fold/fold (fold/into []) (files/line-part (part file 0 3) "ISO-8859-1"))))))

(deftest a-step-that-has-enough-ends-the-range
  (let [file (file-of (utf-8 "a\nb\nc\n"))]
    (is (= ["a" "b"] (fold/fold (fold/through (take 2) (fold/into [])) (files/line-part (part file 0 6) "UTF-8"))))))

(defn- error-of [f] (kind-of (ex-data (try (f) (catch ExceptionInfo e e)))))

(deftest a-file-that-became-shorter-is-found
  (let [file (file-of (utf-8 "a\nb"))]
    (is (= [:skein/file :truncated] (error-of #(fold/fold fold/count (files/line-part {:uri (str (.toURI file)), :from 0, :to 10, :size 10} "UTF-8")))))))

(deftest appended-lines-are-not-seen
  (let [file (file-of (utf-8 "a\nbc"))
        parts [{:uri (str (.toURI file)), :from 0, :to 2, :size 3} {:uri (str (.toURI file)), :from 2, :to 3, :size 3}]]
    (is (= ["a" "b"] (mapcat #(fold/fold (fold/into []) (files/line-part % "UTF-8")) parts)))))

(deftest a-range-that-begins-like-compressed-data-is-text
  (let [file (file-of (utf-8 "ab\nBZh91AY&SY\n"))]
    (is (= ["BZh91AY&SY"] (fold/fold (fold/into []) (files/line-part {:uri (str (.toURI file)), :from 3, :to 14, :size 14} "UTF-8"))))))

(defn slice-text "Returns the number of a slice's file, and its text." [^Slice slice] [(.file slice) (.text slice (java.nio.charset.Charset/forName "UTF-8"))])

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
        far (fn [& args] (fold/fold (fold/into []) (apply spark/lines args)))]
    (is (= (fold/fold (fold/into []) (fold-lines/lines paths)) (far cluster paths)))
    (is (= (locally plain) (far {:split-bytes 10007} cluster (str plain))))
    (is (= (fold/fold sizes (fold-lines/lines paths)) (fold/fold sizes (spark/lines cluster paths))))
    (is (= (fold/fold (fold/through (map count) fold/sum) (fold-lines/lines (str plain)))
           (fold/fold sizes (spark/lines cluster (str/replace (str plain) #"\.txt$" ".t*t")))))
    (is (= [] (far cluster (str (file-of (byte-array 0))))))
    (is (= [:skein/file :missing] (error-of #(spark/lines cluster "/no/such/file"))))
    (is (= [:skein/file :unreadable] (error-of #(spark/lines cluster "s3a://a-bucket/whose-library-is-missing"))))
    (is (= [:skein/file :directory] (error-of #(spark/lines cluster (.getParent plain)))))
    (is (= :skein/bad-argument (error-of #(spark/lines {:charset "no-such"} cluster (str plain)))))))

(defn- slice-texts
  "Returns [file number, text] of all slices of a source on a cluster, slices of one file joined."
  [far]
  (let [texts (fold/fold (fold/through (map slice-text) (fold/into [])) far)]
    (mapv (fn [same] [(ffirst same) (str/join (map second same))]) (partition-by first texts))))

(deftest slices-know-their-files
  (let [cluster (bed/bed :local)
        text (str/join (map #(str "line\r " % "\n") (range 5000)))
        plain (str (file-of (utf-8 text)))
        gz (str (file-of (utf-8 text) ".gz" #(GZIPOutputStream. %)))]
    (is (= [[0 text] [1 text] [2 text]] (slice-texts (spark/slices {:split-bytes 777} cluster [plain gz plain]))))
    (is (every? #(str/ends-with? % "\n") (fold/fold (fold/through (map (comp second slice-text)) (fold/into []))
                                           (spark/slices {:split-bytes 10} cluster plain))))))

(deftest files-that-are-not-on-this-machine-are-read-by-hadoop
  (let [cluster (bed/bed :local)
        text (str/join (map #(str "line " % (if (zero? (mod % 7)) "\r\n" "\n")) (range 20000)))
        plain (file-of (utf-8 text))
        gz (file-of (utf-8 text) ".gz" #(GZIPOutputStream. %))]
    ;; viewfs gives a folder of this machine another name, so that it is not taken for one.
    (doseq [set-link [#(.set (.hadoopConfiguration (cluster/context cluster)) % (str (.toURI (.getParentFile plain))))
                      #(.set (.conf (SparkEnv/get)) (str "spark.hadoop." %) (str (.toURI (.getParentFile plain))))]]
      (set-link "fs.viewfs.mounttable.elsewhere.link./d"))
    (doseq [^File file [plain gz]
            :let [there (str "viewfs://elsewhere/d/" (.getName file))]]
      (is (= (locally file) (fold/fold (fold/into []) (spark/lines {:split-bytes 10007} cluster there))))
      (is (= [[0 text]] (slice-texts (spark/slices {:split-bytes 70001} cluster there)))))))
