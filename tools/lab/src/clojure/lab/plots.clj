;; SPDX-License-Identifier: Apache-2.0
(ns lab.plots
  "Measurements as Vega-Lite plots, which are data: https://vega.github.io/vega-lite/. page.js adds width and colours.

  A plot of an experiment is a map:

    :kind     :lines of the figure by :x, or :bars, which are points on a logarithmic scale
    :x        the title of the x axis, for :lines
    :y        :row or :column: each has a bar, for :bars
    :color    :column; without it Skein's bars are highlighted
    :panel    :row, :column or :panel: each value of it has a plot; values of :panel are sorted by their leading number
    :where    {:form text, :x-to number}: selects measurements
    :log?     a logarithmic scale
    :title")

(set! *warn-on-reflection* true)

(defn- wanted? [{:keys [form x-to]} m]
  (and (:value m) (not (:error m))
       (or (nil? form) (= form (:form m)))
       (or (nil? x-to) (<= (long (:x m)) (long x-to)))))

(defn- ours? [title] (boolean (re-find #"(?i)^skein" title)))

(defn- series
  "Returns the names that have colours: all columns, or Skein and others."
  [{:keys [kind color]} measurements]
  (if (or color (= :lines kind))
    (vec (distinct (map :column measurements)))
    ["Skein" "others"]))

(defn- published
  "Returns the measurements of a series called published, for the rows whose published figure is in milliseconds."
  [experiment measurements]
  (for [m (vals (into {} (map (juxt :row identity)) measurements))
        :let [ms (some->> (get (:published experiment) (:row m)) (re-matches #"([\d.]+) ms") second parse-double)]
        :when ms]
    (assoc m :column "published" :value ms :threads nil)))

(defn- row-of [{:keys [kind y color]} m]
  (cond-> {:value (:value m), :unit (:unit m), :row (:row m), :column (:column m), :threads (:threads m)}
    (= :lines kind) (assoc :x (:x m) :series (:column m))
    (= :bars kind) (assoc :y (y m) :series (if color (color m) (if (ours? (y m)) "Skein" "others")))))

(defn- scale [log?] (if log? {:type "log"} {:zero true}))

(def ^:private round-numbers "The grid lines of a logarithmic axis."
  (into [0] (for [power (range 0 9), digit [1 3]] (* digit (reduce * (repeat power 10))))))

(def ^:private tooltip
  [{:field "row", :title "case"} {:field "column", :title "contestant"}
   {:field "value", :type "quantitative", :format ".3~s", :title "figure"} {:field "unit"}])

(defn- color [names]
  {:field "series", :type "nominal", :title nil, :scale {:domain names}
   :legend (when (next names) {:orient "top", :columns 2, :labelLimit 260})})

(defn- log-ticks [xs] (if (< (count xs) 9) xs round-numbers))

(defn- lines-spec [{:keys [x xs log?]} names unit]
  {:mark {:type "line", :point {:size 45, :filled true}}
   :height 240
   :encoding {:x {:field "x", :type "quantitative", :title x
                  :scale (cond (and log? (some #{0} xs)) {:type "symlog", :constant 10} log? {:type "log", :nice false} :else {:zero false, :nice false})
                  :axis (merge {:tickCount 8, :format "d", :labelOverlap "greedy"} (when log? {:values (log-ticks xs)}))}
              :y {:field "value", :type "quantitative", :title unit, :scale (scale log?)
                  :axis (if log? {:values round-numbers, :labelOverlap true} {:tickCount 6})}
              :color (color names)
              :shape {:field "series", :type "nominal", :title nil, :scale {:domain names}, :legend nil}
              :tooltip tooltip}})

(defn- bars-spec
  "Returns the mark. Bars begin at zero, which a logarithmic scale does not have, so there the mark is a point."
  [{:keys [color? log?]} names unit]
  {:mark (if log? {:type "point", :filled true, :size 80, :opacity 1} {:type "bar", :cornerRadiusEnd 2})
   :height {:step (if color? 15 22)}
   :encoding (cond-> {:y {:field "y", :type "nominal", :sort nil, :title nil}
                      :x {:field "value", :type "quantitative", :title unit, :scale (scale log?)
                          :axis (if log? {:values round-numbers, :labelOverlap true, :labelSeparation 6}
                                  {:tickCount 5, :labelOverlap "greedy", :labelSeparation 6})}
                      :color (color names)
                      :tooltip tooltip}
               log? (assoc :shape {:field "series", :type "nominal", :title nil, :scale {:domain names}, :legend nil})
               color? (assoc :yOffset {:field "series", :type "nominal", :scale {:domain names}}))})

(defn- spec [{:keys [kind] :as plot} names measurements]
  (let [unit (:unit (first measurements))]
    (assoc (case kind
             :lines (lines-spec (assoc plot :xs (sort (distinct (map :x measurements)))) names unit)
             :bars (bars-spec (assoc plot :color? (boolean (:color plot))) names unit))
           :data {:values (mapv #(row-of plot %) measurements)})))

(defn- panels
  "Returns [[name measurements]], one for each plot."
  [panel measurements]
  (cond->> (map (juxt identity (group-by panel measurements)) (distinct (map panel measurements)))
    (= :panel panel) (sort-by (fn [[title]] (parse-long (re-find #"^\d+" title))))))

(defn- of-plot [{:keys [kind where panel title] :as plot} experiment measurements]
  (let [measured (filter #(wanted? where %) measurements)
        wanted (if (= :lines kind) (concat measured (sort-by :x (published experiment measured))) measured)
        names (series plot wanted)]
    (for [[panel-name part] (if panel (panels panel wanted) [[nil wanted]])
          :when (seq part)]
      {:title (if panel (str panel-name (when title (str ": " title))) title)
       :spec (spec plot names part)})))

(defn plots
  "Returns the plots of an experiment, [{:title text or nil, :spec map}]; those without figures are left out."
  [experiment measurements]
  (vec (mapcat #(of-plot % experiment measurements) (:plots experiment))))
