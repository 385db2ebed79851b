;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.lines-test
  (:require [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.test :refer [deftest is testing]]
            [clojure.test.check :as check]
            [clojure.test.check.generators :as gen]
            [clojure.test.check.properties :as prop]
            [skein.deadline :refer [within-deadline]]
            [skein.fold :as fold]
            [skein.fold.lines :as lines])
  (:import (com.github.luben.zstd ZstdOutputStream)
           (java.io ByteArrayOutputStream File RandomAccessFile)
           (java.nio.charset StandardCharsets)
           (java.util.concurrent CountDownLatch TimeUnit)
           (java.util.zip GZIPOutputStream)
           (skein.fold.rt Slice)))

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

(defn- all [opts source] (within-deadline (fold/fold opts (fold/into []) source)))
(defn- error-of [f] (try (f) nil (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e)))))
(defn- lines-of [file] (with-open [in (io/reader file)] (vec (line-seq in))))

(def ^:private text-gen
  (gen/fmap str/join (gen/vector (gen/elements ["a" "bc" "\n" "\r" "\r\n" "é" "漢字" "\uD83D\uDE00" "longer than a slice"]) 0 60)))

(def ^:private opts-gen
  (gen/hash-map :grain (gen/choose 1 30) :parallelism (gen/choose 1 4)))

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

(deftest records-end-with-a-delimiter-of-ones-own
  (with-files [file ".txt"]
    (doseq [delimiter ["|" "--=" "\u0000"]]
      (let [result (check/quick-check
                    100
                    (prop/for-all [parts (gen/vector (gen/elements ["a" "é" "\n" delimiter "-" "--"]) 0 40), opts opts-gen]
                      (let [text (str/join parts)]
                        (write! file text)
                        (= (split-at-delimiter text delimiter)
                           (all opts (lines/records (str file) delimiter))
                           (mapv #(String. ^bytes % "UTF-8") (all opts (lines/records file delimiter {:as :bytes})))))))]
        (is (:pass? result) (pr-str delimiter (:smallest (:shrunk result))))))))

(deftest slices-are-whole-lines-and-all-of-the-file
  (with-files [file ".txt"]
    (let [text (str/join "\n" (map #(str/join (repeat % "x")) (range 200)))
          copy (map (fn [^Slice s] [(.position s) (.text s StandardCharsets/UTF_8)]))]
      (write! file text)
      (doseq [grain [1 7 64 1000 100000]]
        (let [parts (all {:grain grain :parallelism 3} (eduction copy (lines/slices (str file))))]
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
      (is (= (map str (range 5000)) (all {:grain 10, :parallelism 3} (lines/lines a))))
      (is (= (concat (map str (range 5000)) ["b"]) (all {:grain 1, :parallelism 3} (lines/lines [a b])))))))

(deftest several-files-are-divided-each-on-its-own
  (with-files [a ".txt" b ".gz" c ".txt" d ".gz"]
    (write! a "1\n2")
    (gzip! b "3\r\n4\n")
    (write! c "")
    (gzip! d "5")
    (is (= ["1" "2" "3" "4" "5"]
           (all {} (lines/lines [(str a) b (.toPath c) d]))
           (all {:grain 1, :parallelism 3} (lines/lines [(str a) b (.toPath c) d]))))))

(deftest a-line-may-be-much-longer-than-a-block
  (with-files [file ".txt" packed ".gz"]
    (let [long-line (str/join (repeat 300000 "é"))
          text (str "a\n" long-line "\nb")]
      (write! file text)
      (gzip! packed text)
      (is (= ["a" long-line "b"] (all {:grain 1000 :parallelism 4} (lines/lines file)) (all {} (lines/lines packed)))))))

(deftest early-stop-and-order
  (with-files [file ".txt"]
    (write! file (str/join "\n" (range 20000)))
    (is (= (mapv str (range 10)) (all {} (eduction (take 10) (lines/lines file)))))
    (is (= 19999 (peek (all {:grain 999} (eduction (map parse-long) (lines/lines file))))))
    (is (= (range 20000) (all {:grain 5000} (eduction (map parse-long) (lines/lines file)))))))

(deftest charsets-other-than-utf-8
  (with-files [file ".txt"]
    (with-open [out (io/output-stream file)] (.write out (.getBytes "\u00e9\nb" "ISO-8859-1")))
    (is (= ["\u00e9" "b"] (all {} (lines/lines file {:charset "ISO-8859-1"}))))
    (is (= :skein/bad-charset (error-of #(lines/lines file {:charset "UTF-16"}))))
    (is (= :skein/bad-charset (error-of #(lines/lines file {:charset "no such"}))))))

(deftest what-cannot-be-read-has-a-name
  (with-files [file ".txt" bad ".gz" zst ".zst"]
    (write! bad "no gzip")
    (write! zst "no Zstandard")
    (testing "missing, a directory, damaged"
      (is (= :skein/file-missing (error-of #(all {} (lines/lines "no/such/file")))))
      (is (= :skein/file-missing (error-of #(all {} (lines/lines ["no/such/file" "nor-this.gz"])))))
      (is (= :skein/file-missing (error-of #(all {} (lines/lines "nor-this.gz")))))
      (is (= :skein/file-is-directory (error-of #(all {} (lines/lines "src")))))
      (is (= :skein/file-unreadable (error-of #(all {} (lines/lines bad)))))
      (is (= :skein/file-unreadable (error-of #(all {} (lines/lines zst))))))
    (testing "arguments"
      (is (= :skein/bad-path (error-of #(lines/lines 7))))
      (is (= :skein/bad-delimiter (error-of #(lines/records file ""))))
      (is (= :skein/bad-delimiter (error-of #(lines/records file "aba")))))))

(deftest a-truncated-gzip-file-is-found
  (with-files [file ".gz"]
    (let [whole (ByteArrayOutputStream.)]
      (with-open [out (GZIPOutputStream. whole)]
        (.write out (.getBytes ^String (str/join "\n" (repeatedly 1000 #(rand-int 1000))))))
      (with-open [out (io/output-stream file)]
        (.write out (.toByteArray whole) 0 (quot (.size whole) 2)))
      (is (= :skein/file-truncated (error-of #(all {} (lines/lines file))))))))

(defn- shrink! [^File file n]
  (with-open [f (RandomAccessFile. file "rw")] (.setLength f n)))

(deftest a-file-that-shrinks-under-the-reader-is-an-error
  (with-files [file ".txt"]
    (write! file (str/join (repeat 100000 "line\n")))
    (let [shrunk (atom false)
          step (fn [n _] (when (compare-and-set! shrunk false true) (shrink! file 10000)) (inc (long n)))
          data (try (within-deadline (fold/fold {:grain 5000} + step (lines/lines file)))
                    (catch clojure.lang.ExceptionInfo e (ex-data e)))]
      (is (= :skein/file-truncated (:skein/error data)))
      (is (= (str file) (:path data))))))

(deftest what-is-appended-meanwhile-is-not-seen
  (with-files [file ".txt"]
    (write! file (str/join (repeat 10000 "line\n")))
    (let [grown (atom false)
          step (fn [n _] (when (compare-and-set! grown false true) (spit file "more\n" :append true)) (inc (long n)))]
      (is (= 10000 (within-deadline (fold/fold {:grain 5000} + step (lines/lines file))))))))

(deftest a-source-of-files-can-be-folded-again
  (with-files [file ".txt"]
    (write! file "a\nb")
    (let [source (lines/lines file)]
      (is (= 2 (fold/fold fold/count source) (fold/fold fold/count source)))
      (write! file "a")
      (is (= 1 (fold/fold fold/count source))))))

(deftest progress-is-told-in-bytes
  (with-files [file ".txt"]
    (write! file (str/join (repeat 1000 "line\n")))
    (let [last-report (atom nil)]
      (is (= 1000 (fold/fold {:on-progress #(reset! last-report %)} fold/count (lines/lines file))))
      (is (= {:done 5000 :total 5000 :unit :bytes} @last-report)))))

(deftest progress-of-a-compressed-file-is-told-in-bytes-unpacked
  (with-files [file ".txt.gz"]
    (gzip! file (str/join (repeat 50000 "line\n")))
    (doseq [opts [{} {:grain 5000, :parallelism 2}]
            :let [last-report (atom nil)]]
      (is (= 50000 (within-deadline (fold/fold (assoc opts :on-progress #(reset! last-report %)) fold/count (lines/lines file)))))
      (is (= {:done 250000 :total nil :unit :bytes} @last-report)))))

(deftest several-compressed-files-are-shared-from-the-first-one-on
  (with-files [a ".gz" b ".gz"]
    (run! #(gzip! % "line\n") [a b])
    (let [both (CountDownLatch. 2)
          meet (fn [line] (.countDown both) (when (.await both 20 TimeUnit/SECONDS) line))]
      (is (= ["line" "line"] (within-deadline (fold/fold {:parallelism 2} (map meet) into conj (lines/lines [a b]))))))))
