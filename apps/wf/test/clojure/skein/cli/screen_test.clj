;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.screen-test
  "The live view as a function of keys and sizes."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.cli.screen :as screen]))

(set! *warn-on-reflection* true)

(defn- tally [name by n]
  {:name name, :title (str/capitalize name), :by [by], :rank "hits", :columns ["hits" "bytes"], :distinct n
   :rows (mapv (fn row [i] {:key [(str name "-" i)], :numbers [(- 100 (long i)) (* 10 (long i))]}) (range n))})

(def ^:private result
  {:lines 9, :counted 9, :filtered 0, :malformed 0, :bytes 5, :seconds [0 60]
   :tallies [(tally "url" "url" 40) (tally "client" "client" 2) (tally "day" "day" 30) (tally "status" "status" 3) (tally "host" "host" 0)]})

(defn- view [& keys] (reduce (fn press [view key] (screen/pressed view key result)) screen/start keys))

(defn- shown [view & [size]] (vec (screen/lines view result (or size [24 80]) false)))

(defn- titles [lines] (vec (keep #(second (re-find #"^(?:> |  )?([A-Z][a-z]+)  \d" %)) lines)))

(defn- chosen [lines] (some #(second (re-find #"^> (\w+)" %)) lines))

(deftest a-screen-has-as-many-lines-as-the-terminal
  (doseq [rows [1 2 3 4 5 8 12 24 50 200]
          view [(view) (view :down) (view :end) (view :enter) (view :end :enter) (view :enter :end) (view \/ \x)]]
    (is (= rows (count (shown view [rows 80]))) [rows view])))

(deftest tallies-are-chosen-and-stay-in-sight
  (is (= [["Url" "Client" "Day"] "Url"] ((juxt titles chosen) (shown (view)))))
  (is (= [["Client" "Day" "Status"] "Day"] ((juxt titles chosen) (shown (view :down \j)))))
  (is (= [["Day" "Status" "Host"] "Host"] ((juxt titles chosen) (shown (view :end)))))
  (is (= "Url" (chosen (shown (view :end :up :home :up)))))
  (is (= ["Url" "Client" "Day" "Status" "Host"] (titles (shown (view) [60 80])))))

(deftest a-tally-over-time-shows-its-end
  (is (str/includes? (str/join "\n" (shown (view :down :down))) "day-29")))

(deftest an-open-tally-can-be-scrolled-to-its-end
  (let [keys-of (fn [view] (keep #(re-find #"url-\d+" %) (shown view)))]
    (is (= (map #(str "url-" %) (range 18)) (keys-of (view :enter))))
    (is (= "url-11" (first (keys-of (view :enter :down :page-down)))))
    (is (= ["url-39"] (keys-of (view :enter :end))))
    (is (= "url-0" (first (keys-of (view :enter :end :home :up)))))
    (is (= (shown (view)) (shown (view :enter :down :escape))))
    (is (str/includes? (peek (shown (view :enter))) "1-18 of 40"))))

(deftest sorting-goes-from-column-to-column
  (is (= "url-39" (re-find #"url-\d+" (str/join (shown (view :enter \s))))) "by bytes")
  (is (= "url-0" (re-find #"url-\d+" (str/join (shown (view :enter \s \s))))) "by hits again")
  (testing "and requests the largest rows"
    (let [tallies [{:name "url", :by ["url"], :rank "hits", :top 3} {:name "day", :by ["day"], :top 3}]
          sorts {:sorts {"url" "bytes", "day" "bytes"}}]
      (is (= [{:name "url", :by ["url"], :rank "bytes", :top 1000} {:name "day", :by ["day"], :top 1000}] (screen/shaped sorts tallies))))))

(deftest a-filter-keeps-rows-by-their-keys
  (let [typed (view :enter \/ \L \- \1)]
    (is (str/starts-with? (peek (shown typed)) "/L-1_  Enter keeps"))
    (is (= 11 (count (filter #(re-find #"url-1" %) (shown typed)))))
    (is (= (:filter typed) (:filter (screen/pressed typed :enter result))))
    (is (= "L-" (:filter (screen/pressed typed :backspace result))))
    (is (= "" (:filter (screen/pressed typed :escape result))))
    (is (not (:quit? (view \/ \q))) "q is a letter then")
    (testing "and says when there are rows that it does not see"
      (is (str/starts-with? (last (screen/lines typed (assoc-in result [:tallies 0 :distinct] 1041) [24 80] false))
                            "/L-1_  in the first 1,000 rows  Enter keeps")))))

(deftest q-quits
  (is (:quit? (view \q)))
  (is (:quit? (view :down :enter \q))))

(deftest a-result-without-tallies-is-shown
  (let [empty (assoc result :tallies [] :seconds nil)]
    (is (= 10 (count (screen/lines screen/start empty [10 80] false))))
    (is (= screen/start (screen/pressed screen/start :enter empty)))))
