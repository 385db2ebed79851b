;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.follow-test
  "Logs that grow, are rotated and are truncated: every line counts once."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.deadline :refer [within-deadline]]
   [skein.wf.follow :as follow])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File FileOutputStream RandomAccessFile)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (java.util.concurrent LinkedBlockingQueue)))

(set! *warn-on-reflection* true)

(defn- line [n]
  (str "10.0.0.1 - - [30/Mar/2006:10:00:00 -0700] \"GET /" n " HTTP/1.1\" 200 1 \"-\" \"x\"\n"))

(defn- append! [^File file text]
  (with-open [out (FileOutputStream. file true)] (.write out (.getBytes ^String text "ISO-8859-1"))))

(defn- temp-log ^File []
  (let [folder (.toFile (Files/createTempDirectory "skein-follow" (make-array FileAttribute 0)))]
    (.deleteOnExit folder)
    (doto (io/file folder "access.log") .deleteOnExit)))

(defn- counts [{[{:keys [rows]}] :tallies}]
  (into {} (map (fn [{[k] :key, [hits] :numbers}] [k hits])) rows))

(defn- following
  "Follows `file`, or each of several, while `f` runs. `f` gets a function that waits until that many lines are counted. Returns
  {:result :events}."
  [file f & options]
  (let [stop (promise)
        results (LinkedBlockingQueue.)
        events (atom [])
        await-lines (fn await-lines [n]
                      (loop [] (when (< (long (:lines (.take results))) (long n)) (recur))))
        last-result (atom nil)
        follower (future (follow/follow (mapv str (flatten [file])) {:tallies [{:name "u", :title "", :by ["url"], :top Integer/MAX_VALUE}]}
                                        {:stopped? #(realized? stop)
                                         :linger-ms (or (first options) 30000)
                                         :on-formats (or (second options) identity)
                                         :on-event (fn [_ event] (swap! events conj (str event)))
                                         :on-result (fn [result] (.put results result))
                                         :on-last (fn [result] (reset! last-result result))}))]
    (try (f await-lines)
         (finally (deliver stop true)))
    @follower
    {:result @last-result, :events @events}))

(deftest parts-of-a-line-are-joined-when-they-come-one-by-one
  (let [part (fn part [tag text] (str "2024-10-10T13:55:00.1Z stdout " tag " " text "\n"))
        [one two three four] (map (comp str/trim-newline line) [1 2 3 4])
        file (doto (temp-log) (append! (str (part "F" one) (part "P" (subs two 0 30)))))
        {:keys [result]}
        (within-deadline
          (following file (fn [await-lines]
                            (await-lines 2)
                            (append! file (str (part "F" (subs two 30)) (part "F" three)))
                            (await-lines 3)
                            (append! file (part "P" (subs four 0 40)))
                            (await-lines 4)
                            (append! file (part "F" (subs four 40))))))]
    (is (= [4 0 {"/1" 1, "/2" 1, "/3" 1, "/4" 1}] [(:lines result) (:malformed result) (counts result)]))))

(deftest parts-of-two-logs-are-joined-each-with-its-own
  (let [part (fn part [tag text] (str "2024-10-10T13:55:00.1Z stdout " tag " " text "\n"))
        [one two three four] (map (comp str/trim-newline line) [1 2 3 4])
        [a b] [(doto (temp-log) (append! (part "F" one))) (doto (temp-log) (append! (part "F" two)))]
        {:keys [result]}
        (within-deadline
          (following [a b] (fn [await-lines]
                             (await-lines 2)
                             (append! a (part "P" (subs three 0 30)))
                             (await-lines 3)
                             (append! b (part "P" (subs four 0 40)))
                             (await-lines 4)
                             (append! a (part "F" (subs three 30)))
                             (append! b (part "F" (subs four 40))))))]
    (is (= [4 0 {"/1" 1, "/2" 1, "/3" 1, "/4" 1}] [(:lines result) (:malformed result) (counts result)]))))

(deftest old-and-new-lines-count-once
  (let [file (doto (temp-log) (append! (str (line 1) (line 2) "10.0.0.1 - - [30/Mar")))
        {:keys [result events]}
        (within-deadline
          (following file (fn [await-lines]
                            (await-lines 2)
                            (append! file "/2006:10:00:00 -0700] \"GET /3 HTTP/1.1\" 200 1 \"-\" \"x\"\n")
                            (await-lines 3)
                            (append! file (str (line 4) "no end")))))]
    (is (= {"/1" 1, "/2" 1, "/3" 1, "/4" 1} (counts result)))
    (is (= [5 4 1 0] ((juxt :lines :counted :malformed :filtered) result)) "the unfinished line counts at the end")
    (is (= (.length file) (:bytes-read result)))
    (is (= [] events))))

(deftest lines-written-during-the-start-count-once
  (let [file (doto (temp-log) (append! (str (line 1) (line 2))))
        {:keys [result]} (within-deadline
                           (following file (fn [await-lines] (await-lines 4)) 30000
                                      (fn write-more [_] (append! file (str (line 3) (line 4) "no end")))))]
    (is (= {"/1" 1, "/2" 1, "/3" 1, "/4" 1} (counts result)))
    (is (= 5 (:lines result)))))

(deftest a-rotated-log-is-read-to-its-end-and-then-the-new-one
  (let [file (doto (temp-log) (append! (line 1)))
        old (io/file (.getParentFile file) "access.log.1")
        {:keys [result events]}
        (within-deadline
          (following file (fn [await-lines]
                            (await-lines 1)
                            (.renameTo file old)
                            (append! old (str (line 2) "cut"))
                            (append! file (line 3))
                            (await-lines 4)
                            (append! file (line 4))
                            (await-lines 5))
                     0))]
    (is (= {"/1" 1, "/2" 1, "/3" 1, "/4" 1} (counts result)))
    (is (= 1 (:malformed result)))
    (is (= ["ROTATED"] events))
    (.delete old)))

(deftest lines-written-late-to-the-old-file-count
  (let [file (doto (temp-log) (append! (line 1)))
        old (io/file (.getParentFile file) "access.log.1")
        {:keys [result events]}
        (within-deadline
          (following file (fn [await-lines]
                            (await-lines 1)
                            (.renameTo file old)
                            (append! file (line 2))
                            (await-lines 2)
                            (append! old (str (line 3) (subs (line 4) 0 20)))
                            (await-lines 3)
                            (append! old (subs (line 4) 20))
                            (await-lines 4)
                            (append! old "no end"))))]
    (is (= {"/1" 1, "/2" 1, "/3" 1, "/4" 1} (counts result)))
    (is (= [["ROTATED"] 1] [events (:malformed result)]) "the unfinished line of the old file counts at the end")
    (.delete old)))

(deftest a-log-that-is-rewritten-longer-is-read-from-its-start
  (let [file (doto (temp-log) (append! (str (line 1) (line 2))))
        {:keys [result events]}
        (within-deadline
          (following file (fn [await-lines]
                            (await-lines 2)
                            ;; In place, as copytruncate does it, so that no look falls in between.
                            (with-open [out (RandomAccessFile. file "rw")]
                              (.write out (.getBytes ^String (apply str (map line (range 3 10))))))
                            (await-lines 9))))]
    (is (= (zipmap (map #(str "/" %) (range 1 10)) (repeat 1)) (counts result)))
    (is (= ["TRUNCATED"] events))))

(deftest a-truncated-log-is-read-from-its-start
  (let [file (doto (temp-log) (append! (str (line 1) (line 2))))
        {:keys [result events]}
        (within-deadline
          (following file (fn [await-lines]
                            (await-lines 2)
                            (with-open [out (RandomAccessFile. file "rw")] (.setLength out 0))
                            (append! file (line 3))
                            (await-lines 3))))]
    (is (= {"/1" 1, "/2" 1, "/3" 1} (counts result)))
    (is (= ["TRUNCATED"] events))))

(deftest a-log-may-be-empty-at-first
  (let [file (doto (temp-log) (append! ""))
        {:keys [result]} (within-deadline
                           (following file (fn [await-lines]
                                             (append! file (line 1))
                                             (await-lines 1))))]
    (is (= {"/1" 1} (counts result)))))

(deftest a-folder-in-the-place-of-a-log-may-make-way-again
  (let [file (doto (temp-log) (append! (line 1)))
        old (io/file (.getParentFile file) "access.log.1")
        {:keys [result events]}
        (within-deadline
          (following file (fn [await-lines]
                            (await-lines 1)
                            (.renameTo file old)
                            (.mkdir file)
                            (append! old (line 2))
                            (await-lines 2)
                            (.delete file)
                            (append! file (line 3))
                            (await-lines 3))))]
    (is (= {"/1" 1, "/2" 1, "/3" 1} (counts result)))
    (is (= ["ROTATED"] events))
    (.delete old)))

(deftest a-pipe-is-refused-before-it-is-opened
  (let [pipe (str (io/file (.getParentFile (temp-log)) "pipe"))
        ^java.util.List mkfifo ["mkfifo" pipe]]
    (is (zero? (.waitFor (.start (ProcessBuilder. mkfifo)))))
    (is (= :skein/bad-argument
           (within-deadline
             (try (follow/follow [pipe] {:tallies []} {:stopped? (constantly false)})
                  (catch ExceptionInfo e (:skein/error (ex-data e)))))))
    (io/delete-file pipe)))

(deftest a-device-can-not-be-followed
  (testing "such as /dev/null"
    (is (= :skein/bad-argument
           (try (follow/follow ["/dev/null"] {:tallies []} {:stopped? (constantly false)})
                (catch ExceptionInfo e (:skein/error (ex-data e))))))))

(deftest too-many-keys-are-an-error-while-following-too
  (within-deadline
    (let [file (doto (temp-log) (append! (line 1)))
          result (promise)
          error (try (follow/follow [(str file)] {:tallies [{:name "u", :title "", :by ["url"]}]}
                                    {:stopped? (constantly false)
                                     :memory-bytes 4000000
                                     :on-event (constantly nil)
                                     :on-last #(deliver result %)
                                     :on-result (fn more [_] (append! file (apply str (map line (range 60000)))))})
                     (catch ExceptionInfo e e))]
      (is (= :skein/too-large (:skein/error (ex-data error))))
      (is (< 1 (long (:lines @result))) "what was counted is shown"))))
