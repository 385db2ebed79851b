;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.fuzz
  "Feeds broken logs to Wide Finder for a while.

      ./skein fuzz [MINUTES [SEED]]       1 minute and a random seed by default

  Each log is made of the lines of real ones, with bytes flipped, cut out, doubled and put in. It must count as in the plain
  models, whatever the slices and workers; in formats that have no model, the totals must add up, and be the same for all
  slices and workers; a compressed one that is damaged must count or be an error that says so. Ends with 0 when all of this held,
  else with 1, and the log is kept. Not part of the tests, but for a few rounds."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.arguments :as arguments]
   [skein.wf.analysis :as analysis]
   [skein.wf.plain :as plain]
   [skein.wf.plain-analysis :as plain-analysis]
   [skein.wf.wf2 :as wf2])
  (:import
   (clojure.lang ExceptionInfo)
   (com.github.luben.zstd ZstdOutputStream)
   (java.io ByteArrayOutputStream File FileOutputStream OutputStream)
   (java.util Random)
   (java.util.zip GZIPOutputStream)
   (org.apache.commons.compress.compressors.bzip2 BZip2CompressorOutputStream)))

(set! *warn-on-reflection* true)

;;;; Logs

(def ^:private json-line
  "{\"remote_addr\":\"10.0.0.1\",\"time_local\":\"30/Mar/2006:10:00:00 -0700\",\"request\":\"GET /a\\u00e9?b HTTP/1.1\",\"status\":200,\"body_bytes_sent\":5,\"request_time\":0.25,\"x\":[1,{\"y\":null}]}")

(def ^:private good-lines
  (delay (into [json-line]
               (mapcat (fn lines [path] (take 100 (str/split-lines (slurp path :encoding "ISO-8859-1")))))
               ["examples/access.log" "examples/shop.log"])))

(def ^:private junk
  ["\"" "\\" " " "  " "\n" "\r\n" "\r" "\u0000" "-" "[" "]" "\u00FF" "\u00C3" "200" "999999999999999999" "\"GET" "{" "}" "\\u00" "+1460" "31/Feb"])

(defn- pick [^Random random xs]
  (nth xs (.nextInt random (count xs))))

(defn- broken
  "Returns `text` with one random change."
  [^Random random ^String text]
  (let [at (.nextInt random (inc (count text)))
        to (min (count text) (+ at (.nextInt random 20)))]
    (case (.nextInt random 5)
      0 (str (subs text 0 at) (pick random junk) (subs text at))
      1 (str (subs text 0 at) (subs text to))
      2 (str (subs text 0 to) (subs text at))
      3 (str (subs text 0 at) (char (.nextInt random 256)) (subs text (min (count text) (inc at))))
      (str (subs text 0 at) (apply str (repeat (.nextInt random 3000) (pick random junk))) (subs text at)))))

(defn- random-log
  "Returns the bytes of a log of up to 40 lines, a third of which are broken."
  ^bytes [^Random random]
  (let [lines (repeatedly (.nextInt random 40)
                          (fn line []
                            (loop [line (pick random @good-lines)]
                              (if (zero? (.nextInt random 3)) (recur (broken random line)) line))))
        end (pick random ["\n" "\n" "\n" "\r\n"])]
    (.getBytes (str (str/join end lines) (pick random ["" end])) "ISO-8859-1")))

;;;; What must hold

(def ^:private tallies
  (mapv (fn tally [by] {:name (str/join "+" by), :title "", :by by, :top Integer/MAX_VALUE})
        [["url"] ["path"] ["client" "status"] ["class"] ["method"] ["hour"] ["day"] ["month"]]))

(def ^:private filters
  [[] [[:status "2xx,404"]] [[:method "GET"]] [[:client "10.0.0.0/8"]] [[:from "2025-03-02T00:00:00"]] [[:no-match "url" "\\."]]])

(defn- differences
  "Returns a text for each wrong count of a log."
  [^Random random ^File file ^bytes content]
  (let [options (fn options [] {:slice-bytes (inc (.nextInt random 3000)), :workers (inc (.nextInt random 3))})
        query {:tallies tallies, :where (pick random filters)}
        analyse (fn analyse [options] (plain-analysis/comparable (analysis/analyse [(str file)] query options)))
        report (dissoc (wf2/report [(str file)] (assoc (options) :top Integer/MAX_VALUE)) :elapsed-ns :failures)]
    (concat
      (when-not (= report (plain/report [content])) ["the report of Wide Finder 2 is not the model's"])
      (for [[log-format parser] {"common" plain-analysis/common, "combined" plain-analysis/combined}
            :when (not= (plain-analysis/analyse [content] parser query) (analyse (assoc (options) :log-format log-format)))]
        (str log-format " is not as in the model: " (:where query)))
      (for [log-format ["vhost-seconds" "json" "common-and-more" "$remote_addr|$host|$time_local|$request|$status $body_bytes_sent" "%h %{%d/%b/%Y}t %r %s"]
            :let [{:keys [lines counted filtered malformed-kinds] :as one} (analyse {:log-format log-format, :workers 1})]
            :when (not (and (= lines (+ (long counted) (long filtered) (long (reduce + (vals malformed-kinds)))))
                            (= one (analyse (assoc (options) :log-format log-format)))))]
        (str log-format " depends on slices, or does not add up")))))

(defn- damaged-archive
  "Returns `content` compressed, and perhaps damaged."
  ^bytes [^Random random ^bytes content]
  (let [out (ByteArrayOutputStream.)
        ^OutputStream packing (case (.nextInt random 3)
                                0 (GZIPOutputStream. out)
                                1 (ZstdOutputStream. out)
                                2 (BZip2CompressorOutputStream. out))
        _ (with-open [packing packing] (.write packing content))
        bytes (.toByteArray out)]
    (dotimes [_ (.nextInt random 3)]
      (aset bytes (.nextInt random (alength bytes)) (unchecked-byte (.nextInt random 256))))
    (java.util.Arrays/copyOf bytes (int (if (.nextBoolean random) (alength bytes) (.nextInt random (inc (alength bytes))))))))

(defn- archive-fault
  "Returns nil if a damaged archive is counted or gives an error of Skein's, otherwise a text about what happens."
  [^File file]
  (try (analysis/analyse [(str file)] {:tallies tallies} {:log-format "combined"})
       nil
       (catch ExceptionInfo e (when-not (:skein/error (ex-data e)) (str "an archive leads to " e)))
       (catch Throwable e (str "an archive leads to " e))))

(defn- write! [^File file ^bytes content]
  (with-open [out (FileOutputStream. file)] (.write out content)))

(defn round
  "Makes one log from `seed`, in `file`. Returns a text for each fault."
  [seed file]
  (let [random (Random. seed)
        content (random-log random)]
    (write! file content)
    (or (seq (try (vec (differences random file content))
                  (catch Throwable e [(str "threw " e)])))
        (do (write! file (damaged-archive random content))
            (some-> (archive-fault file) list)))))

(def ^:private usage "./skein fuzz [MINUTES [SEED]]")

(defn -main
  "Runs rounds for the given minutes, from a seed on."
  [& [minutes seed]]
  (let [file (io/file "target" "fuzz.log")
        first-seed (long (arguments/positive usage parse-long seed (inc (rand-int 1000000000))))
        end (+ (System/nanoTime) (long (* 60e9 (double (arguments/positive usage parse-double minutes 1.0)))))]
    (io/make-parents file)
    (println "from seed" first-seed)
    (loop [seed first-seed]
      (if-let [faults (round seed file)]
        (do (println "seed" seed ":" (str/join "; " faults) "- see" (str file))
            (System/exit 1))
        (if (< (System/nanoTime) end)
          (recur (inc seed))
          (println (- seed (dec first-seed)) "logs counted as they should"))))
    (shutdown-agents)))
