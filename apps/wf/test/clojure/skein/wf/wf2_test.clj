;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.wf2-test
  "The counter against the plain model, on every kind of log, with any number of slices and workers."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.kind :refer [kind-of]]
   [skein.wf.plain :as plain]
   [skein.wf.sample-log :as sample-log]
   [skein.wf.wf2 :as wf2])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io ByteArrayOutputStream File FileOutputStream RandomAccessFile)
   (java.nio.file Files)))

(set! *warn-on-reflection* true)

(defn- temp-file ^File []
  (doto (File/createTempFile "skein-wf" ".log") .deleteOnExit))

(defn- spit-bytes! [^File file ^bytes content]
  (with-open [out (FileOutputStream. file)] (.write out content)))

(defn- latin-1 ^bytes [^String text]
  (.getBytes text "ISO-8859-1"))

(defn- full-report [files options]
  (dissoc (wf2/report (mapv str files) (merge {:top Integer/MAX_VALUE} options))
          :elapsed-ns :failures))

(defn- report-of [^bytes content options]
  (let [file (temp-file)]
    (try (spit-bytes! file content)
         (full-report [file] options)
         (finally (.delete file)))))

;;;; Lines by hand

(defn- line [& {:keys [client method url protocol status size ref]
                :or {client "10.0.0.1", method "\"GET", url "/ongoing/When/200x/2006/03/30/Teacup"
                     protocol "HTTP/1.1\"", status "200", size "123", ref "\"http://example.com/\""}}]
  (str/join " " [client "-" "-" "[30/Mar/2006:10:00:00" "-0700]" method url protocol status size ref "\"Agent/1.0 (x)\""]))

(def ^:private nasty-lines
  (concat
    ["" " " "\r" "\r\r" "\t" "-" "          " "           " (line) (str (line) "\r") (str (line) "\r\r") (str " " (line))
     (str (line) " ") (str/replace (line) "- -" "-  -") (str/replace (line) " - - " " - frank ") (str/replace (line) "[30" "[3 0")
     (str/replace (line) "[30" "[3") (str/replace (line) "-0700]" "+1]") (str/replace (line) "] " "]\t") (line :client "")
     (line :client "2001:db8::1") (line :client (apply str (repeat 300 "c"))) (str "\u0000\u0000" (line))
     (str/join " " (take 10 (str/split (line) #" "))) (str/join " " (take 11 (str/split (line) #" ")))
     (str (str/join " " (take 11 (str/split (line) #" "))) "\r") (str (str/join " " (take 10 (str/split (line) #" "))) " ")
     (str (str/join " " (take 10 (str/split (line) #" "))) " \r")]
    (for [method ["\"get" "GET" "\"GET\"" "\"GE" "\"GETT" "\"POST" "\"HEAD" ""]] (line :method method))
    (for [protocol ["HTTP/1.0\"" "HTTP/2.0\"" "HTTP/2\"" "HTTP/3.0\"" "HTTP/4.0\"" "HTTP/1.2\"" "HTTP/1.1" "" "http/1.1\""]]
      (line :protocol protocol))
    (for [status ["304" "404" "201" "20" "2000" "" "0200" "200\"" "500" "20\u0010"]] (line :status status))
    (for [size ["-" "0" "--" "" "+1" "-1" "1.0" "00" "123456789012345" "1234567890123456" "999999999999999" "1a" "a1" "\u00B2" "1\r"]
          status ["200" "404"]]
      (line :size size :status status))
    (for [url ["/" "" "*" "/ongoing/When/200x/2006/03/30/" "/ongoing/When/200x/2006/03/30/a" "/ongoing/When/200x/2006/03/30/a.b"
               "/ongoing/When/200x/2006/03/30/." "/ongoing/When/200x/2006/03/30/a/b" "/ongoing/When/20xx/2006/03/30/a"
               "/ongoing/When/200y/2006/03/30/a" "/ongoing/When/200x/206/03/30/aa" "/ongoing/When/200x/2006/3/30/abc"
               "/ongoing/When/200x/2006/03/3/abc" "/ongoing/when/200x/2006/03/30/a" "x/ongoing/When/200x/2006/03/30/a"
               "/ongoing/When/200x/2006/03/30/caf\u00E9" "/ongoing/When/200x/2006/03/30/\u0001" "/ongoing/When/200x/2006/03/30/a\tb"
               "/ongoing/When/200x/2006/03/30/a\r" "/ongoing/When/200x/2006/03/30/\u0000" "/ongoing/When/\u00B200x/2006/03/30/a"
               "/a" "/ab" "/abc" "/abcd" "/abcde" "/abcdef" "/abcdefg" "/abcdefgh" "/abcdefg\u0000" "/abcdefg\u0000\u0000" "\u00FF\u00FE"]
          status ["200" "304" "404"]]
      (line :url url :status status))
    (for [ref ["-" "\"-\"" "\"-" "-\"" "" "\"" "\"\"" "\"\"\"" "\"\"\"\"" "x" "\"x" "x\"" "http://www.tbray.org/ongoing/"
               "\"http://www.tbray.org/ongoing/\"" "\"http://www.tbray.org/ongoing/x\"" "\"http://www.tbray.org/ongoing\""
               "\"\"http://www.tbray.org/ongoing/\"" "\"https://www.tbray.org/ongoing/\"" "\u00E9" "\"a b\"" "\r" "\"\r\""]
          ending ["" "\r"]]
      (str (line :ref ref) ending))))

(def ^:private nasty-log
  (str (str/join "\n" nasty-lines) "\n"))

(deftest nasty-lines-count-as-the-rules-say
  (doseq [text nasty-lines]
    (is (= (plain/report [(latin-1 text)]) (report-of (latin-1 text) {})) (pr-str text)))
  (is (= (plain/report [(latin-1 nasty-log)]) (report-of (latin-1 nasty-log) {}))))

(deftest every-slice-size-gives-the-same-report
  (let [content (latin-1 (str/join "\n" (take-nth 3 nasty-lines)))
        expected (plain/report [content])
        file (temp-file)]
    (spit-bytes! file content)
    (doseq [slice-bytes (concat (range 1 700) [(dec (alength content)) (alength content) (inc (alength content))])]
      (is (= expected (full-report [file] {:slice-bytes slice-bytes, :workers (inc (mod slice-bytes 3))}))
          (str "slices of " slice-bytes)))))

(deftest an-empty-file-is-a-report-of-zeros
  (is (= (plain/report [(byte-array 0)]) (report-of (byte-array 0) {}))))

(deftest each-file-is-split-on-its-own
  (let [contents (map latin-1 ["" (line) "" (str (line :status "304") "\n") (line :size "x")])
        files (mapv (fn [content] (doto (temp-file) (spit-bytes! content))) contents)]
    (doseq [slice-bytes [1 7 100 100000]]
      (is (= (plain/report contents) (full-report files {:slice-bytes slice-bytes, :workers 3}))))))

;;;; Logs

(defn- sample ^bytes [options]
  (let [out (ByteArrayOutputStream.)]
    (sample-log/write! out options)
    (.toByteArray out)))

(deftest generated-logs-count-as-in-the-model
  (doseq [[seed final-newline?] [[1 true] [7 false] [-3 true]]]
    (let [content (sample {:size-bytes 3000000, :seed seed, :final-newline? final-newline?})
          expected (plain/report [content])]
      (is (every? pos? ((juxt :malformed :ignored :counted) expected)))
      (doseq [options [{} {:workers 1} {:workers 5, :slice-bytes 10000} {:slice-bytes 333}]]
        (is (= expected (report-of content options)) (str "seed " seed " " options))))))

(deftest real-logs-count-as-in-the-model
  (let [files (filter #(.isFile ^File %) (map #(io/file "../shared/data" %) ["widefinder1-o10k.log" "elastic-apache-combined.log"
                                                                             "nasa-aug95-common.log"]))
        contents (map #(Files/readAllBytes (.toPath ^File %)) files)]
    (doseq [[file content] (map vector files contents)]
      (is (= (plain/report [content]) (full-report [file] {})) (str file)))
    (is (= (plain/report contents) (full-report files {:slice-bytes 1000})))))

;;;; Properties

(def ^:private gen-piece
  "The pieces of a log, and bytes that break it."
  (gen/frequency
    [[6 (gen/elements [" " "  " "\n" "\r\n" "\"" "-" "\r" "\n\n"])]
     [4 (gen/elements ["\"GET" "200" "304" "404" "0" "12" "/" "/ongoing/When/200x/2006/03/30/T" "HTTP/1.1\"" "\"-\"" "10.0.0.1"])]
     [1 (gen/fmap #(String. (byte-array %) "ISO-8859-1") (gen/vector (gen/choose -128 127) 0 12))]]))

(def ^:private gen-line
  (gen/fmap (fn [[url status size ref ending]] (str (line :url url :status status :size size :ref ref) ending))
            (gen/tuple (gen/elements ["/a" "/b" "/ongoing/When/200x/2006/03/30/T" "/ongoing/When/200x/2006/03/30/U"])
                       (gen/elements ["200" "304" "404" "500"])
                       (gen/elements ["-" "1" "22" "x" ""])
                       (gen/elements ["\"-\"" "\"r\"" "" "\""])
                       (gen/elements ["\n" "\r\n" "" " " "\n\n"]))))

(def ^:private gen-log
  (gen/fmap (fn [pieces] (latin-1 (apply str pieces)))
            (gen/such-that #(not (str/starts-with? (apply str %) "\u001F\u008B")) ; which begins a gzip file
                           (gen/vector (gen/frequency [[3 gen-piece] [1 gen-line]]) 0 60))))

(defn- holds? [trials property]
  (let [{:keys [pass? seed shrunk]} (check/quick-check trials property)]
    (is pass? (str "seed " seed ", smallest: " (some->> shrunk :smallest (mapv #(if (bytes? %) (String. ^bytes % "ISO-8859-1") %)) pr-str)))))

(deftest any-bytes-in-any-slices-count-as-in-the-model
  (let [file (temp-file)]
    (holds? 1500 (prop/for-all [content gen-log, slice-bytes (gen/choose 1 400), workers (gen/choose 1 3)]
                   (spit-bytes! file content)
                   (= (plain/report [content]) (full-report [file] {:slice-bytes slice-bytes, :workers workers}))))))

(defn- fifo
  "Returns a named pipe."
  ^File []
  (let [file (temp-file)]
    (.delete file)
    (is (zero? (.waitFor (.start (ProcessBuilder. ^"[Ljava.lang.String;" (into-array String ["mkfifo" (str file)]))))))
    file))

(deftest a-stream-counts-as-a-file
  (let [pipe (fifo)]
    (within-deadline
      (holds? 300 (prop/for-all [content gen-log, slice-bytes (gen/choose 1 400), workers (gen/choose 1 3)]
                    (let [writer (future (spit-bytes! pipe content))
                          found (full-report [pipe] {:slice-bytes slice-bytes, :workers workers})]
                      (deref writer 10000 :late)
                      (= (plain/report [content]) found)))))))

;;;; Sizes

(deftest a-line-across-2-gib-is-whole
  (let [file (temp-file)
        step (* 1024 1024)
        border (* 2048 step)]
    (try
      (with-open [out (RandomAccessFile. file "rw")]
        (doseq [^long at (range step border step)]
          (.seek out at)
          (.write out (latin-1 "\n")))
        (.seek out (- border 100))
        (.write out (latin-1 (str "\n" (line) "\n" (line)))))
      (let [report (full-report [file] {})]
        (testing "zeros up to each mebibyte, and two lines that count"
          (is (= {:lines 2050, :malformed 2048, :ignored 0, :counted 2, :bytes-read (.length file)}
                 (select-keys report [:lines :malformed :ignored :counted :bytes-read]))))
        (is (= [["10.0.0.1" 2]] (:top (:clients report)))))
      (finally (.delete file)))))

(deftest keys-and-lines-of-megabytes-count
  (let [long-url (str "/ongoing/When/200x/2006/03/30/" (apply str (repeat 3000000 "u")))
        content (latin-1 (str (line) "\n" (line :url long-url) "\n" (line :ref (str long-url "\"")) "\n"))
        expected (plain/report [content])]
    (doseq [slice-bytes [1000 65536 524288]]
      (is (= expected (report-of content {:slice-bytes slice-bytes}))))))

(deftest many-keys-count
  (let [content (latin-1 (apply str (for [i (range 60000)] (str (line :client (str "c" i) :url (str "/ongoing/When/200x/2006/03/30/" (rem (* i 7919) 40009))) "\n"))))]
    (is (= (plain/report [content]) (report-of content {:workers 3, :slice-bytes 100000})))))

(deftest bytes-beyond-2-to-the-63-are-an-error
  (let [content (latin-1 (apply str (repeat 9300 (str (line :size "999999999999999") "\n"))))]
    (is (= {:skein/error :skein/too-large} (try (report-of content {}) (catch ExceptionInfo e (ex-data e)))))))

;;;; Options and failures

(deftest top-limits-entries-and-nothing-else
  (let [content (sample {:size-bytes 200000})
        expected (plain/report [content])
        cut (fn [top f] (reduce (fn [report k] (update report k #(f (update % :top (fn [entries] (vec (take top entries)))))))
                                expected
                                [:url-hits :url-bytes :s404s :clients :refs]))]
    (doseq [top [1 10 64 65 1000]]
      (is (= (cut top identity) (report-of content {:top top})) (str "top " top))
      (is (= (cut top #(dissoc % :checksum)) (report-of content {:top top, :checksums? false})) (str "top " top)))))

(defn- failure-of [files options]
  (try (wf2/report (mapv str files) options)
       (catch ExceptionInfo e (ex-data e))))

(deftest inputs-that-cannot-be-read-are-named
  (let [directory (File. (System/getProperty "java.io.tmpdir"))
        missing (io/file directory "skein-no-such-file.log")
        failures [{:skein/error :skein/file, :problem :missing, :input (str missing), :message (str "There is no file " missing ". Check the spelling, and the folder in which the program runs.")}
                  {:skein/error :skein/file, :problem :directory, :input (str directory)
                   :message (str directory " is a directory. Name the files in it, as in " directory "/*.log.")}]]
    (is (= {:skein/error :skein/file, :problem :missing, :input (str missing), :failures failures} (failure-of [missing directory] {})))
    (testing "or left out, on request"
      (let [file (doto (temp-file) (spit-bytes! (latin-1 nasty-log)))]
        (is (= failures (:failures (failure-of [missing file directory] {:keep-going? true}))))
        (is (= (plain/report [(latin-1 nasty-log)]) (full-report [missing file directory] {:keep-going? true})))))))

(deftest a-file-without-permission-is-named
  (let [file (doto (temp-file) (.setReadable false))]
    (is (= (if (.canRead file) nil [:skein/file :unreadable])  ; a privileged user can read it
           (kind-of (failure-of [file] {}))))))

(deftest a-file-that-shrinks-is-an-error
  (let [file (temp-file)
        other (doto (temp-file) (spit-bytes! (latin-1 nasty-log)))
        shrink (fn [_] (with-open [out (RandomAccessFile. file "rw")] (.setLength out 10)))]
    (spit-bytes! file (sample {:size-bytes 100000}))
    (is (= [:skein/file :truncated] (kind-of (failure-of [file other] {:on-start shrink}))))
    (testing "and its counts are dropped from the report on the others"
      (spit-bytes! file (sample {:size-bytes 100000}))
      (let [report (full-report [other file] {:slice-bytes 1000, :keep-going? true
                                              :on-start (fn [_] (when (> (.length file) 10)
                                                                  (with-open [out (RandomAccessFile. file "rw")]
                                                                    (.setLength out 0))))})]
        (is (= (plain/report [(latin-1 nasty-log)]) report))))))

(deftest lines-appended-while-reading-are-not-counted
  (let [content (latin-1 (str (line) "\n" (line :status "304")))
        file (doto (temp-file) (spit-bytes! content))
        append (fn [_] (with-open [out (FileOutputStream. file true)] (.write out (latin-1 "x\ny\n"))))]
    (is (= (plain/report [content]) (full-report [file] {:on-start append})))))
