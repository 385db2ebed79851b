;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.screen
  "The live view of `skein wf --follow`: what it shows, and what keys do. Pure.

  - `start`    the first view
  - `pressed`  a view, a key and a result -> the view after it
  - `shaped`   a view, tallies of a query -> the tallies that the view needs
  - `lines`    a view, a result and a size -> the lines of the screen

  A view is a map:

  :panel    the number of the tally that is selected
  :open?    whether that tally fills the screen; :row is then its first row shown
  :filter   a text that the keys of rows must contain
  :typing?  whether the user is typing the filter
  :sorts    {name column}, the column by which a tally is sorted
  :quit?    whether the user has pressed q
  :said     a text that is shown until a key is pressed"
  (:require
   [clojure.string :as str]
   [skein.wf.query :as query]
   [skein.wf.text :as text]
   [skein.wf.units :as units]))

(set! *warn-on-reflection* true)

(def start
  "The first view."
  {:panel 0, :open? false, :row 0, :filter "", :typing? false, :sorts {}})

(def ^:private rows-to-scroll
  "How many rows of a tally can be scrolled through."
  1000)

;;;; Tallies

(defn shaped
  "Returns the tallies of a query with enough rows to scroll through, sorted as the view asks."
  [{:keys [sorts]} tallies]
  (mapv (fn shape [{:keys [name] :as tally}]
          (cond-> (assoc tally :top rows-to-scroll)
            (and (sorts name) (not (query/over-time? tally))) (assoc :rank (sorts name))))
        tallies))

(defn- sorted
  "Sorts the rows of this result, which are the largest by the old order. The next result has the largest by the new one."
  [{:keys [name columns rank] :as tally} {:keys [sorts]}]
  (let [column (sorts name)
        place (.indexOf ^java.util.List columns column)
        order (fn order [{:keys [numbers]}] (- (double (or (nth numbers place) 0))))]
    (cond-> tally
      (and column (or (not= column rank) (query/over-time? tally))) (assoc :rank column, :rows (sort-by order (:rows tally))))))

(defn- matching [tally {:keys [filter]}]
  (cond-> tally
    (seq filter) (update :rows (fn keep [rows] (filterv #(str/includes? (str/lower-case (units/label (:key %))) (str/lower-case filter)) rows)))))

(defn- panels [{:keys [tallies]} view]
  (mapv #(-> % (sorted view) (matching view)) tallies))

(defn- next-column [{:keys [columns rank]}]
  (nth columns (mod (inc (.indexOf ^java.util.List columns rank)) (count columns))))

;;;; Keys

(defn- type-key [{:keys [filter] :as view} key]
  (case key
    :enter (assoc view :typing? false)
    :escape (assoc view :typing? false, :filter "")
    :backspace (update view :filter subs 0 (max 0 (dec (count filter))))
    (cond-> view (char? key) (update :filter str key))))

(defn- scroll
  "Scrolls by rows in an open tally, otherwise moves from tally to tally."
  [{:keys [open?] :as view} tallies by]
  (if open?
    (let [n (count (:rows (nth tallies (:panel view))))]
      (update view :row (fn move [row] (max 0 (min (dec n) (+ (long row) (long by)))))))
    (update view :panel (fn move [panel] (max 0 (min (dec (count tallies)) (+ (long panel) (long by))))))))

(defn- sort-next [view {:keys [name] :as tally}]
  (-> view (assoc-in [:sorts name] (next-column tally)) (assoc :row 0)))

(defn pressed
  "Returns the view after a key: a character, or one of :up :down :page-up :page-down :home :end :left :right :enter :escape :backspace."
  [view key result]
  (let [{:keys [typing? open? panel] :as view} (dissoc view :said)
        tallies (panels result view)]
    (cond
      typing? (assoc (type-key view key) :row 0)
      (= \q key) (assoc view :quit? true)
      (= \/ key) (assoc view :typing? true, :filter "")
      (empty? tallies) view
      :else (case key
              (:up \k) (scroll view tallies -1)
              (:down \j \tab) (scroll view tallies 1)
              :page-up (scroll view tallies -10)
              (:page-down \space) (scroll view tallies 10)
              (:home \g) (scroll view tallies (- (long rows-to-scroll)))
              (:end \G) (scroll view tallies rows-to-scroll)
              (:enter :right \l) (assoc view :open? true, :row 0)
              (:escape :left \h) (if open? (assoc view :open? false) (assoc view :filter ""))
              \s (sort-next view (nth tallies panel))
              view))))

;;;; The screen

(def ^:private head-lines "Lines above the first tally." 2)
(def ^:private tally-lines "Lines of a tally in addition to its rows: a blank one, its title, the names of its columns." 3)
(def ^:private least-rows 3)

(defn- help [{:keys [open? typing?]} shown]
  (cond
    typing? "Enter keeps the filter, Esc drops it"
    open? (str "↑ ↓ PgUp PgDn scroll  s sort  / filter  Esc back  q quit" shown)
    :else (str "↑ ↓ move  Enter open  s sort  / filter  q quit" shown)))

(defn- searched
  "Returns a note on the rows to which the filter applies, or nil if it applies to all."
  [{:keys [tallies]}]
  (when (some (fn cut? [{:keys [rows distinct]}] (< (count rows) (long (or distinct 0)))) tallies)
    (str "in the first " (units/grouped rows-to-scroll) " rows  ")))

(defn- foot [{:keys [filter typing? said] :as view} result shown]
  (str (when said (str said "  "))
       (when (or typing? (seq filter)) (str "/" (units/printable filter) (when typing? "_") "  " (searched result)))
       (help view shown)))

(defn- marked
  "Returns the lines of a tally, with a mark at its title if it is selected."
  [lines chosen?]
  (cons (first lines) (cons (str (if chosen? "> " "  ") (second lines)) (drop 2 lines))))

(defn- overview
  "Shows as many tallies as fit, including the selected one. Each has its first rows, or its last ones if it is over time."
  [tallies {:keys [panel sorts]} room draw]
  (let [n (max 1 (min (count tallies) (quot room (+ (long tally-lines) (long least-rows)))))
        rows (max 1 (- (quot room n) (long tally-lines)))
        first-shown (max 0 (min (- (long panel) (quot n 2)) (- (count tallies) n)))
        shorter (fn shorter [{:keys [name] :as tally}]
                  (update tally :rows (if (and (query/over-time? tally) (not (sorts name))) #(take-last rows %) #(take rows %))))]
    [(mapcat (fn panel-lines [i tally] (marked (draw (shorter tally)) (= i panel)))
       (range first-shown (+ first-shown n)) (subvec tallies first-shown (+ first-shown n)))
     (when (< n (count tallies)) (str "  " (inc first-shown) "-" (+ first-shown n) " of " (count tallies)))]))

(defn- opened [tallies {:keys [panel row]} room draw]
  (let [{all :rows :as tally} (nth tallies panel)
        rows (take (max 1 (- (long room) (long tally-lines))) (drop row all))]
    [(draw (assoc tally :rows rows)) (when (seq rows) (str "  " (inc (long row)) "-" (+ (long row) (count rows)) " of " (count all)))]))

(defn lines
  "Returns the lines of the screen, at most `rows`; some may be longer than a line of the terminal."
  [{:keys [open? panel] :as view} result [rows columns] color?]
  (let [tallies (panels result view)
        view (assoc view :panel (max 0 (min (long panel) (dec (count tallies)))))
        room (- (long rows) (long head-lines) 1)
        draw (fn draw [tally] (text/tally-lines tally color? columns))
        [body shown] (cond (empty? tallies) nil, open? (opened tallies view room draw), :else (overview tallies view room draw))
        head (text/head-lines result)]
    (if (< (long rows) 4)
      (take rows (concat head (repeat "")))
      (concat (take head-lines (concat head (repeat "")))
              (take room (concat body (repeat "")))
              [(foot view result shown)]))))
