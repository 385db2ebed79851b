;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.driver-test
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.kind :refer [kind-of]]
   [skein.wf.driver :as driver]
   [skein.wf.plain :as plain]
   [skein.wf.sample-log :as sample-log]
   [skein.wf.wf2 :as wf2])
  (:import
   (clojure.lang ExceptionInfo)
   (com.github.luben.zstd ZstdOutputStream)
   (java.io ByteArrayInputStream ByteArrayOutputStream File FileOutputStream OutputStream)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (java.util Arrays)
   (java.util.zip GZIPOutputStream)
   (org.apache.commons.compress.compressors.bzip2 BZip2CompressorOutputStream)
   (org.apache.commons.compress.compressors.lz4 FramedLZ4CompressorOutputStream)
   (org.tukaani.xz LZMA2Options XZOutputStream)))

(set! *warn-on-reflection* true)

(defn- temp-folder ^File []
  (doto (.toFile (Files/createTempDirectory "skein-driver" (make-array FileAttribute 0))) .deleteOnExit))

(defn- file-in ^File [folder name ^bytes content]
  (let [file (io/file folder name)]
    (with-open [out (FileOutputStream. file)] (.write out content))
    (.deleteOnExit file)
    file))

(defn- sample ^bytes [size seed]
  (let [out (ByteArrayOutputStream.)]
    (sample-log/write! out {:size-bytes size, :seed seed})
    (.toByteArray out)))

(defn- packed ^bytes [make-stream & members]
  (let [out (ByteArrayOutputStream.)]
    (doseq [^bytes member members]
      (with-open [packing ^OutputStream (make-stream out)] (.write packing member)))
    (.toByteArray out)))

(def ^:private packers
  {"gz" (fn gzip [^OutputStream out] (GZIPOutputStream. out))
   "xz" (fn xz [^OutputStream out] (XZOutputStream. out (LZMA2Options.)))
   "lz4" (fn lz4 [^OutputStream out] (FramedLZ4CompressorOutputStream. out))
   "bz2" (fn bzip2 [^OutputStream out] (BZip2CompressorOutputStream. out))
   "zst" (fn zstd [^OutputStream out] (ZstdOutputStream. out))})

(defn- report [files options]
  (dissoc (wf2/report (mapv str files) (merge {:top Integer/MAX_VALUE} options)) :elapsed-ns :failures))

(deftest compressed-files-count-as-plain-ones
  (let [folder (temp-folder)
        a (sample 400000 1)
        b (sample 300000 2)
        expected (plain/report [a])]
    (doseq [[ending make-stream] packers]
      (is (= expected (report [(file-in folder (str "a." ending) (packed make-stream a))] {})) ending)
      (testing "with any names"
        (is (= expected (report [(file-in folder (str ending ".log") (packed make-stream a))] {:slice-bytes 1000})) ending))
      (testing "with several members, which may cut a line"
        (let [members (packed make-stream (Arrays/copyOf a 1234) (Arrays/copyOfRange a 1234 (alength a)))]
          (is (= expected (report [(file-in folder (str "two." ending) members)] {})) ending))))
    (testing "many at once, among plain ones"
      (let [files (concat (for [[ending make-stream] packers] (file-in folder (str "m." ending) (packed make-stream a)))
                          [(file-in folder "b.log" b)])]
        (is (= (plain/report (concat (repeat (count packers) a) [b])) (report files {:workers 3, :slice-bytes 10000})))))))

(deftest a-damaged-file-is-an-error-and-is-left-out-on-request
  (let [folder (temp-folder)
        content (packed (packers "gz") (sample 400000 1))
        cut (file-in folder "cut.gz" (Arrays/copyOf content (quot (alength content) 2)))
        whole (file-in folder "whole.gz" content)]
    (is (= [:skein/file :truncated] (try (report [cut whole] {}) (catch ExceptionInfo e (kind-of (ex-data e))))))
    (is (= (plain/report [(sample 400000 1)]) (report [cut whole] {:keep-going? true})))))

(deftest gzip-that-ends-between-its-members-is-found
  (let [folder (temp-folder)
        [a b] (map #(packed (packers "gz") %) [(sample 20000 1) (sample 20000 2)])
        joined (fn [b] (byte-array (concat a b)))
        error (fn [name b]
                (try (report [(file-in folder name (joined b))] {}) nil
                     (catch ExceptionInfo e (kind-of (ex-data e)))))]
    (is (= [[:skein/file :truncated] [:skein/file :truncated]]
           [(error "cut-1.gz" (take 1 b)) (error "cut-9.gz" (take 9 b))]))
    (is (= (plain/report [(sample 20000 1)]) (report [(file-in folder "zeros.gz" (joined (repeat 500 0)))] {})))))

(deftest bytes-after-gzip-are-left-out-and-reported
  (let [folder (temp-folder)
        good (sample 20000 1)]
    (doseq [junk ["more" "\u0000\u0000more" (apply str "\u001f\u008c" (repeat 100000 "x")) (apply str (repeat 300000 "\u0000x"))]
            :let [file (file-in folder "rest.gz" (byte-array (concat (packed (packers "gz") good) (.getBytes ^String junk "ISO-8859-1"))))
                  {:keys [failures] :as found} (wf2/report [(str file)] {:top Integer/MAX_VALUE})]]
      (is (= (plain/report [good]) (dissoc found :elapsed-ns :failures)))
      (is (= [(str "The last " (count junk) " bytes of " file " are not gzip. They are left out; the rest is counted.")]
             (map :message failures))))))

(deftest a-file-cut-off-in-its-last-part-is-found
  (let [folder (temp-folder)]
    (doseq [[ending make-stream] packers
            :let [a (packed make-stream (sample 2000 1))]
            n [1 2 3 9 (quot (alength ^bytes a) 2) (dec (alength ^bytes a))]]
      (is (contains?
            #{[:skein/file :unreadable] [:skein/file :truncated]}
            (try (report [(file-in folder (str n "." ending) (byte-array (concat a (take n a))))] {})
                 (catch ExceptionInfo e (kind-of (ex-data e)))))
          [ending n]))))

(deftest half-of-a-compressed-file-is-reported-as-cut-off
  (let [folder (temp-folder)]
    (doseq [[ending make-stream] packers
            :let [content (packed make-stream (sample 400000 1))
                  half (file-in folder (str "half." ending) (Arrays/copyOf ^bytes content (quot (alength ^bytes content) 2)))]]
      (is (thrown-with-msg? ExceptionInfo #"^\S+ is cut off: " (report [half] {})) ending))))

(deftest a-remote-file-is-prepared-like-a-local-one
  (let [folder (temp-folder)
        opened (fn [^bytes content] (fn [position] (ByteArrayInputStream. content position (- (alength content) (long position)))))]
    (doseq [^bytes content [(sample 1000 1)
                            (sample 300000 1)
                            (.getBytes (str (str/join (repeat 100000 "x")) "\nlast\n"))]
            :let [here (driver/prepare (str (file-in folder "here.log" content)))
                  elsewhere (driver/prepare-elsewhere "hdfs:/here.log" (alength content) false (opened content))]]
      (is (Arrays/equals ^bytes (:head here) ^bytes (:head elsewhere)))
      (is (= (map vec (:samples here)) (map vec (:samples elsewhere)))))))

(deftest the-head-is-unpacked
  (let [folder (temp-folder)
        content (sample 100000 3)]
    (doseq [[ending make-stream] (assoc packers "log" nil)
            :let [file (file-in folder (str "h." ending) (if make-stream (packed make-stream content) content))
                  {:keys [head]} (driver/prepare (str file))]]
      (is (Arrays/equals (Arrays/copyOf content (int driver/head-bytes)) ^bytes head) ending))))
