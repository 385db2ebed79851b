;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.saved-test
  "Runs that continue where another one stopped. Together they count what one run over everything counts."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.cli :as cli])
  (:import
   (java.io ByteArrayOutputStream File PrintStream)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (java.util.zip GZIPOutputStream)))

(set! *warn-on-reflection* true)

(defn- folder ^File []
  (doto (.toFile (Files/createTempDirectory "skein-saved" (make-array FileAttribute 0))) .deleteOnExit))

(defn- run [& arguments]
  (let [out (ByteArrayOutputStream.)
        err (ByteArrayOutputStream.)
        code (cli/run (map str (cons "wf" arguments)) {:out out, :err (PrintStream. err true "UTF-8")})]
    {:code code, :out (.toString out "UTF-8"), :err (.toString err "UTF-8")}))

(defn- lines [n seed]
  (apply str (for [i (range n)
                   :let [x (mod (* 7919 (+ 1 (long i) (long seed))) 1009)]]
               (str "10.0." (mod x 7) "." (mod x 250) " - - [" (format "%02d" (inc (mod seed 28))) "/Mar/2025:" (format "%02d:%02d:%02d" (mod x 24) (mod x 60) (mod i 60))
                    " +0000] \"GET /" (mod x 41) " HTTP/1.1\" " (if (zero? (mod x 5)) 404 200) " " x " \"http://a.example/" (mod x 3) "\" \"agent " (mod x 11) "\"\n"))))

(defn- answers
  "Returns a report without the parts that tell what this run has read."
  [{:keys [out]}]
  (dissoc (edn/read-string out) :formats :bytes-read))

(defn- gzip! [^File file ^String text]
  (with-open [out (GZIPOutputStream. (io/output-stream file))] (.write out (.getBytes text "ISO-8859-1"))))

(deftest days-add-up-to-one-run
  (let [folder (folder)
        state (io/file folder "state")
        logs (vec (for [day (range 4)]
                    (doto (io/file folder (str "access.log." day)) (spit (str (lines 300 day) "no log line\n")))))]
    (doseq [question [[] ["--by" "url,host+day" "--log-format" "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%v\""]
                      ["--by" "client" "--distinct" "url" "--percentiles" "bytes" "--rank" "p90-bytes"]
                      ["--by" "agent" "--approx" "--status" "404"] ["--by" "browser" "--anonymize"]]
            :let [ask (fn [& more] (apply run (concat question ["--format" "edn"] more)))]]
      (.delete state)
      (let [reports (mapv #(ask "--with" state "--save" state %) logs)]
        (is (every? zero? (map :code reports)) (:err (first reports)))
        (is (str/includes? (:err (first reports)) "does not exist yet; this run creates it"))
        (is (= (answers (apply ask logs)) (answers (peek reports))) question)
        (testing "and can be asked for again without a log"
          (is (= (answers (peek reports)) (answers (ask "--with" state)))))
        (testing "but no log counts twice"
          (let [again (apply ask "--with" state logs)]
            (is (= (answers (peek reports)) (answers again)))
            (is (str/includes? (:err again) (str (logs 0) " was counted before\n")))))))))

(deftest a-growing-log-is-counted-from-the-last-position
  (let [folder (folder)
        state (io/file folder "state")
        log (io/file folder "access.log")
        text (lines 500 1)
        cut (fn [part] (subs text 0 (long (* (double part) (count text)))))
        ask (fn [& more] (apply run "--format" "edn" more))]
    (doseq [part [0.1 0.11 0.5 1]]
      (spit log (cut part))
      (is (= (answers (ask log)) (answers (ask "--with" state "--save" state log))) "a line without an end is shown, and is read again"))
    (testing "with any name, and if it is compressed"
      (let [longer (str text (lines 100 2))
            packed (io/file folder "access.log.1.gz")]
        (gzip! packed longer)
        (.delete log)
        (spit log longer)
        (is (= (answers (ask log)) (answers (ask "--with" state "--save" state packed))))
        (is (str/includes? (:err (ask "--with" state log)) "was counted before"))))))

(deftest a-saved-file-may-have-a-name-of-one-letter
  (let [folder (folder)
        log (doto (io/file folder "a.log") (spit (lines 9 1)))]
    (is (= 0 (:code (run "--by" "url" "--save" (io/file folder "t") log))))
    (is (= ["a.log" "t"] (sort (.list folder))))))

(deftest one-log-under-two-names-is-refused
  (let [folder (folder)
        state (io/file folder "state")
        text (lines 500 1)
        log (doto (io/file folder "access.log") (spit (subs text 0 (quot (count text) 2))))
        packed (io/file folder "access.log.1.gz")]
    (is (= 0 (:code (run "--by" "url" "--save" state log))))
    (let [before (slurp state)]
      (spit log text)
      (gzip! packed text)
      (let [{:keys [code out err]} (run "--by" "url" "--with" state "--save" state packed log)]
        (is (= [2 ""] [code out]))
        (is (str/includes? err (str packed " and " log " are the same log, and a part of it was counted before; give one of them")) err))
      (is (= before (slurp state))))
    (testing "unless it is counted to its end"
      (is (= 0 (:code (run "--by" "url" "--with" state "--save" state log))))
      (is (= 0 (:code (run "--by" "url" "--with" state packed log)))))))

(deftest another-question-is-refused
  (let [folder (folder)
        state (io/file folder "state")
        log (doto (io/file folder "a.log") (spit (lines 9 1)))]
    (is (= 0 (:code (run "--by" "url" "--save" state log))))
    (doseq [[question words] {["--by" "status"] "other tallies", ["--by" "url" "--status" "404"] "other conditions"
                              ["--by" "url" "--approx"] "another --approx", ["--by" "url" "--anonymize"] "another --anonymize"}
            :let [{:keys [code out err]} (apply run (concat question ["--with" state log]))]]
      (is (= [2 ""] [code out]))
      (is (str/includes? err (str state " was saved with " words ", by --by url --save " state ";")) err))
    (testing "the shown values may differ"
      (let [general (io/file folder "general")
            page (io/file folder "page.html")]
        (is (= 0 (:code (run "--preset" "site" "--save" general log))))
        (is (= 0 (:code (run "--preset" "site" "--with" general "--html" page log))))
        (is (str/includes? (slurp page) "Requests <small>")))
      (is (= 0 (:code (run "--by" "url" "--top" "3" "--format" "csv" "--with" state log)))))))

(deftest saved-counts-are-not-lost-by-mistake
  (let [folder (folder)
        state (io/file folder "state")
        log (doto (io/file folder "a.log") (spit (lines 9 1)))
        save (fn [& more] (apply run "--by" "url" "--save" state log more))]
    (is (= 0 (:code (save))))
    (let [{:keys [code out err]} (save)]
      (is (= [2 ""] [code out]))
      (is (str/includes? err (str "--save would replace " state "; add --with " state))))
    (is (= 0 (:code (save "--with" state))))
    (testing "an empty file, as mktemp makes one, holds nothing"
      (spit state "")
      (is (= 0 (:code (save)))))))

(deftest bad-saved-states-are-refused
  (let [folder (folder)
        state (io/file folder "state")
        log (doto (io/file folder "a.log") (spit (lines 9 1)))
        refused (fn [] (let [{:keys [code out err]} (run "--with" state log)]
                         (is (= [2 ""] [code out]))
                         (is (str/includes? err " is not a file of --save that this version can read: ") err)
                         err))]
    (is (str/includes? (refused) ": there is no such file\n"))
    (spit state "text")
    (refused)
    (spit state "")
    (is (str/includes? (refused) ": it ends early\n"))
    (gzip! state "\u0000\u0000\u0000\u0002{}")
    (refused)
    (testing "without the message of the EDN reader"
      (gzip! state "\u0000\u0000\u0000\u00051hel1")
      (is (str/includes? (refused) "it is damaged, or something else has written it\n")))
    (.delete state)
    (is (= 0 (:code (run "--preset" "site" "--save" state log))))
    (let [whole (Files/readAllBytes (.toPath state))]
      (with-open [out (io/output-stream state)] (.write out whole 0 (- (alength whole) 20)))
      (refused))))

(deftest a-failed-save-keeps-the-old-state
  (let [folder (folder)
        state (io/file folder "state")
        log (doto (io/file folder "a.log") (spit (lines 9 1)))]
    (is (= 0 (:code (run "--by" "url" "--save" state log))))
    (let [before (slurp state)]
      (is (= 2 (:code (run "--by" "url" "--save" state "--with" state (io/file folder "missing.log")))))
      (is (= before (slurp state)))
      (is (= ["a.log" "state"] (sort (.list folder)))))
    (is (= [2 1] (map :code [(run "--by" "url" "--save" log log) (run "--by" "url" "--save" "/no/such/folder/state" log)])))
    (is (= (lines 9 1) (slurp log)))))

(deftest one-new-log-under-two-names-is-refused
  (let [folder (folder)
        state (io/file folder "state")
        log (doto (io/file folder "access.log") (spit (lines 2000 1)))
        packed (io/file folder "access.log.1.gz")
        other (doto (io/file folder "other.log") (spit (lines 2000 2)))]
    (gzip! packed (lines 2000 1))
    (doseq [with [[] ["--with" state]]
            paths [[log packed] [packed other log] [log log]]
            :let [{:keys [code out err]} (apply run "--by" "url" "--save" state (concat with paths))]]
      (is (= [2 ""] [code out]))
      (is (re-find #"access.log\S* and \S*access.log\S* begin with the same lines, as one log under two names does; give one of them" err) err)
      (is (not (.exists state))))
    (testing "also if one of them has grown since"
      (spit log (lines 3 3) :append true)
      (is (= 2 (:code (run "--by" "url" "--save" state log packed)))))
    (is (= 0 (:code (run "--by" "url" "--save" state log other))))
    (is (= 0 (:code (run "--by" "url" log packed))) "without --save nothing is remembered")))

(deftest a-time-that-is-counted-back-from-now-is-refused
  (let [folder (folder)
        log (doto (io/file folder "a.log") (spit (lines 9 1)))]
    (doseq [option ["--from" "--to" "--since"]
            :let [{:keys [code out err]} (run "--by" "url" option "20s" "--save" (io/file folder "state") log)]]
      (is (= [2 ""] [code out]))
      (is (str/includes? err "20s is counted back from now, so it means another time in each run; with --save and --with give a day or a time, such as 2025-03-30") err))
    (is (= 0 (:code (run "--by" "url" "--from" "2025-03-01" "--save" (io/file folder "state") log))))))

(deftest standard-input-is-said-to-count-again
  (let [folder (folder)
        state (io/file folder "state")
        in System/in
        ask (fn ask [] (System/setIn (java.io.ByteArrayInputStream. (.getBytes ^String (lines 9 1))))
              (try (run "--by" "class" "--with" state "--save" state "-") (finally (System/setIn in))))]
    (is (str/includes? (:err (ask)) "- can't be recognised by a later run; it counts each time that it is given\n"))))
