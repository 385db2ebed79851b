;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.story
  "The story of a failing run: what happened, line by line."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.sim.subject :as subject])
  (:import
   (skein.sim.rt Simulation Task Task$Kind Trace$Event Trace$Kind)))

(set! *warn-on-reflection* true)

(def ^:const ^:private first-lines "How many first lines are always shown." 8)
(def ^:const ^:private last-lines "How many last lines are always shown." 16)
(def ^:const ^:private around "How many lines are shown before and after a deviation, draw or note." 3)
(def ^:const ^:private max-marked "How many deviations, draws and notes count: the last ones. A livelock has thousands." 50)
(def ^:const ^:private max-whole "The most lines that a whole story may have." 2000)

(defn- action [name-of scope? ^Trace$Event e]
  (let [on (.on e), value (.value e), scope? (scope? on)]
    (condp = (.kind e)
      Trace$Kind/SPAWN (str "spawns " (name-of on))
      Trace$Kind/TAKE (str (if scope? "waits for the end of " "<! ") (subject/port-names name-of on))
      Trace$Kind/PUT (str ">! " (subject/port-names name-of on) (when value (str " " value)))
      Trace$Kind/ALTS (str "alts! " (subject/port-names name-of on))
      Trace$Kind/POLL (str "poll! " (subject/port-names name-of on))
      Trace$Kind/OFFER (str "offer! " (subject/port-names name-of on) (when value (str " " value)))
      Trace$Kind/FAILED value
      Trace$Kind/DELIVER (str "delivers " value)
      Trace$Kind/CANCEL (str "cancels " value)
      Trace$Kind/CLOSE (str "close! " (name-of on))
      Trace$Kind/GIVES_BACK (str "gives back a permit of " (name-of on))
      Trace$Kind/TOOK (if scope? "its scope has ended" (str "has got " (or value "nil") " from " (subject/port-names name-of on)))
      Trace$Kind/WAS_PUT "its put is done"
      Trace$Kind/CANCELLED "is cancelled"
      Trace$Kind/CHOSE (str "has got " value)
      Trace$Kind/READ (str "reads " (name-of on) " = " value)
      Trace$Kind/WRITE (str "sets " (name-of on) " = " value)
      Trace$Kind/UNSET (str "compare-and-set! of " (name-of on) " fails")
      Trace$Kind/SEND (str "sends to " (name-of on))
      Trace$Kind/DREW (str "draws " value)
      Trace$Kind/NOTE value
      Trace$Kind/FAULT (str "fault " value)
      Trace$Kind/END (when (#{Task$Kind/MAIN Task$Kind/GO Task$Kind/THREAD} (.-kind (.task e))) "ends")
      nil)))

(defn- line-of [name-of scope? ^Trace$Event e]
  (condp = (.kind e)
    Trace$Kind/TIME {:time (.at e)}
    Trace$Kind/SWITCH {:deviation (name-of (.on e)) :task (.task e)}
    (when-some [text (action name-of scope? e)]
      {:task (.task e) :actions [text] :place (subject/place (.task e) (.site e))
       :note? (= Trace$Kind/NOTE (.kind e)) :drew? (= Trace$Kind/DREW (.kind e))})))

(defn- joined
  "Adds `line` to `lines`. If the last of them is of the same task and place, joins both."
  [lines {:keys [task actions note? drew?] :as line}]
  (let [before (peek lines)]
    (cond
      (nil? line) lines
      (and actions (:deviation before) (identical? task (:task before)) (nil? (:actions before)))
      (conj (pop lines) (merge before line))
      (and actions (:actions before) (identical? task (:task before))
           (or (nil? (:place line)) (= (:place before) (:place line)) (nil? (:place before)))
           (< (count (:actions before)) 4))
      (conj (pop lines) (-> before
                            (update :actions into actions)
                            (update :place #(or % (:place line)))
                            (update :note? #(or % note?))
                            (update :drew? #(or % drew?))))
      :else (conj lines line))))

(defn- ms [ns]
  (let [n (/ (double ns) 1e6)] (if (== n (Math/rint n)) (str (long n)) (str n))))

(defn- in-a-row
  "Returns the actions of a line in words. `spawns` is said once for tasks that are spawned in a row."
  [actions]
  (let [spawns? (fn [action] (str/starts-with? (str action) "spawns "))
        short (fn [before action] (if (and (spawns? before) (spawns? action)) (subs action (count "spawns ")) action))]
    (str/join ", " (map short (cons nil actions) actions))))

(defn- printed [name-of width i {:keys [task actions place time deviation drew?]}]
  (if time
    (format "   %3d  time is %s ms" i (ms time))
    (str (format (str "%s %3d  %-" width "s  ") (if (or deviation drew?) " !" "  ") i (if task (name-of task) ""))
         (format "%-52s" (if actions (in-a-row actions) "runs")) ; a step may do nothing that the story tells
         (when place (str "  " place))
         (when deviation (str "   deviation: " deviation " was next")))))

(defn- shown
  "Returns the indices of the lines that a shortened story shows, in order."
  [lines]
  (let [n (count lines)
        marked (keep-indexed (fn [i {:keys [deviation note? drew?]}] (when (or deviation note? drew?) i)) lines)]
    (into (sorted-set) (filter (fn [i] (< -1 i n)))
          (concat (range first-lines) (range (- n last-lines) n)
                  (mapcat (fn [i] (range (- i around) (+ i around 1))) (take-last max-marked marked))))))

(defn story
  "Returns the lines that tell what happened in a run whose events were kept. Unless `whole?`, leaves out lines in the middle
  that are not near a deviation, a draw or a note."
  [^Simulation sim name-of whole?]
  (let [lines (reduce joined [] (map (partial line-of name-of (subject/scopes sim)) (subject/events sim)))
        width (transduce (map (comp count name-of)) max 4 (keep :task lines))
        n (count lines)
        is (if (and whole? (<= n max-whole)) (range n) (shown lines))
        left-out (fn [n] (when (pos? n) [(str "       ... " n " more")]))]
    (mapcat (fn [before i]
              (concat (left-out (- i before 1))
                      (when (< i n) [(str/trimr (printed name-of width (inc i) (lines i)))])))
            (cons -1 is) (concat is [n]))))
