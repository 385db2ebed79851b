;; SPDX-License-Identifier: Apache-2.0
;; java -cp ... clojure.main tools/bench/wf2-duckdb.clj LOG
(ns bench.wf2-duckdb
  "The report of Wide Finder 2 by DuckDB, whose reader of CSV takes the lines apart at their spaces. Prints, as EDN, the
  milliseconds from the opening of the database to the last answer, and the distinct and total of each tally. Lines that
  are not UTF-8 are lost, which `ignore_errors` asks for."
  (:require
   [clojure.string :as str])
  (:import
   (java.sql Connection DriverManager ResultSet)))

(set! *warn-on-reflection* true)

(def ^:private columns
  "The reader wants to know how many fields a line may have."
  (str/join ", " (map (fn column [i] (str "'c" i "': 'VARCHAR'")) (range 60))))

(defn- reading [log]
  (str "create temp table lines as select c0 as client, c6 as url, c8 = '404' as missing, c10 as ref,"
       " case c9 when '-' then 0 else try_cast(c9 as bigint) end as bytes"
       " from read_csv('" log "', delim = ' ', header = false, quote = '', escape = '', null_padding = true, ignore_errors = true,"
       " strict_mode = false, auto_detect = false, columns = {" columns "})"
       " where c5 = '\"GET' and c8 in ('200', '304', '404') and c10 is not null and (c9 = '-' or (length(c9) < 16 and try_cast(c9 as bigint) is not null))"))

(def ^:private urls
  "A URL is an article or not whatever line it is on, so the pattern is tried once for each."
  (str "create temp table urls as select url, count(*) filter (not missing) as fetched, sum(bytes) filter (not missing) as bytes,"
       " count(*) filter (missing) as missing, regexp_full_match(url, '/ongoing/When/[0-9]{3}x/[0-9]{4}/[0-9]{2}/[0-9]{2}/[^ .]+') as article"
       " from lines group by url"))

(def ^:private articles
  "create temp table articles as select client, ref from lines where not missing and url in (select url from urls where article)")

(def ^:private tallies
  {:url-hits "select url as k, fetched as n from urls where article and fetched > 0"
   :url-bytes "select url as k, bytes as n from urls where fetched > 0"
   :s404s "select url as k, missing as n from urls where missing > 0"
   :clients "select client as k, count(*) as n from articles group by 1"
   :refs (str "select k, sum(n)::bigint as n from"
              " (select regexp_replace(regexp_replace(ref, '^\"', ''), '\"$', '') as k, n from (select ref, count(*) as n from articles group by 1))"
              " where k <> '-' and not starts_with(k, 'http://www.tbray.org/ongoing/') group by 1")})

(defn- answer
  "Returns the top ten of a tally, with how many keys there are and their sum."
  [^Connection db query]
  (with-open [statement (.createStatement db)
              ^ResultSet rows (.executeQuery statement
                                             (str "with t as (" query ")"
                                                  " select k, n, (select count(*) from t), (select sum(n) from t) from t order by n desc, k limit 10"))]
    (loop [answer {:top []}]
      (if (.next rows)
        (recur (-> (assoc answer :distinct (.getLong rows 3) :total (.getLong rows 4))
                   (update :top conj [(.getString rows 1) (.getLong rows 2)])))
        answer))))

(let [[log] *command-line-args*
      start (System/nanoTime)
      answers (with-open [db (DriverManager/getConnection "jdbc:duckdb:")
                          statement (.createStatement db)]
                (run! (fn execute [sql] (.execute statement sql)) [(reading log) urls articles])
                (update-vals tallies (fn [query] (answer db query))))]
  (prn {:ms (/ (- (System/nanoTime) start) 1e6), :tallies (update-vals answers #(select-keys % [:distinct :total]))}))
