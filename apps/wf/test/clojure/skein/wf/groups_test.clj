;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.groups-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.deadline :refer [within-deadline]]
   [skein.wf.agents :as user-agents]
   [skein.wf.analysis :as analysis]
   [skein.wf.filter :as filter]
   [skein.wf.query :as query])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(def ^:private agents
  {:firefox "Mozilla/5.0 (X11; Linux x86_64; rv:27.0) Gecko/20100101 Firefox/27.0"
   :newer   "Mozilla/5.0 (X11; Linux x86_64; rv:28.0) Gecko/20100101 Firefox/28.0"
   :chrome  "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.107 Safari/537.36"
   :google  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
   :none    "-"})

(def ^:private lines
  "[client day url agent seconds]"
  [["10.0.0.1" 1 "/a?b.css" :firefox "0.100"]
   ["10.0.0.1" 1 "/a.CSS?v=2" :newer "0.300"]
   ["10.0.0.2" 1 "/i/logo.woff2" :chrome "0.050"]
   ["10.0.0.2" 2 "/.png/x" :google "0.001"]
   ["10.0.0.2" 2 "/archive.tar" :google "0.002"]
   ["10.0.0.3" 2 "/robots.txt" :none "0.003"]])

(defn- counted [tallies options]
  (let [file (File/createTempFile "groups" ".log")]
    (try
      (spit file (str/join (for [[client day url agent seconds] lines]
                             (str client " - - [0" day "/Mar/2025:10:00:00 +0000] \"GET " url " HTTP/1.1\" 200 100 \"-\" \"" (agents agent) "\" " seconds "\n"))))
      (:tallies (analysis/analyse [(str file)] {:tallies tallies} options))
      (finally (.delete file)))))

(defn- rows [by options]
  (mapv (juxt :key :numbers) (:rows (first (counted [(query/tally-of by options)] {})))))

(deftest agents-are-put-together
  (is (= [[["Firefox"] [2 200]] [["Googlebot"] [2 200]] [["Chrome"] [1 100]] [["Other"] [1 100]]] (rows "browser" {})))
  (is (= [[["Linux"] [2 200]] [["Windows"] [1 100]]] (remove (comp #{["Other"]} first) (rows "os" {}))))
  (is (= [[["Googlebot"] [2 200]]] (rows "crawler" {})) "what is not a crawler counts under nothing")
  (is (= [4 nil] (map :lines-without-key (counted (mapv #(query/tally-of % {}) ["crawler" "os"]) {})))))

(deftest numbers-add-up
  (is (= [[["Firefox"] [2 200 400000 200000 300000]] [["Chrome"] [1 100 50000 50000 50000]]] (rows "browser" {:rank "mean", :top 2})))
  (is (= [[["Chrome" "2025-03-01"] [1 100]] [["Firefox" "2025-03-01"] [2 200]]]
         (sort (take 2 (remove (comp #{"2025-03-02"} second first) (rows "browser+day" {}))))))
  (is (= 4 (:distinct (first (counted [(query/tally-of "browser" {:top 1})] {}))))))

(deftest incompatible-tallies-are-refused
  (doseq [[options plan-options] [[{:distinct "client"} {}] [{:percentiles #{"bytes"}} {}] [{:rank "p95-time"} {}] [{} {:approx 10}]]]
    (is (thrown-with-msg? clojure.lang.ExceptionInfo #"can't be combined with" (counted [(query/tally-of "os" options)] plan-options)))))

(deftest a-crawler-is-named-by-a-word-of-its-agent
  (doseq [[agent crawler] {"Mozilla/5.0 (compatible; Googlebot/2.1)" "Googlebot", "my-site_Crawler9 x" "my-site_Crawler9", "bot" "bot", "a b" nil, "" nil
                           "x (spider) bot" "spider", "AhrefsBot-spider/1" "AhrefsBot-spider"}]
    (is (= crawler (filter/crawler agent))))
  (testing "even beside long lines"
    (let [long-word (str/join (repeat 500000 "a"))]
      (is (= [nil (str long-word "Bot")] (within-deadline (mapv filter/crawler [long-word (str long-word "Bot")]))))
      (is (= "Other" (within-deadline (user-agents/browser long-word)))))))

(deftest static-files-and-crawlers-have-tallies-of-their-own
  (let [shown (into {} (map (juxt :name #(mapv (comp first :key) (:rows %)))) (counted query/site {}))]
    (is (= ["/.png/x" "/a?b.css" "/archive.tar" "/robots.txt"] (shown "url")))
    (is (= ["/a.CSS" "/i/logo.woff2"] (shown "static")))
    (is (= ["Googlebot"] (shown "crawler"))))
  (is (= [2 2] (map (comp last :numbers) (:rows (last (counted query/site {}))))) "different clients of each day")
  (is (not-any? #{"crawler"} (map :name (counted query/site {:approx 10}))) "with --approx agents may be missing"))

(deftest equal-tallies-are-counted-once
  (is (= [1 [0 0 0 0]] (update (query/counted {:tallies (mapv #(query/tally-of % {}) ["agent" "browser" "os" "crawler"])} nil) 0 count))))
