;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.text-test
  "Results on a terminal."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.wf.text :as text]))

(set! *warn-on-reflection* true)

(def ^:private result
  {:lines 1234, :counted 1200, :filtered 30, :malformed 4, :malformed-kinds {"time" 3, "empty" 1}, :bytes 1536, :bytes-read 100000
   :elapsed-ns 50000000, :seconds [0 60]
   :tallies [{:name "url", :title "URLs", :by ["url"], :rank "hits", :columns ["hits" "bytes"], :distinct 12, :lines-without-key 9
              :rows [{:key ["/a\u001B[2J"], :numbers [1000 1536]} {:key ["/b" ""], :numbers [500 0]}
                     {:key [(apply str (repeat 90 "x"))], :numbers [1 0]}]}
             {:name "c", :title "Clients", :by ["client"], :rank "bytes", :columns ["hits" "bytes"], :distinct 9000, :error 2048
              :distinct-error 0.0163, :rows []}]})

(deftest lines-fit-a-terminal
  (doseq [width [60 70 100 200]]
    (is (every? #(<= (count %) (long width))
                (filter #(re-find #"^ +[\d,]+ " %) (str/split-lines (text/text result false width))))
        width)))

(deftest text-is-aligned-with-bars
  (is (= ["1,234 lines: 1,200 counted, 30 filtered, 4 malformed; 1.5 KB sent"
          "from 1970-01-01 00:00:00 to 1970-01-01 00:01:00"
          ""
          "URLs  3 of 12"
          "   hits   bytes"
          "  1,000  1.5 KB  ████████████████  /a\\x1b[2J"
          "    500     0 B  ████████          /b  (empty)"
          (str "      1     0 B                    " (apply str (repeat 90 "x")))
          "  9 counted lines have no url"
          ""
          "Clients  0 of about 9,000, by bytes"
          "  hits  bytes"
          "  none"
          (str "  approximate: each row may have up to 2.0 KB more, and its other numbers may be too small, too; a key that is not shown has at"
               " most that much, or less than the last row")
          "  distinct is an estimate, with a standard error of 1.6 %"]
         (str/split-lines (text/text result false)))))

(deftest color-changes-nothing-but-color
  (is (= (text/text result false) (str/replace (text/text result true) #"\u001B\[\d*m" ""))))

(deftest notes-are-a-line-each
  (is (= "1,234 lines: 1,200 counted, 30 filtered, 4 malformed; 100,000 bytes read in 0.050 s, 1.9 MB/s" (text/summary result)))
  (is (= "4 malformed lines, by the field at which they depart from the format: time 3, empty 1 (--malformed FILE writes them)"
         (text/malformed-note result nil)))
  (is (str/ends-with? (text/malformed-note result "bad.log") "time 3, empty 1 (bad.log has them)"))
  (is (nil? (text/malformed-note (assoc result :malformed 0) nil)))
  (testing "formats name a few inputs"
    (is (= ["format common: a, b, c and 1 more (9 of 10 lines tried)" "format x: d"]
           (text/format-notes [{:name "common", :inputs ["a" "b" "c" "d"], :lines 10, :matches 9} {:name "x", :inputs ["d"], :lines 0}])))))

(deftest headings-count-rows
  (let [heading (fn [tally] (nth (text/tally-lines (merge {:title "T", :by ["url"], :rank "hits", :columns ["hits"], :rows []} tally) false nil) 1))
        rows (fn [n] (repeat n {:key ["k"], :numbers [1]}))]
    (is (= "T  2" (heading {:rows (rows 2), :distinct 2})))
    (is (= "T  2 of 1,234" (heading {:rows (rows 2), :distinct 1234})))
    (is (= "T  2 of about 1,234" (heading {:rows (rows 2), :distinct 1234, :error 1})))
    (is (= "T  about 5" (heading {:rows (rows 5), :distinct 4, :error 1})) "an estimate")
    (testing "a tally over time has rows for steps without lines"
      (is (= ["T  5, of which 2 have lines" "T  5, of which 1 has lines"] (map #(heading {:rows (rows 5), :distinct %}) [2 1]))))))

(deftest notes-on-one-line-use-the-singular
  (is (= ["N: 1 counted line has no host or day"
          (str "O: approximate: each row may have up to 22 hits more, and its other numbers may be too small, too; a key that is not shown has at"
               " most that much, or less than the last row")
          "O: distinct is an estimate, with a standard error of 1.6 %"]
         (text/tally-notes {:tallies [{:title "N", :by ["host" "day"], :lines-without-key 1} {:title "M"}
                                      {:title "O", :rank "hits", :error 22, :distinct-error 0.01625}]})))
  (is (str/starts-with? (text/malformed-note {:malformed 1, :malformed-kinds {"time" 1}} nil) "1 malformed line, by the field at which it departs"))
  (is (str/starts-with? (text/summary {:lines 1, :counted 1, :filtered 0, :malformed 0, :bytes-read 9, :elapsed-ns 1}) "1 line: 1 counted"))
  (is (= ["1 line: 1 counted, 0 filtered, 0 malformed; 5 B sent"] (text/head-lines {:lines 1, :counted 1, :filtered 0, :malformed 0, :bytes 5})))
  (is (= ["format common: a (1 of 1 line tried)"] (text/format-notes [{:name "common", :inputs ["a"], :lines 1, :matches 1}]))))
