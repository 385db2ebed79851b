;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.html
  "A result of `skein.wf.analysis` as one page that needs nothing else from elsewhere.

  - `page`   result -> HTML

  Tallies over time are columns, all others tables with bars. A script of a few lines sorts tables and opens long ones; without it they are open. Light or dark as the reader's system is set. Pure."
  (:require
   [clojure.string :as str]
   [skein.wf.query :as query]
   [skein.wf.timeline :as timeline]
   [skein.wf.units :as units]))

(set! *warn-on-reflection* true)

(def ^:private style
  ":root{--ground:#fcfcfb;--card:#fff;--ink:#1c1c1a;--soft:#62625c;--line:#e4e4de;--bar:#2f6f9f;--bar-ground:#dfeaf2;--bad:#a8431f}
@media(prefers-color-scheme:dark){:root{--ground:#161615;--card:#1f1f1d;--ink:#ebebe6;--soft:#a3a39b;--line:#35352f;--bar:#6fb1de;--bar-ground:#243642;--bad:#e58a65}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem clamp(.75rem,3vw,2.5rem) 3rem;max-width:80rem;background:var(--ground);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.05rem;margin:0 0 .75rem;display:flex;gap:.6rem;align-items:baseline;flex-wrap:wrap}
h2 small,p.note{color:var(--soft);font-weight:400;font-size:.85rem}p{margin:.15rem 0;color:var(--soft);overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.75rem;margin:1.25rem 0}
dl div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem}
dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.3rem;font-variant-numeric:tabular-nums}dd.bad{color:var(--bad)}
main{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1rem}
section{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:1rem;min-width:0}section.wide{grid-column:1/-1}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.875rem}
th{color:var(--soft);font-weight:500;text-align:right;padding:.15rem .6rem .3rem 0;white-space:nowrap}th:last-child{text-align:left;width:100%}
td{padding:.2rem .6rem .2rem 0;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;vertical-align:top;border-top:1px solid var(--line)}
td:last-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:9rem;padding-right:0}
.scroll :is(th,td):last-child{position:sticky;right:0;background:var(--card);padding-left:.4rem}
.bar{display:block;height:.3rem;margin-top:.2rem;border-radius:.15rem;background:var(--bar-ground)}.bar i{display:block;height:100%;border-radius:.15rem;background:var(--bar)}
.columns{display:flex;align-items:flex-end;gap:clamp(0px,.2vw,3px);height:10rem;border-bottom:1px solid var(--line)}
.columns i{flex:1 1 0;min-width:1px;min-height:1px;background:var(--bar);border-radius:2px 2px 0 0}
.axis{display:flex;justify-content:space-between;color:var(--soft);font-size:.78rem;margin-top:.3rem;gap:.5rem}
details{margin-top:.75rem}summary{color:var(--soft);cursor:pointer;font-size:.85rem}
@media(max-width:46rem){main{grid-template-columns:minmax(0,1fr)}body{font-size:14px}dd{font-size:1.1rem}.columns{height:7rem}}
th.by{cursor:pointer}th.by:hover{color:var(--ink)}th.down::after{content:' ↓'}
button{margin-top:.6rem;padding:.2rem .7rem;border:1px solid var(--line);border-radius:.4rem;background:none;color:var(--soft);font:inherit;font-size:.85rem;cursor:pointer}
@media print{button{display:none}body{max-width:none}section{break-inside:avoid}}")

(def ^:private script
  "for(const table of document.querySelectorAll('section table')){
const body=table.tBodies[0],head=body.rows[0],rows=[...body.rows].slice(1),few=10;let all=rows.length<=few,button
const show=()=>{rows.forEach((row,i)=>{row.hidden=!all&&i>=few});if(button)button.textContent=all?'Fewer rows':'All '+rows.length+' rows'}
const value=(row,i)=>row.cells[i].dataset.n===undefined?row.cells[i].textContent:+row.cells[i].dataset.n
;[...head.cells].forEach((th,i)=>{th.className='by';th.title='Sort';th.onclick=()=>{const up=th.classList.contains('down')||i===head.cells.length-1&&!th.classList.contains('up')
rows.sort((a,b)=>{const x=value(a,i),y=value(b,i);return(x<y?-1:x>y?1:0)*(up?1:-1)});for(const h of head.cells)h.className='by'
th.classList.add(up?'up':'down');body.append(...rows);show()}})
if(!all){button=document.createElement('button');button.onclick=()=>{all=!all;show()};table.parentNode.after(button)}show()}")

(defn- escaped [text]
  (str/escape text {\& "&amp;" \< "&lt;" \> "&gt;" \" "&quot;"}))

(defn- percent [n most]
  (if (pos? (double most)) (format "%.1f%%" (/ (* 100.0 (double n)) (double most))) "0%"))

;;;; Tallies

(defn- rank-index [{:keys [columns rank]}]
  (max 0 (.indexOf ^java.util.List columns rank)))

(defn- values [{:keys [rows] :as tally}]
  (mapv (fn value [{:keys [numbers]}] (or (nth numbers (rank-index tally)) 0)) rows))

(defn- table [{:keys [columns rows] :as tally} bars?]
  (let [most (reduce max 0 (values tally))]
    (str "<div class=scroll><table><tr>" (str/join (map (fn head [title] (str "<th>" (escaped title))) (units/titles tally))) "<th>"
         (str/join
           (map (fn row [{:keys [key numbers]} value]
                  (str "<tr>" (str/join (map (fn cell [c n] (str "<td data-n=" (or n -1) ">" (escaped (units/shown c n)))) columns numbers))
                       "<td>" (escaped (units/label key))
                       (when bars? (str "<span class=bar><i style=\"width:" (percent value most) "\"></i></span>"))))
                rows (values tally)))
         "</table></div>")))

(defn- column-chart [{:keys [rows columns rank] :as tally}]
  (let [values (values tally)
        most (reduce max 0 values)
        label (fn label [{:keys [key]}] (escaped (units/label key)))
        shown (fn shown [n] (escaped (units/shown (nth columns (rank-index tally)) n)))
        middle (nth rows (quot (count rows) 2))]
    (str "<p class=note>up to " (shown most) " " (when-not (#{"bytes" "time"} rank) (escaped rank)) "</p>"
         "<div class=columns role=img aria-label=\"" (label (first rows)) " to " (label (last rows)) "\">"
         (str/join (map (fn column [row n] (str "<i style=\"height:" (percent n most) "\" title=\"" (label row) ": " (shown n) "\"></i>"))
                        rows values))
         "</div><div class=axis><span>" (label (first rows)) "</span>"
         (when (> (count rows) 2) (str "<span>" (label middle) "</span>"))
         "<span>" (label (last rows)) "</span></div>"
         "<details><summary>The numbers</summary>" (table tally false) "</details>")))

(defn- step-name [step]
  (let [[n unit] (some (fn fits [[seconds unit]] (when (zero? (rem (long step) (long seconds))) [(quot (long step) (long seconds)) unit])) [[86400 "day"] [3600 "hour"] [60 "minute"]])]
    (if (= 1 n) (str "each " unit) (str "in steps of " n " " unit "s"))))

(def ^:private most-columns "Of the plot over the whole time." 120)

(defn- plot
  "Requests and bytes over the whole time, in steps that fit it: minutes of an hour, days of a year."
  [{:keys [rows] :as tally}]
  (when (seq rows)
    (let [[step rows] (timeline/coarse rows most-columns)
          chart (fn chart [rank] (column-chart (assoc tally :rows rows, :rank rank, :columns ["hits" "bytes"])))]
      (str "<section class=wide><h2>Requests <small>" (step-name step) "</small></h2>" (chart "hits") "</section>\n"
           "<section class=wide><h2>Bytes sent <small>" (step-name step) "</small></h2>" (chart "bytes") "</section>\n"))))

(defn- section [{:keys [title distinct rows rank error distinct-error columns] :as tally}]
  (let [chart? (and (query/over-time? tally) (> (count rows) 2))]
    (str "<section" (when (or (> (count columns) 4) (and chart? (> (count rows) 24))) " class=wide") "><h2>" (escaped title) " <small>"
         (when (< (count rows) (long distinct)) (str (units/grouped (count rows)) " of "))
         (when error "about ") (units/grouped distinct)
         (when-not (#{"hits" "count"} rank) (str ", by " (escaped rank)))
         "</small></h2>"
         (cond (empty? rows) "<p>none</p>"
               chart? (column-chart tally)
               :else (table tally true))
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

(defn page
  "Returns a result as a page: totals, then every tally."
  [{:keys [formats seconds tallies malformed-kinds] :as result}]
  (let [inputs (mapcat :inputs formats)
        names (str (str/join ", " (take 5 inputs)) (when (> (count inputs) 5) (str " and " (- (count inputs) 5) " more")))]
    (str "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">"
         "<meta name=color-scheme content=\"light dark\"><title>Site report</title>\n<style>" style "</style>\n"
         "<h1>Site report</h1>\n<p>" (escaped (units/printable names)) "</p>"
         (when-let [[from to] seconds] (str "<p>" (units/clock from) " to " (units/clock to) "</p>"))
         "\n" (totals result)
         (when (seq malformed-kinds)
           (str "<p>Malformed lines, by the field at which they depart from the format: "
                (escaped (str/join ", " (map (fn kind [[k n]] (str k " " (units/grouped n))) (sort-by (comp - val) malformed-kinds))))
                "</p>\n<br>\n"))
         "<main>\n" (str/join (map #(if (= (:name query/plot) (:name %)) (plot %) (section %)) tallies)) "</main>\n<script>" script "</script>\n")))
