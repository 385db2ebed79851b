;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.lines-test
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold]
   [skein.fold.input :as input]
   [skein.fold.lines :as lines]
   [skein.kind :refer [kind-of]]
   [skein.skip :refer [skip!]])
  (:import
   (com.github.luben.zstd ZstdOutputStream)
   (java.io ByteArrayInputStream ByteArrayOutputStream File RandomAccessFile)
   (java.nio.charset StandardCharsets)
   (java.nio.file Files)
   (java.util Arrays)
   (java.util.concurrent CountDownLatch TimeUnit)
   (java.util.zip GZIPOutputStream)
   (skein.fold.files FilesSpan RecordFormat StreamFeed)
   (skein.fold.spi Slice)))

(set! *warn-on-reflection* true)

(defn- temp-file ^File [ending]
  (doto (File/createTempFile "skein-fold" ending) .deleteOnExit))

(defmacro ^:private with-files
  "Evaluates the body with each symbol bound to a new temporary file with such an ending, and deletes them."
  [[sym ending & more] & body]
  `(let [~sym (temp-file ~ending)]
     (try
       ~(if more `(with-files ~more ~@body) `(do ~@body))
       (finally (.delete ~sym)))))

(defn- write! [^File file ^String text]
  (with-open [out (io/output-stream file)]
    (.write out (.getBytes text "UTF-8"))))

(defn- gzip! [^File file ^String text]
  (with-open [out (GZIPOutputStream. (io/output-stream file))]
    (.write out (.getBytes text "UTF-8"))))

(defn- gzip ^bytes [^String text]
  (let [out (ByteArrayOutputStream.)]
    (with-open [packer (GZIPOutputStream. out)] (.write packer (.getBytes text "UTF-8")))
    (.toByteArray out)))

(defn- write-bytes! [^File file & parts]
  (with-open [out (io/output-stream file)]
    (doseq [part parts] (.write out (byte-array part)))))

(defn- all [opts source] (within-deadline (fold/fold opts (fold/into []) source)))
(defn- error-of [f] (try (f) nil (catch clojure.lang.ExceptionInfo e (kind-of (ex-data e)))))
(defn- lines-of [file] (with-open [in (io/reader file)] (vec (line-seq in))))

(defn- with-long-parts
  "Returns a generator of what `small` gives and, now and then, of text longer than the smallest read."
  [small]
  (gen/frequency [[60 small] [1 (gen/elements (map #(str/join (repeat % "é")) [2047 2048 5000]))]]))

(def ^:private text-gen
  (gen/fmap str/join (gen/vector (with-long-parts (gen/elements ["a" "bc" "\n" "\r" "\r\n" "é" "漢字" "\uD83D\uDE00"])) 0 60)))

(def ^:private opts-gen
  (gen/hash-map :grain (gen/frequency [[1 (gen/choose 1 30)] [1 (gen/choose 1000 9000)]])
                :workers (gen/choose 1 4)))

(deftest lines-are-those-of-line-seq
  (with-files [file ".txt" packed ".gz"]
    (let [result (check/quick-check
                   300
                   (prop/for-all [text text-gen, opts opts-gen]
                     (write! file text)
                     (gzip! packed text)
                     (= (lines-of file)
                        (all opts (lines/lines (str file)))
                        (all opts (lines/lines (str packed))))))]
      (is (:pass? result) (pr-str (:smallest (:shrunk result)))))))

(defn- split-at-delimiter [^String text delimiter]
  (let [parts (str/split text (re-pattern (java.util.regex.Pattern/quote delimiter)) -1)]
    (if (= "" (peek parts)) (pop parts) parts)))

(deftest records-may-have-another-delimiter
  (with-files [file ".txt"]
    (doseq [delimiter ["|" "--=" "\u0000"]]
      (let [result (check/quick-check
                     100
                     (prop/for-all [parts (gen/vector (with-long-parts (gen/elements ["a" "é" "\n" delimiter "-" "--"])) 0 40), opts opts-gen]
                       (let [text (str/join parts)]
                         (write! file text)
                         (= (split-at-delimiter text delimiter)
                            (all opts (lines/records (str file) delimiter))
                            (mapv #(String. ^bytes % "UTF-8") (all opts (lines/records {:as :bytes} file delimiter)))))))]
        (is (:pass? result) (pr-str delimiter (:smallest (:shrunk result))))))))

(deftest slices-are-whole-lines-and-all-of-the-file
  (with-files [file ".txt"]
    (let [text (str/join "\n" (map #(str/join (repeat % "x")) (range 200)))
          copy (map (fn [^Slice s] [(.position s) (.text s StandardCharsets/UTF_8)]))]
      (write! file text)
      (doseq [grain [1 7 64 1000 100000]]
        (let [parts (all {:grain grain :workers 3} (eduction copy (lines/slices (str file))))]
          (is (= text (str/join (map second parts))))
          (is (every? #(str/ends-with? % "\n") (butlast (map second parts))))
          (is (= (map first parts) (butlast (reductions + 0 (map (comp count second) parts))))))))))

(defn- zstd! [^File file ^String text]
  (with-open [out (ZstdOutputStream. (io/output-stream file))]
    (.write out (.getBytes text "UTF-8"))))

(deftest zstandard-is-read-if-its-library-is-there
  (with-files [a ".zst" b ".zst"]
    (let [text (str/join "\n" (range 5000))]
      (zstd! a text)
      (zstd! b "b")
      (is (= (map str (range 5000)) (all {:grain 10, :workers 3} (lines/lines a))))
      (is (= (concat (map str (range 5000)) ["b"]) (all {:grain 1, :workers 3} (lines/lines [a b])))))))

(defn- zstd ^bytes [^String text]
  (let [out (ByteArrayOutputStream.)]
    (with-open [packer (doto (ZstdOutputStream. out) (.setChecksum true))] (.write packer (.getBytes text "UTF-8")))
    (.toByteArray out)))

(deftest zstandard-frames-may-follow-each-other
  (with-files [file ".zst" other ".txt"]
    (write! other "")
    (let [a (zstd "a\nb\n"), b (zstd (str (str/join (repeat 300000 "c")) "\nd\n"))
          skippable [0x5A 0x2A 0x4D 0x18 3 0 0 0 1 2 3]
          ends (fn [& parts]
                 (apply write-bytes! file parts)
                 (let [[alone beside] (map #(try (all {} %) (catch clojure.lang.ExceptionInfo e (kind-of (ex-data e))))
                                           [(lines/lines file) (lines/lines [file other])])]
                   (if (= alone beside) alone [alone beside])))]
      (testing "whole"
        (is (= ["a" "b"] (ends a) (ends a (zstd "")) (ends (zstd "") a) (ends skippable a skippable)))
        (is (= ["a" "b" "a" "b"] (ends a a)))
        (is (= ["a" "b" "c" "d"] (update (ends a b) 2 subs 0 1))))
      (testing "cut off anywhere"
        (let [faults #{[:skein/file :truncated] [:skein/file :unreadable]}]
          (doseq [n (range 4 (alength a))]
            (is (contains? faults (ends (take n a))) n))
          (doseq [tail [a b skippable], n (range 1 (count tail))]
            (is (contains? faults (ends a (take n tail))) n))))
      (testing "damaged"
        (is (= [:skein/file :unreadable] (ends a (repeat 20 0)) (ends (update (vec a) (- (alength a) 1) bit-xor 1))))))))

(deftest compression-is-detected-by-content
  (with-files [a ".txt" b ".gz" c ".log"]
    (gzip! a "1\n2\n")
    (write! b "3\n")
    (zstd! c "4\n")
    (is (= ["1" "2"] (all {} (lines/lines a))))
    (is (= ["3"] (all {} (lines/lines b))))
    (is (= ["1" "2" "3" "4"] (all {:grain 1, :workers 2} (lines/lines [a b c]))))))

(deftest several-files-are-divided-each-on-its-own
  (with-files [a ".txt" b ".gz" c ".txt" d ".gz"]
    (write! a "1\n2")
    (gzip! b "3\r\n4\n")
    (write! c "")
    (gzip! d "5")
    (is (= ["1" "2" "3" "4" "5"]
           (all {} (lines/lines [(str a) b (.toPath c) d]))
           (all {:grain 1, :workers 3} (lines/lines [(str a) b (.toPath c) d]))
           (all {} (lines/lines (Arrays/asList (object-array [(str a) b (.toPath c) d]))))
           (all {} (lines/lines (eduction (map str) [a b c d])))))
    (is (= [] (all {} (lines/lines []))))))

(deftest a-line-may-be-much-longer-than-a-block
  (with-files [file ".txt" packed ".gz"]
    (let [long-line (str/join (repeat 300000 "é"))
          text (str "a\n" long-line "\nb")]
      (write! file text)
      (gzip! packed text)
      (is (= ["a" long-line "b"] (all {:grain 1000 :workers 4} (lines/lines file)) (all {} (lines/lines packed)))))))

(deftest early-stop-and-order
  (with-files [file ".txt"]
    (write! file (str/join "\n" (range 20000)))
    (is (= (mapv str (range 10)) (all {} (eduction (take 10) (lines/lines file)))))
    (is (= 19999 (peek (all {:grain 999} (eduction (map parse-long) (lines/lines file))))))
    (is (= (range 20000) (all {:grain 5000} (eduction (map parse-long) (lines/lines file)))))))

(deftest charsets-other-than-utf-8
  (with-files [file ".txt"]
    (with-open [out (io/output-stream file)] (.write out (.getBytes "\u00e9\nb" "ISO-8859-1")))
    (is (= ["\u00e9" "b"] (all {} (lines/lines {:charset "ISO-8859-1"} file))))
    (is (= :skein/bad-argument (error-of #(lines/lines {:charset "UTF-16"} file))))
    (is (= :skein/bad-argument (error-of #(lines/lines {:charset "no such"} file))))
    (is (= :skein/bad-argument (error-of #(lines/lines {:charset "x-JISAutoDetect"} file)))  "it can't be written")))

(deftest a-delimiter-does-not-cut-characters
  (with-files [file ".txt"]
    (doseq [charset ["Shift_JIS" "windows-31j" "GBK" "GB18030" "Big5" "EUC-JP" "EUC-KR" "ISO-2022-JP" "UTF-8" "ISO-8859-1"]
            delimiter ["|" "\n" "\u0000" "--=" "0" "、" "é" "漢"]
            :let [parts ["ポスト" "漢字" "x0" "" "、。" "é-ß" "一二三四"]
                  writable? (fn [s] (= s (String. (.getBytes ^String s ^String charset) ^String charset)))
                  parts (filterv #(and (writable? %) (not (str/includes? % delimiter))) parts)
                  source (try (lines/records {:charset charset} file delimiter)
                              (catch clojure.lang.ExceptionInfo e (kind-of (ex-data e))))]]
      (testing [charset delimiter]
        (if (keyword? source)
          (is (= :skein/bad-argument source))
          (do (write-bytes! file (.getBytes (str/join (map #(str % delimiter) parts)) ^String charset))
              (is (= parts (all {:grain 1, :workers 2} source)))))))
    (testing "those that do are refused, others are not"
      (let [refused? (fn [delimiter charset] (= :skein/bad-argument (error-of #(lines/records {:charset charset} file delimiter))))]
        (is (every? #(refused? "|" %) ["Shift_JIS" "windows-31j" "GBK" "GB18030" "Big5" "ISO-2022-JP"]))
        (is (not-any? #(refused? "|" %) ["EUC-JP" "EUC-KR" "UTF-8" "ISO-8859-1" "windows-1252"]))
        (is (not-any? #(refused? "\n" %) ["Shift_JIS" "GBK" "GB18030" "Big5" "ISO-2022-JP" "EUC-JP"]))
        (is (refused? "0" "GB18030"))
        (is (refused? "、" "ISO-8859-1") "it can't be written")
        (is (refused? (byte-array [-128]) "UTF-8"))))
    (testing "in records of bytes, any bytes may be the delimiter"
      (write-bytes! file [1 -128 2])
      (is (= [[1] [2]] (map vec (all {} (lines/records {:as :bytes} file (byte-array [-128])))))))))

(deftest unreadable-files-are-named
  (with-files [file ".txt" bad ".gz" zst ".zst"]
    (write-bytes! bad [0x1F -117] (.getBytes "no gzip"))
    (write-bytes! zst [0x28 -75 0x2F -3] (repeat 30 -1))
    (testing "missing, a directory, damaged"
      (is (= [:skein/file :missing] (error-of #(all {} (lines/lines "no/such/file")))))
      (is (= [:skein/file :missing] (error-of #(all {} (lines/lines ["no/such/file" "nor-this.gz"])))))
      (is (= [:skein/file :missing] (error-of #(all {} (lines/lines "nor-this.gz")))))
      (is (= [:skein/file :directory] (error-of #(all {} (lines/lines "doc")))))
      (is (= [:skein/file :unreadable] (error-of #(all {} (lines/lines bad)))))
      (is (= [:skein/file :unreadable] (error-of #(all {} (lines/lines zst))))))
    (testing "a link to itself"
      (let [link (.toPath (io/file (str zst ".link")))]
        (Files/createSymbolicLink link link (make-array java.nio.file.attribute.FileAttribute 0))
        (try (is (= [:skein/file :unreadable] (error-of #(all {} (lines/lines link)))))
             (finally (Files/delete link)))))
    (testing "arguments"
      (is (= :skein/bad-argument (error-of #(lines/lines 7)) (error-of #(lines/lines nil)) (error-of #(lines/lines [nil]))
             (error-of #(lines/lines "")) (error-of #(lines/lines "a\u0000b")) (error-of #(lines/slices (io/file "a\u0000b")))))
      (is (= :skein/bad-argument
             (error-of #(lines/lines "ISO-8859-1" file)) (error-of #(lines/lines {:charst "UTF-8"} file))
             (error-of #(lines/lines {:as :bytes} file)) (error-of #(lines/lines {:as nil} file))
             (error-of #(lines/records {:as :byte} file "|")) (error-of #(lines/records {"as" :bytes} file "|"))
             (error-of #(lines/slices {:delim "|"} file)) (error-of #(lines/slices [:delimiter "|"] file))))
      (is (= :skein/bad-argument (error-of #(lines/records file ""))))
      (is (= :skein/bad-argument (error-of #(lines/records file "aba")))))))

(deftest a-truncated-gzip-file-is-found
  (with-files [file ".gz"]
    (let [whole (ByteArrayOutputStream.)]
      (with-open [out (GZIPOutputStream. whole)]
        (.write out (.getBytes ^String (str/join "\n" (repeatedly 1000 #(rand-int 1000))))))
      (with-open [out (io/output-stream file)]
        (.write out (.toByteArray whole) 0 (quot (.size whole) 2)))
      (is (= [:skein/file :truncated] (error-of #(all {} (lines/lines file))))))))

(deftest gzip-members-and-zeros-may-follow-each-other
  (with-files [file ".gz" other ".txt"]
    (write! other "")
    (let [a (gzip "a\nb\n"), b (gzip "c\nd\n")
          end (fn [source] (try (all {} source) (catch clojure.lang.ExceptionInfo e (kind-of (ex-data e)))))
          ends (fn [& parts]
                 (apply write-bytes! file parts)
                 (let [alone (end (lines/lines file)), beside (end (lines/lines [file other]))]
                   (if (= alone beside) alone [alone beside])))]
      (testing "whole"
        (is (= ["a" "b" "c" "d"] (ends a b)))
        (is (= ["a" "b"] (ends a (repeat 513 0)) (ends a (gzip "")) (ends (gzip "") a)))
        (is (= ["x"] (apply ends (concat (repeat 3000 (gzip "")) [(gzip "x")])))))
      (testing "cut off anywhere"
        (doseq [n (range 2 (alength a))]
          (is (= [:skein/file :truncated] (ends (take n a))) n))
        (doseq [n (range 1 (alength b))]
          (is (= [:skein/file :truncated] (ends a (take n b))) n)))
      (testing "damaged"
        (is (= [:skein/file :unreadable] (ends a (repeat 5 0) b) (ends a (assoc (vec b) 0 0)) (ends a (assoc (vec b) 1 0)) (ends a (.getBytes "more"))
               (ends (update (vec a) (- (alength a) 8) bit-xor 1)) (ends (update (vec a) (- (alength a) 4) bit-xor 1))))))))

(deftest gzip-is-read-in-pieces-of-any-size
  (let [text (str (str/join (range 2000)) "\n")
        packed (byte-array (concat (gzip text) (gzip "") (gzip "end") (repeat 9 0)))]
    (doseq [size [1 2 7 1000]]
      (let [pieces (proxy [ByteArrayInputStream] [packed]
                     (read
                       ([] (let [^ByteArrayInputStream this this] (proxy-super read)))
                       ([bytes from n] (let [^ByteArrayInputStream this this] (proxy-super read ^bytes bytes (int from) (int (min (long size) (long n))))))))]
        (is (= [(str/trim text) "end"] (all {} (StreamFeed. (input/stream "in" pieces) (RecordFormat/lines StandardCharsets/UTF_8)))) size)))))

(deftest a-gzip-header-may-have-optional-fields
  (with-files [file ".gz"]
    (let [packed (gzip "a\n")
          crc (fn [header] (.getValue (doto (java.util.zip.CRC32.) (.update (byte-array header)))))
          named (concat (assoc (vec (take 10 packed)) 3 0x1E) [2 0 7 7] (.getBytes "name") [0] (.getBytes "comment") [0])
          sum (long (crc named))]
      (write-bytes! file named [(unchecked-byte sum) (unchecked-byte (bit-shift-right sum 8))] (drop 10 packed))
      (is (= ["a"] (all {} (lines/lines file))))
      (write-bytes! file named [(unchecked-byte (inc sum)) (unchecked-byte (bit-shift-right sum 8))] (drop 10 packed))
      (is (= [:skein/file :unreadable] (error-of #(all {} (lines/lines file))))))))

(defn- shrink! [^File file n]
  (with-open [f (RandomAccessFile. file "rw")] (.setLength f n)))

(deftest a-file-that-shrinks-under-the-reader-is-an-error
  (with-files [file ".txt"]
    (write! file (str/join (repeat 100000 "line\n")))
    (let [shrunk (atom false)
          step (fn [n _] (when (compare-and-set! shrunk false true) (shrink! file 10000)) (inc (long n)))
          data (try (within-deadline (fold/fold {:grain 5000} {:combine +, :step step} (lines/lines file)))
                    (catch clojure.lang.ExceptionInfo e (ex-data e)))]
      (is (= [:skein/file :truncated] (kind-of data)))
      (is (= (str file) (:path data))))))

(defn- end-of
  "Calls `f` on this thread. Returns the class of what it throws, or nil, and whether the thread is then
  interrupted."
  [f]
  (let [thrown (try (f) nil (catch Throwable t (class t)))]
    [thrown (Thread/interrupted)]))

(defn- interrupt-once
  "Returns a step that counts. Its first call interrupts `caller`; on another thread, it then waits for an interrupt."
  [^Thread caller]
  (let [first? (atom true)]
    (fn step [n _]
      (when (compare-and-set! first? true false)
        (.interrupt caller)
        (when-not (= caller (Thread/currentThread))
          (.await (CountDownLatch. 1))))
      (inc (long n)))))

(deftest an-interrupt-is-no-fault-of-the-file
  (with-files [plain ".txt" packed ".gz" zst ".zst"]
    (let [text (str/join (repeat 100000 "line\n"))]
      (write! plain text)
      (gzip! packed text)
      (zstd! zst text)
      (doseq [[kind source] {"plain" (lines/lines plain), "gzip" (lines/lines packed), "Zstandard" (lines/lines zst)
                             "slices" (lines/slices plain), "several" (lines/lines [packed plain]), "many" (lines/lines [plain zst])}
              opts [{:workers 1, :grain 100} {:workers 3, :grain 100} {}]]
        (testing [kind opts]
          ;; Other threads may have done everything before the caller looks. Then the caller is still
          ;; interrupted.
          (is (contains? (cond-> #{[InterruptedException false]} (= 3 (:workers opts)) (conj [nil true]))
                         (within-deadline (.interrupt (Thread/currentThread))
                                          (end-of #(fold/fold opts fold/count source))))
              "before the fold")
          (is (= [InterruptedException false]
                 (within-deadline (let [step (interrupt-once (Thread/currentThread))]
                                    (end-of #(fold/fold opts {:identity (constantly 0), :combine +, :step step} source)))))
              "in the middle"))))))

(deftest an-interrupted-reader-does-not-close-the-file-for-others
  (with-files [file ".txt"]
    (write! file (str/join (repeat 2000 "line\n")))
    (let [count-line (fn [n _] (inc (long n)))]
      (with-open [span (FilesSpan. [(input/file (.toPath file))] (RecordFormat/lines StandardCharsets/UTF_8))]
        (.reduce span count-line 0 0 5000)
        (.interrupt (Thread/currentThread))
        (is (= [InterruptedException false] (end-of #(.reduce span count-line 0 5000 10000))))
        (is (= 1000 (.reduce span count-line 0 5000 10000)))))))

(defn- pipe!
  "Makes a named pipe of a file's name, and a thread that writes `text` to it."
  [^File file ^String text]
  (.delete file)
  (is (zero? (.waitFor (.start (ProcessBuilder. ^java.util.List (list "mkfifo" (str file)))))))
  (doto (Thread. #(spit file text)) (.setDaemon true) .start))

(deftest files-without-a-size-are-read-on
  (with-files [file ".txt" pipe ".fifo" empty ".txt"]
    (write! file "x\ny")
    (testing "a device"
      (is (= [] (all {} (lines/lines "/dev/null"))))
      (is (= ["x" "y"] (all {} (lines/lines ["/dev/null" file "/dev/null"])))))
    (testing "the system's files"
      (if-not (.exists (io/file "/proc/version"))
        (skip! "there is no /proc")
        (let [version (Files/readAllLines (.toPath (io/file "/proc/version")))]
          (is (= version (all {} (lines/lines "/proc/version"))))
          (is (= (concat ["x" "y"] version version) (all {:grain 1} (lines/lines [file "/proc/version" empty "/proc/version"])))))))
    (testing "a pipe"
      (pipe! pipe "a\nb")
      (is (= ["a" "b"] (all {} (lines/lines pipe))))
      (pipe! pipe "c\nd")
      (is (= ["x" "y" "c" "d" "x" "y"] (all {:grain 1, :workers 2} (lines/lines [file pipe file])))))
    (testing "progress counts no bytes that aren't there"
      (let [last-report (atom nil)]
        (fold/fold {:on-progress #(reset! last-report %)} fold/count (lines/lines [empty file empty]))
        (is (= {:done 3 :total 3 :unit :bytes} @last-report))))))

(deftest appended-lines-are-not-seen
  (with-files [file ".txt"]
    (write! file (str/join (repeat 10000 "line\n")))
    (let [grown (atom false)
          step (fn [n _] (when (compare-and-set! grown false true) (spit file "more\n" :append true)) (inc (long n)))]
      (is (= 10000 (within-deadline (fold/fold {:grain 5000} {:combine +, :step step} (lines/lines file))))))))

(deftest a-source-of-files-can-be-folded-again
  (with-files [file ".txt"]
    (write! file "a\nb")
    (let [source (lines/lines file)]
      (is (= 2 (fold/fold fold/count source) (fold/fold fold/count source)))
      (write! file "a")
      (is (= 1 (fold/fold fold/count source))))))

(deftest progress-is-reported-in-bytes
  (with-files [file ".txt"]
    (write! file (str/join (repeat 1000 "line\n")))
    (let [last-report (atom nil)]
      (is (= 1000 (fold/fold {:on-progress #(reset! last-report %)} fold/count (lines/lines file))))
      (is (= {:done 5000 :total 5000 :unit :bytes} @last-report)))))

(deftest progress-of-a-compressed-file-counts-unpacked-bytes
  (with-files [file ".txt.gz"]
    (gzip! file (str/join (repeat 50000 "line\n")))
    (doseq [opts [{} {:grain 5000, :workers 2}]
            :let [last-report (atom nil)]]
      (is (= 50000 (within-deadline (fold/fold (assoc opts :on-progress #(reset! last-report %)) fold/count (lines/lines file)))))
      (is (= {:done 250000 :total nil :unit :bytes} @last-report)))))

(deftest steps-may-write-into-their-slice-and-behind-it
  (with-files [packed ".gz" plain ".txt"]
    (let [expected (mapv #(str "line-" %) (range 100000))
          text (str/join "\n" expected)
          behind (fn behind [^Slice slice] (aset-byte (.bytes slice) (.to slice) 33))
          ;; The last record of a block of a plain file begins in it and ends in the next one.
          into-it (fn into-it [^Slice slice] (Arrays/fill (.bytes slice) (.from slice) (.to slice) (byte 10)))]
      (gzip! packed text)
      (spit plain text)
      (doseq [file [packed plain], write [behind into-it], grain [nil 5000]
              :let [overwrite (fn overwrite [^Slice slice] (let [text (.text slice StandardCharsets/UTF_8)] (write slice) text))]]
        (is (= expected
               (str/split-lines (str/join (all (cond-> {:workers 1} grain (assoc :grain grain))
                                               (eduction (map overwrite) (lines/slices (str file))))))))))))

(deftest slices-name-their-file
  (with-files [a ".txt" b ".gz" c ".txt"]
    (write! a "1\n2\n")
    (gzip! b "3\n")
    (write! c "4")
    (let [named (fn [^Slice s] [(.file s) (.text s StandardCharsets/UTF_8)])]
      (is (= [[0 "1\n2\n"] [1 "3\n"] [2 "4"]] (all {} (eduction (map named) (lines/slices [a b c]))))))))

(deftest several-compressed-files-are-shared-from-the-start
  (with-files [a ".gz" b ".gz"]
    (run! #(gzip! % "line\n") [a b])
    (let [both (CountDownLatch. 2)
          meet (fn [line] (.countDown both) (when (.await both 20 TimeUnit/SECONDS) line))]
      (is (= ["line" "line"] (within-deadline (fold/fold {:workers 2}
                                                         (fold/through (map meet) (fold/into [])) (lines/lines [a b]))))))))
