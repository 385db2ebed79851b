;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.html-test
  "The page has all of the result, and needs nothing from elsewhere."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.wf.html :as html]
   [skein.wf.query :as query]))

(set! *warn-on-reflection* true)

(def ^:private result
  {:lines 10, :counted 7, :filtered 2, :malformed 1, :malformed-kinds {"time" 1}, :bytes 2048, :seconds [1741046400 1741132800]
   :formats [{:name "combined", :inputs ["a.log" "<b>.log"]}]
   :tallies [{:name "url", :title "URLs", :by ["url"], :rank "hits", :columns ["hits" "bytes"], :distinct 3
              :rows [{:key ["/<script>alert(1)</script>&\"x\""], :numbers [4 1024]} {:key ["/caf\u00C3\u00A9\u001B[31m"], :numbers [1 0]}]}
             {:name "day", :title "Days", :by ["day"], :rank "bytes", :columns ["hits" "bytes"], :distinct 3
              :rows [{:key ["2025-03-04"], :numbers [3 1000]} {:key ["2025-03-05"], :numbers [4 500]} {:key ["2025-03-06"], :numbers [0 0]}]}
             {:name "none", :title "Nothing", :by ["user"], :rank "hits", :columns ["hits" "bytes"], :distinct 0, :rows []}
             {:name "about", :title "About", :by ["client"], :rank "hits", :columns ["hits" "bytes"], :distinct 9000, :error 5
              :rows [{:key ["c"], :numbers [9 9], :error 5}]}]})

(deftest the-page-needs-nothing-else
  (let [page (html/page result)]
    (is (str/starts-with? page "<!doctype html>"))
    (is (= 1 (count (re-seq #"<script" page))) "its own")
    (doseq [foreign [#"<script[^>]" #"<link" #"<img" #"@import" #"url\(" #"(?i)https?://"]]
      (is (not (re-find foreign page)) (str foreign)))))

(deftest client-data-is-escaped
  (let [page (html/page result)]
    (is (str/includes? page "/&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;x&quot;"))
    (is (str/includes? page "&lt;b&gt;.log"))
    (is (str/includes? page "/café\\x1b[31m"))))

(deftest the-page-has-all-parts
  (let [page (html/page result)]
    (doseq [text ["<dd>10</dd>" "<dd>7</dd>" "<dd>2</dd>" "<dd class=bad>1</dd>" "<dd>2.0 KB</dd>" "time 1" "2 of 3" "none"
                  "2025-03-04 00:00:00 to 2025-03-05 00:00:00" "about 9,000" "each row may have up to 5 hits more"]]
      (is (str/includes? page text) text))
    (testing "bars and columns have lengths in proportion to the largest"
      (is (= ["width=\"100.0%" "width=\"25.0%" "width=\"100.0%"] (re-seq #"width=\"[\d.]+%(?=\"/>)" page)))
      (is (= ["height=\"100.0%" "height=\"50.0%" "height=\"0.0%"] (re-seq #"height=\"[\d.]+%(?=\"><title)" page))))))

(deftest the-plot-has-steps-that-fit-the-time
  (doseq [[step minutes] {"each minute" [0 59], "in steps of 30 minutes" [0 1439], "in steps of 7 days" [0 1440 (* 364 1440)]}
          :let [at (fn at [minute] (subs (str (.plusMinutes (java.time.LocalDateTime/parse "2025-03-03T00:00:00") (long minute))) 0 16))
                rows (mapv (fn row [minute] {:key [(str/replace (at minute) "T" " ")], :numbers [2 10]}) minutes)
                page (html/page (assoc result :tallies [(assoc query/plot :rank "hits" :columns ["hits" "bytes"] :rows rows, :distinct 1)]))]]
    (is (str/includes? page (str "Requests <small>" step)))
    (is (<= 48 (/ (count (re-seq #"<rect x=" page)) 2) 120) step)))

(deftest a-page-of-nothing-is-a-page
  (is (str/includes? (html/page (assoc result :tallies [] :seconds nil :malformed 0 :malformed-kinds {} :formats [])) "<main>\n</main>")))
