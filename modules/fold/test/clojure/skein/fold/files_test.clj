;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.files-test
  "The classes of skein.fold.files and the inputs that they read one by one, so that a fault is found in the class that has it."
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold]
   [skein.fold.input :as input]
   [skein.fold.lines :as lines]
   [skein.fold.unpack :as unpack]
   [skein.kind :refer [kind-of]])
  (:import
   (clojure.lang ExceptionInfo)
   (com.github.luben.zstd ZstdOutputStream)
   (java.io ByteArrayInputStream ByteArrayOutputStream File FileOutputStream InputStream PipedInputStream PipedOutputStream)
   (java.nio ByteBuffer)
   (java.nio.channels ClosedChannelException)
   (java.nio.charset StandardCharsets)
   (java.util Arrays)
   (java.util.zip GZIPOutputStream)
   (skein.fold.files Bytes FilesSpan InputFile PositionChannel RecordFormat RecordFormatCheck StreamFeed)
   (skein.fold.spi Slice Span)))

(set! *warn-on-reflection* true)

(defn- padded ^bytes [bytes]
  (byte-array (concat bytes (repeat Bytes/PAD (byte 10)))))

(defn- first-index [pred bytes at end]
  (or (first (filter #(pred (long (nth bytes %))) (range at end))) end))

(def ^:private byte-gen
  (gen/frequency [[8 (gen/choose 33 126)] [2 (gen/elements [10 13 32 9 0 127])] [2 (gen/choose -128 -1)]]))

(deftest searches-find-what-a-loop-finds
  (let [result (check/quick-check
                 500
                 (prop/for-all [content (gen/vector byte-gen 0 100), skip (gen/choose 0 9), wanted byte-gen]
                   (let [bytes (padded content)
                         end (int (count content))
                         at (int (min skip (int end)))]
                     (and (= (first-index #{10 13} content at end) (Bytes/indexOfLineEnd bytes at end))
                          (= (first-index #(= wanted %) content at end) (Bytes/indexOf bytes at end (byte wanted)))
                          (= (first-index #{10} content at end) (Bytes/indexOfLineFeed bytes at))
                          (= (first-index #(<= 0 % 32) content at end) (Bytes/indexOfLow bytes at))))))]
    (is (:pass? result) (pr-str (:smallest (:shrunk result))))))

(deftest longer-texts-are-found-whole
  (let [bytes (padded (.getBytes "ab--=-=--=c"))]
    (is (= [2 7 11] (for [at [0 3 8]] (Bytes/indexOf bytes (int at) (int 11) ^bytes (.getBytes "--=")))))
    (is (= 9 (Bytes/indexOf bytes (int 3) (int 9) ^bytes (.getBytes "--="))) "a match must lie within the range")))

(deftest loads-put-the-first-byte-lowest
  (let [bytes (padded [1 2 3])]
    (is (= 0x0a0a0a0a0a030201 (Bytes/load bytes 0)))
    (is (= 0x0201 (Bytes/load bytes 0 2)))))

(defn- packed ^bytes [make-stream ^String text]
  (let [out (ByteArrayOutputStream.)]
    (with-open [^java.io.OutputStream packer (make-stream out)] (.write packer (.getBytes text "UTF-8")))
    (.toByteArray out)))

(defn- gzip [text] (packed #(GZIPOutputStream. ^ByteArrayOutputStream %) text))
(defn- zstd [text] (packed #(ZstdOutputStream. ^java.io.OutputStream %) text))

(defn- with-content [^bytes content f]
  (let [file (File/createTempFile "skein-files" ".bin")]
    (try (with-open [out (FileOutputStream. file)] (.write out content))
         (f (input/file (.toPath file)))
         (finally (.delete file)))))

(defn- text-of [^InputStream in] (with-open [in in] (String. (.readAllBytes in) "UTF-8")))

(defn- feed-text [^InputFile file]
  (with-open [feed (StreamFeed. file (RecordFormat/slices (.getBytes "\n")))]
    (loop [text ""]
      (if (.exhausted feed)
        text
        (recur (.reduce feed (fn add [acc ^Slice s] (str acc (.text s StandardCharsets/UTF_8))) text (int 1)))))))

(def ^:private skippable (byte-array [0x50 0x2A 0x4D 0x18 2 0 0 0 7 7]))

(deftest compression-is-detected-by-the-first-bytes
  (doseq [[packing content] {"gzip" (gzip "a\nb"), "zstd" (zstd "a\nb"), nil (.getBytes "a\nb")}]
    (with-content content
      (fn [file]
        (is (= packing (:packing file)))
        (is (= (some? packing) (:serial? file)))
        (is (= "a" (String. (input/head file 1))))
        (is (= "a\nb" (String. (input/head file 100)) (feed-text file)))
        (is (:repeatable? file)))))
  (testing "a skippable frame in front"
    (with-content (byte-array (concat skippable (zstd "a\n")))
      (fn [file]
        (is (= "zstd" (:packing file)))
        (is (= "a\n" (feed-text file)))))))

(deftest a-missing-library-is-named
  (with-content (byte-array [66 90 104 57])
    (fn [file]
      (is (= [:skein/missing-library "org.apache.commons/commons-compress"]
             (try (input/head file 1) (catch ExceptionInfo e ((juxt kind-of :library) (ex-data e)))))))))

(deftest an-unpacker-that-throws-at-its-start-makes-the-file-unreadable
  (with-redefs-fn {#'unpack/kinds [{:name "any", :magic [97], :type "java.io.PushbackInputStream", :more [Integer/MAX_VALUE]}]}
    (fn []
      (with-content (.getBytes "a")
        (fn [file] (is (= [:skein/file :unreadable] (try (feed-text file) (catch Throwable e (kind-of (ex-data e)))))))))))

(deftest streams-are-read-once-and-peeked-at-before
  (doseq [content [(gzip "a\nb\n") (.getBytes "a\nb\n")]]
    (let [file (input/stream "in" (ByteArrayInputStream. content))]
      (is (= "a\n" (String. (input/head file 2))))
      (is (= "a\nb\n" (String. (input/head file 99))))
      (is (not (:repeatable? file)))
      (is (= "a\nb\n" (feed-text file)))
      (is (= [:skein/file :unreadable] (try (feed-text file) (catch ExceptionInfo e (kind-of (ex-data e)))))))))

(deftest a-fault-without-a-message-is-named
  (let [closed (proxy [InputStream] [] (read [& _] (throw (ClosedChannelException.))))]
    (is (= "java.nio.channels.ClosedChannelException"
           (try (feed-text (input/stream "closed" closed)) (catch ExceptionInfo e (:reason (ex-data e))))))))

(deftest a-packed-member-is-not-unpacked-twice
  (let [inner (gzip "a\n")
        file (input/stream "in" (ByteArrayInputStream. (packed #(GZIPOutputStream. ^ByteArrayOutputStream %) "")))]
    (is (= "" (String. (input/head file 9))))
    (with-content (let [out (ByteArrayOutputStream.)]
                    (with-open [packer (GZIPOutputStream. out)] (.write packer ^bytes inner))
                    (.toByteArray out))
      (fn [file]
        (is (Arrays/equals ^bytes inner (input/head file 999)))))))

(deftest bytes-after-gzip-are-an-error-or-left-out
  (with-content (byte-array (concat (gzip "a\n") (.getBytes "junk")))
    (fn [file]
      (is (= [:skein/file :unreadable] (try (feed-text file) (catch ExceptionInfo e (kind-of (ex-data e))))))
      (let [file (input/leaving-out-rests file)]
        (is (= ["a\n" 4] [(feed-text file) (input/left-out file)])))))
  (with-content (byte-array (concat (gzip "a\n") (repeat 99999 0)))
    (fn [file]
      (let [file (input/leaving-out-rests file)]
        (is (= ["a\n" 0] [(feed-text file) (input/left-out file)]) "zeros fill tapes up")))))

(deftest a-pipe-gives-its-first-line-before-the-next-comes
  (let [out (PipedOutputStream.)
        in (PipedInputStream. out)]
    (with-open [feed (StreamFeed. (input/stream "pipe" in) (RecordFormat/lines StandardCharsets/UTF_8))]
      (.write out (.getBytes "a\n"))
      (is (false? (.exhausted feed)))
      (let [^Span block (.next feed 1)]
        (is (= ["a"] (.reduce block conj [] 0 (.size block)))))
      (.write out (.getBytes "b"))
      (.close out)
      (is (= ["b"] (.reduce feed conj [] 1)))
      (is (.exhausted feed)))))

;;;; RecordFormat, StreamFeed, FilesSpan: against the whole text

(deftest a-record-begins-where-a-scan-finds-it
  (let [seed (System/nanoTime)]
    (is (nil? (RecordFormatCheck/difference seed 5000)) (str "seed " seed))))

(def ^:private text-gen
  (gen/fmap #(apply str %) (gen/vector (gen/elements ["a" "bcd" "\n" "\n" (apply str (repeat 5000 "x"))]) 0 40)))

(defn- in-pieces
  "Returns a stream of the bytes of `text`. A read returns as many as `sizes` say. `waits` say when the next read would
  wait."
  ^InputStream [^String text sizes waits]
  (let [sizes (atom (cycle sizes)), waits (atom (cycle waits))
        next! (fn [xs] (ffirst (swap-vals! xs rest)))]
    (proxy [ByteArrayInputStream] [(.getBytes text)]
      (available [] (if (next! waits) 0 1))
      (read
        ([] (let [^ByteArrayInputStream this this] (proxy-super read)))
        ([bytes from n]
         (let [^ByteArrayInputStream this this]
           (proxy-super read ^bytes bytes (int from) (int (min (long (next! sizes)) (long n))))))))))

(deftest a-stream-is-handed-out-in-whole-records
  (let [result (check/quick-check
                 200
                 (prop/for-all [text text-gen
                                sizes (gen/not-empty (gen/vector (gen/choose 1 9000) 1 5))
                                waits (gen/not-empty (gen/vector gen/boolean 1 5))
                                n (gen/choose 1 20000)]
                   (with-open [feed (StreamFeed. (input/stream "in" (in-pieces text sizes waits)) (RecordFormat/slices (.getBytes "\n")))]
                     (loop [blocks []]
                       (if (.exhausted feed)
                         (and (= text (apply str blocks))
                              (every? #(= \newline (last %)) (butlast blocks))
                              (= (count text) (.taken feed)))
                         (recur (.reduce feed (fn add [acc ^Slice s] (conj acc (.text s StandardCharsets/UTF_8))) blocks (int n))))))))]
    (is (:pass? result) (pr-str (:smallest (:shrunk result))))))

(defn- with-contents [contents f]
  (if (empty? contents)
    (f [])
    (with-content (first contents) (fn [file] (with-contents (rest contents) #(f (cons file %)))))))

(deftest files-cut-anywhere-give-each-record-once
  (let [result (check/quick-check
                 100
                 (prop/for-all [texts (gen/vector text-gen 1 3)
                                packed (gen/vector gen/boolean 3)
                                cuts (gen/vector (gen/choose 0 100) 0 4)]
                   (with-contents (map (fn [^String text packed?] (if packed? (gzip text) (.getBytes text))) texts packed)
                     (fn [files]
                       (with-open [span (FilesSpan. files (RecordFormat/lines StandardCharsets/UTF_8))]
                         (let [size (.size span)
                               places (concat [0] (sort (map #(quot (* size (long %)) 100) cuts)) [size])]
                           (= (mapcat (fn [^String text] (line-seq (java.io.BufferedReader. (java.io.StringReader. text)))) texts)
                              (reduce (fn [acc [from to]] (.reduce span conj acc from to)) [] (partition 2 1 places)))))))))]
    (is (:pass? result) (pr-str (:smallest (:shrunk result))))))

;;;; Inputs

(deftest bytes-are-read-at-any-place
  (with-content (.getBytes "abcdef")
    (fn [file]
      (is (= ["cd" "ef" ""] (map #(String. (input/bytes-at file % %2)) [2 4 9] [2 9 3])))
      (is (= 6 (:size file)))
      (is (= [3 6] (map #(:size (input/between file 0 %)) [3 99]))))))

(deftest standard-input-has-the-name-of-a-dash
  (is (= {:path "-", :serial? true, :repeatable? false} (select-keys (input/standard-input) [:path :serial? :repeatable?]))))

(deftest parts-own-the-records-that-begin-in-them
  (with-content (.getBytes "a\nbb\n\nccc")
    (fn [file]
      (with-open [span (FilesSpan. [file] (RecordFormat/lines StandardCharsets/UTF_8))]
        (let [part (fn [from to] (.reduce span conj [] from to))]
          (is (= [["a"] [] ["bb"] [] [] [""] ["ccc"] [] []] (map #(part % (inc (long %))) (range 9))))
          (is (= ["a" "bb" "" "ccc"] (part 0 9) (into (part 0 4) (part 4 9))))))
      (testing "up to a limit"
        (with-open [span (FilesSpan. [(input/between file 0 5)] (RecordFormat/lines StandardCharsets/UTF_8))]
          (is (= 5 (.size span)))
          (is (= ["a" "bb"] (.reduce span conj [] 0 5))))))))

(deftest a-channel-of-ones-own-is-read-by-position
  (let [text (.getBytes "a\nbc\n\nd")
        positions (atom [])
        channel (fn [read] (reify PositionChannel (read [_ bytes position] (read bytes position)) (isOpen [_] true) (close [_])))
        lines (fn [read] (fold/fold {:workers 1, :grain 2}
                                    (fold/into []) (lines/lines (input/by-position "there" (alength text) #(channel read)))))]
    (is (= ["a" "bc" "" "d"]
           (lines (fn [^ByteBuffer bytes position]
                    (swap! positions conj position)
                    (let [n (min 3 (.remaining bytes))]
                      (.put bytes text (int position) n)
                      n)))))
    (is (= [0 3 6] @positions) "in order, and nothing twice")
    (is (= [[:skein/file :unreadable] "there"]
           (try (within-deadline (lines (fn [_ _] (throw (ClosedChannelException.))))) (catch ExceptionInfo e ((juxt kind-of :path) (ex-data e))))))))
