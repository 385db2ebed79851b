;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.html
  "A result of `skein.wf.analysis` as a page.

  - `page`    result -> HTML that needs no other file
  - `report`  result -> the same for the page of --serve, which has script and style in files
  - `files`   those files

  Tallies over time are columns, all others tables with bars. A script sorts tables and opens long ones; without it they are open. The page
  follows the light or dark mode of the reader's system. Pure."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.wf.query :as query]
   [skein.wf.text :as text]
   [skein.wf.timeline :as timeline]
   [skein.wf.units :as units])
  (:import
   (java.util Locale)))

(set! *warn-on-reflection* true)

(defn- text-of [name]
  (slurp (io/resource (str "skein/wf/page/" name)) :encoding "UTF-8"))

(defn- escaped [text]
  (str/escape text {\& "&amp;" \< "&lt;" \> "&gt;" \" "&quot;"}))

(defn- percent
  "Returns `n` as a percentage of `most`, with a decimal point in every locale."
  ([n most] (percent "%.1f%%" n most))
  ([digits n most]
   (if (pos? (double most)) (String/format Locale/ROOT digits (object-array [(/ (* 100.0 (double n)) (double most))])) "0%")))

;;;; Tallies

(defn- rank-index [{:keys [columns rank]}]
  (max 0 (.indexOf ^java.util.List columns rank)))

(defn- values [{:keys [rows] :as tally}]
  (mapv (fn value [{:keys [numbers]}] (or (nth numbers (rank-index tally)) 0)) rows))

(def ^:private ^:const few "How many rows of a table are shown before it is opened." 10)

(defn- by-column
  "Returns the sort value of a row in column `i`; the key comes after the numbers."
  [i {:keys [key numbers]}]
  (if (< (long i) (count numbers)) (or (nth numbers i) -1) (units/label key)))

(defn- wanted-rows
  "Returns the rows that the reader wants to see, each with its value; if `want` is nil, all of them in their order."
  [{:keys [rows columns] :as tally} {:keys [by up? all?] :as want}]
  (let [pairs (map vector rows (values tally))]
    (cond->> pairs
      (and by (<= 0 (long by) (count columns))) (sort-by (comp (partial by-column by) first) (if up? compare (fn down [a b] (compare b a))))
      (and want (not all?)) (take few))))

(defn- table [{:keys [columns by] :as tally} want bars?]
  (let [most (reduce max 0 (values tally))
        head (fn head [title] (str "<th><button>" (escaped title) "</button>"))]
    (str "<div class=scroll><table><thead><tr>" (str/join (map head (units/titles tally))) (head (if (seq by) (str/join "+" by) "key")) "<tbody>"
         (str/join
           (map (fn row [[{:keys [key numbers]} value]]
                  (str "<tr>" (str/join (map (fn cell [c n] (str "<td data-n=" (or n -1) ">" (escaped (units/shown c n)))) columns numbers))
                       "<td>" (escaped (units/label key))
                       (when bars? (str "<svg class=bar aria-hidden=true><rect height=\"100%\" width=\"" (percent value most) "\"/></svg>"))))
                (wanted-rows tally want)))
         "</table></div><button class=all hidden></button>")))

(defn- column
  "Returns column `i` of a plot of `n` columns. `part`, from 0 to 1, is its height."
  [i n part title]
  (let [place (partial percent "%.3f%%")]
    (str "<rect x=\"" (place i n) "\" y=\"" (percent (- 1.0 (double part)) 1) "\" width=\"" (place 0.85 n) "\" height=\"" (percent part 1)
         "\"><title>" title "</title></rect>")))

(defn- column-chart [{:keys [rows columns rank] :as tally} want]
  (let [values (values tally)
        most (reduce max 0 values)
        label (fn label [{:keys [key]}] (escaped (units/label key)))
        shown (fn shown [n] (escaped (units/shown (nth columns (rank-index tally)) n)))
        middle (nth rows (quot (count rows) 2))]
    (str "<p class=note>up to " (shown most) " " (when-not (#{"bytes" "time"} rank) (escaped rank)) "</p>"
         "<svg class=columns role=img aria-label=\"" (label (first rows)) " to " (label (last rows)) "\">"
         (str/join (map (fn each [i row n] (column i (count rows) (if (pos? (double most)) (/ (double n) (double most)) 0.0) (str (label row) ": " (shown n))))
                     (range) rows values))
         "</svg><div class=axis><span>" (label (first rows)) "</span>"
         (when (> (count rows) 2) (str "<span>" (label middle) "</span>"))
         "<span>" (label (last rows)) "</span></div>"
         "<details><summary>The numbers</summary>" (table tally want false) "</details>")))

(defn- step-name [step]
  (let [[n unit] (some (fn fits [[seconds unit]] (when (zero? (rem (long step) (long seconds))) [(quot (long step) (long seconds)) unit])) [[86400 "day"] [3600 "hour"] [60 "minute"]])]
    (if (= 1 n) (str "each " unit) (str "in steps of " n " " unit "s"))))

(def ^:private most-columns "The most columns of the plot over the whole time." 120)

(defn- begin-section
  "Returns the start of a section: its name, under which the script remembers the reader's settings, and its number of rows."
  [id rows wide?]
  (str "<section id=" id (when (seq rows) (str " data-rows=" (count rows))) (when wide? " class=wide") " data-key=" id ">"))

(defn- plot
  "Returns plots of requests and bytes over the whole time, in steps that fit it: minutes of an hour, weeks of a year."
  [{:keys [rows] :as tally} id wants]
  (when (seq rows)
    (let [[step rows] (timeline/coarse rows most-columns)
          section (fn section [title rank]
                    (let [id (str id rank)]
                      (str (begin-section id rows true) "<h2>" title " <small>" (step-name step) "</small></h2>"
                           (column-chart (assoc tally :rows rows, :rank rank, :columns ["hits" "bytes"]) (when wants (wants id {}))) "</section>\n")))]
      (str (section "Requests" "hits") (section "Bytes sent" "bytes")))))

(defn- section [{:keys [title distinct rows rank error distinct-error columns] :as tally} id wants]
  (let [chart? (and (query/over-time? tally) (> (count rows) 2))
        want (when wants (wants id {}))]
    (str (begin-section id rows (or (> (count columns) 4) (and chart? (> (count rows) 24)))) "<h2>" (escaped title) " <small>"
         (units/extent tally)
         (cond (< (count rows) (long distinct)) (str ", those with the most " (escaped rank))
               (not (#{"hits" "count"} rank)) (str ", by " (escaped rank)))
         "</small></h2>"
         (cond (empty? rows) "<p>none</p>"
               chart? (column-chart tally want)
               :else (table tally want true))
         (str/join (for [sentence [(text/without-key tally) (text/without-duration tally)], :when sentence] (str "<p class=note>" (escaped sentence) "</p>")))
         (when error (str "<p class=note>approximate: each row may have up to " (units/missing tally) " more</p>"))
         (when distinct-error (str "<p class=note>distinct is an estimate, with a standard error of " (units/percentage distinct-error) "</p>"))
         "</section>\n")))

;;;; The page

(defn- total [title text bad?]
  (str "<div><dt>" title "</dt><dd" (when bad? " class=bad") ">" (escaped text) "</dd></div>"))

(defn- totals [{:keys [lines counted filtered malformed bytes]}]
  (str "<dl>" (total "lines" (units/grouped lines) false) (total "counted" (units/grouped counted) false)
       (total "filtered" (units/grouped filtered) false) (total "malformed" (units/grouped malformed) (pos? (long malformed)))
       (total "sent" (units/size bytes) false) "</dl>\n"))

(defn- body
  "Returns the contents of the page. `wants` is the reader's settings of each section, or nil for all."
  [{:keys [formats seconds tallies malformed-kinds] :as result} wants]
  (let [inputs (mapcat :inputs formats)
        names (str (str/join ", " (take 5 inputs)) (when (> (count inputs) 5) (str " and " (- (count inputs) 5) " more")))]
    (str "<h1>Site report</h1>\n<p>" (escaped (units/printable names)) "</p>"
         (when-let [[from to] seconds] (str "<p>" (units/clock from) " to " (units/clock to) "</p>"))
         "\n" (totals result)
         (when (seq malformed-kinds)
           (str "<p>Malformed lines, by the field at which they depart from the format: "
                (escaped (str/join ", " (map (fn kind [[k n]] (str k " " (units/grouped n))) (sort-by (comp - val) malformed-kinds))))
                "</p>\n<br>\n"))
         "<main>\n"
         (str/join (map-indexed (fn each [i tally]
                                  ((if (= (:name query/plot) (:name tally)) plot section) tally (str "t" i) wants))
                                tallies))
         "</main>\n")))

(defn page
  "Returns a result as a page: totals, then every tally."
  [result]
  (str "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">"
       "<meta name=color-scheme content=\"light dark\"><title>Site report</title>\n<style>" (text-of "report.css") "</style>\n"
       (body result nil) "<script>" (text-of "report.js") "</script>\n"))

(defn report
  "Returns a result as HTML for the page of --serve.

  wants  {section-id {:by column, :up? whether the least is first, :all? whether it is open}}; a table that is not open has ten rows"
  [result wants]
  (str "<!doctype html>\n<html lang=en><title>Site report</title><body>\n" (body result wants)))

(def files
  "The files of the page of --serve, by path: what `skein.page/resource` takes."
  {"/" "skein/wf/page/live.html", "/report.css" "skein/wf/page/report.css", "/report.js" "skein/wf/page/report.js", "/live.js" "skein/wf/page/live.js"})
