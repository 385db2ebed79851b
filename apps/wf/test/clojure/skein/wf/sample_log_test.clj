;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.sample-log-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.wf.sample-log :as sample-log])
  (:import
   (java.io ByteArrayOutputStream IOException OutputStream)
   (java.security MessageDigest)
   (java.util Arrays HexFormat)))

(set! *warn-on-reflection* true)

(defn- log ^bytes [options]
  (let [out (ByteArrayOutputStream.)
        n (sample-log/write! out options)]
    (assert (= n (.size out)))
    (.toByteArray out)))

(defn- sha-256 [^bytes content]
  (.formatHex (HexFormat/of) (.digest (MessageDigest/getInstance "SHA-256") content)))

(deftest the-same-seed-gives-the-same-bytes
  (let [content (log {:size-bytes 5000000, :seed 7})]
    (testing "on any machine, in any version"
      (is (= "9a7f2e82675519b54be42cf045a34814b3ca1be5b42e71409855f9d54b5b52f9" (sha-256 content))))
    (testing "and another seed others"
      (is (not (Arrays/equals content (log {:size-bytes 5000000, :seed 8})))))))

(deftest a-log-is-whole-lines-up-to-its-size
  (let [large (log {:size-bytes 2000000})]
    (doseq [^long size [1 2 100 500 1000 4096 65536 1000000 1999999]
            :let [small (log {:size-bytes size})
                  before-last (inc (.lastIndexOf (String. small 0 (dec (alength small)) "ISO-8859-1") "\n"))]]
      (is (= \newline (char (aget small (dec (alength small))))))
      (is (and (<= size (alength small)) (< before-last size)) "the last line is the first to reach the size")
      (is (Arrays/equals small (Arrays/copyOf large (alength small))) "a small log begins a large one"))))

(deftest the-last-line-feed-can-be-left-out
  (let [content (log {:size-bytes 10000})]
    (is (Arrays/equals (Arrays/copyOf content (dec (alength content))) (log {:size-bytes 10000, :final-newline? false})))))

(def ^:private combined
  #"[^ ]+ - - \[\d\d/[A-Z][a-z]{2}/\d{4}(?::\d\d){3} \+0000\] \"(?:GET|POST|HEAD) /[^ \"]* HTTP/\d\.\d\" \d{3} (?:\d+|-) \"[^ \"]+\" \"[^\"]+\"")

(deftest a-clean-log-is-combined-format-throughout
  (let [lines (str/split-lines (String. (log {:size-bytes 3000000, :odd? false}) "ISO-8859-1"))]
    (is (empty? (remove #(re-matches combined %) lines)))
    (is (< 200 (/ 3000000 (count lines)) 240) "about 220 bytes a line")))

(deftest odd-lines-are-few-and-of-all-kinds
  (let [text (String. (log {:size-bytes 3000000}) "ISO-8859-1")
        lines (str/split text #"\n")
        odd (remove #(re-matches combined %) lines)]
    (is (< 0.002 (/ (count odd) (double (count lines))) 0.02))
    (doseq [pattern [#"" #"(?s).*\r" #"(?s).*\r\r" #"[^ ]*" #".*[\x80-\xFF].*" #"(?s).*\x00.*" #".{2000,}"]]
      (is (some #(re-matches pattern %) odd) (str pattern)))))

(defn- second-of-line [line]
  (when-let [[_ day & time] (re-find #"\[(\d\d)/Mar/2025:(\d\d):(\d\d):(\d\d) \+0000\]" line)]
    (reduce (fn [n part] (+ (* 60 (long n)) (parse-long part)))
            (* 24 (parse-long day))
            time)))

(deftest times-advance
  (let [lines (str/split-lines (String. (log {:size-bytes 30000000, :odd? false}) "ISO-8859-1"))
        seconds (keep second-of-line lines)]
    (is (= (count lines) (count seconds)))
    (is (apply <= seconds))
    (is (< 3600 (- (long (last seconds)) (long (first seconds)))))))

(deftest exceptions-of-the-stream-are-thrown
  (let [full (proxy [OutputStream] []
               (write ([_] (throw (IOException. "full"))) ([_ _ _] (throw (IOException. "full")))))]
    (is (= "full" (try (sample-log/write! full {:size-bytes 100000000}) (catch IOException e (ex-message e)))))))
