;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.filter-test
  "Which clients are in which networks."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.wf.analysis :as analysis]
   [skein.wf.filter :as filter])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)))

(set! *warn-on-reflection* true)

(defn- passing
  "Returns the set of those of `clients` that pass --client `networks`."
  [networks clients]
  (let [file (doto (File/createTempFile "skein-filter" ".log") .deleteOnExit)]
    (spit file (str (str/join "\n" clients) "\n"))
    (into #{}
          (map (comp first :key))
          (-> (analysis/analyse [(str file)] {:tallies [{:name "c" :title "c" :by ["client"]}], :where [[:client networks]]} {:log-format "%h"})
              :tallies first :rows))))

(deftest a-client-is-in-a-network-in-either-spelling
  (let [v4 #{"10.1.2.3" "::ffff:10.1.2.3" "10.1.2.3:5555" "[::ffff:a01:203]:80"}
        v6 #{"2001:db8::1" "[2001:db8::1]:443" "[2001:db8::1]"}
        local #{"fe80::1%eth0" "fe80::1"}
        none #{"010.1.2.3" "10.1.2.3:" "10.1.2.3:x" "2001:db8::1]:80" "host.example.org" "%eth0" "-"}
        all (concat v4 v6 local none)
        ;; without brackets and ports, as they are shown
        v4 #{"10.1.2.3" "::ffff:10.1.2.3" "::ffff:a01:203"}
        v6 #{"2001:db8::1"}]
    (is (= v4 (passing "10.0.0.0/8" all) (passing "10.1.2.3" all) (passing "::ffff:0:0/96" all) (passing "::ffff:10.0.0.0/104" all)
           (passing "0.0.0.0/0" all)))
    (is (= #{} (passing "10.1.2.4/31,::ffff:11.0.0.0/104" all)))
    (is (= v6 (passing "2001:db8::/33" all)))
    (is (= local (passing "fe80::/10" all)))
    (is (= (into v4 (concat v6 local)) (passing "::/0" all)) "an address of IPv4 is one of IPv6, too")))

(deftest bad-networks-are-refused
  (doseq [text ["10.0.0.0/33" "::ffff:10.0.0.0/8" "::ffff:0:0/95" "2001:db8::/129" "10.0.0/8" "010.0.0.0/8" "10.1.2.3:80" "fe80::1%eth0" "example.org" "10.0.0.0/x" "::/-1"]]
    (is (= :skein/bad-argument (try (filter/compiled [:client text] []) :accepted (catch ExceptionInfo e (:skein/error (ex-data e))))) text)))

(deftest bad-statuses-are-refused
  (doseq [text ["6xx" "0xx" "4x" "500-" "503-500" "20" "" ","]]
    (is (= :skein/bad-argument (try (filter/compiled [:status text] []) :accepted (catch ExceptionInfo e (:skein/error (ex-data e))))) text)))

(def ^:private three-lines
  (str "10.0.0.1 - - [10/Oct/2024:13:55:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 5 \"https://one.example:80/x\" \"UA\"\n"
       "10.0.0.2 - - [11/Oct/2024:23:55:00 +0000] \"GET /a?b=2 HTTP/1.1\" 404 5 \"http://two.example/\" \"UA\"\n"
       "10.0.0.3 - - [11/Nov/2024:23:05:00 +0000] \"GET /c HTTP/1.1\" 503 5 \"-\" \"UA\"\n"))

(deftest conditions-test-every-key-except-groups
  (let [file (doto (File/createTempFile "skein-filter" ".log") .deleteOnExit)
        last-digits (fn last-digits [condition]
                      (apply str (map (comp last first :key)
                                      (-> (analysis/analyse [(str file)] {:tallies [{:name "c" :title "c" :by ["client"]}], :where [condition]})
                                          :tallies first :rows))))]
    (spit file three-lines)
    (doseq [[condition clients] {[:match "site" "^one.example$"] "1", [:no-match "site" "^one.example$"] "23"
                                 [:match "path" "^/a$"] "12", [:match "class" "4xx|5xx"] "23", [:match "hour" "^23$"] "23"
                                 [:match "weekday" "Fri"] "2", [:match "day" "2024-10-11"] "2", [:match "month" "^2024-10$"] "12"
                                 [:match "minute" "13:55"] "1", [:match "every-3600" "23:00"] "23", [:match "status" "^[24]"] "12"}]
      (is (= clients (last-digits condition)) (str condition)))))
