;; SPDX-License-Identifier: Apache-2.0
(ns lab.plots
  "Measurements as Vega-Lite plots, which are data: https://vega.github.io/vega-lite/. lab/page.js adds width and colours.

  A plot of an experiment is a map:

    :kind     :lines, of the figure by :x; or :bars
    :x        the title of that axis, of :lines
    :y        :row or :column: what has a bar, of :bars
    :color    :column, or nothing: then Skein's bars stand out
    :panel    :row, :column or :panel: a plot for each value of it
    :where    {:form text, :x-to number}: which measurements, if not all
    :log?     a logarithmic scale
    :title")

(set! *warn-on-reflection* true)

(defn- wanted? [{:keys [form x-to]} m]
  (and (:value m) (not (:error m))
       (or (nil? form) (= form (:form m)))
       (or (nil? x-to) (<= (long (:x m)) (long x-to)))))

(defn- ours? [title] (boolean (re-find #"(?i)^skein" title)))

(defn- series
  "The names among which colours tell: all columns, or Skein and others."
  [{:keys [kind color]} measurements]
  (if (or color (= :lines kind))
    (vec (distinct (map :column measurements)))
    ["Skein" "others"]))

(defn- row-of [{:keys [kind y color]} m]
  (cond-> {:value (:value m), :unit (:unit m), :row (:row m), :column (:column m), :threads (:threads m)}
    (= :lines kind) (assoc :x (:x m) :series (:column m))
    (= :bars kind) (assoc :y (y m) :series (if color (color m) (if (ours? (y m)) "Skein" "others")))))

(defn- scale [log?] (if log? {:type "log"} {:zero true}))

(def ^:private tooltip
  [{:field "row", :title "case"} {:field "column", :title "contestant"}
   {:field "value", :type "quantitative", :format ".3~s", :title "figure"} {:field "unit"}])

(defn- color [names]
  {:field "series", :type "nominal", :title nil, :scale {:domain names}
   :legend (when (next names) {:orient "top", :columns 2, :labelLimit 260})})

(defn- lines-spec [{:keys [x log?]} names unit wide?]
  {:mark {:type "line", :point {:size 45, :filled true}}
   :height 240
   :encoding {:x {:field "x", :type "quantitative", :title x,
                  :scale (if wide? {:type "symlog", :constant 10} {:zero false, :nice false})
                  :axis {:tickCount 8, :format "d", :labelOverlap true}}
              :y {:field "value", :type "quantitative", :title unit, :scale (scale log?)}
              :color (color names)
              :shape {:field "series", :type "nominal", :title nil, :scale {:domain names}, :legend nil}
              :tooltip tooltip}})

(defn- bars-spec [{:keys [color? log?]} names unit]
  {:mark {:type "bar", :cornerRadiusEnd 2}
   :height {:step (if color? 15 22)}
   :encoding (cond-> {:y {:field "y", :type "nominal", :sort nil, :title nil}
                      :x {:field "value", :type "quantitative", :title unit, :scale (if log? {:type "log"} {:zero true}),
                          :axis {:tickCount 5, :labelOverlap true}}
                      :color (color names)
                      :tooltip tooltip}
               log? (assoc :x2 {:datum 1})
               color? (assoc :yOffset {:field "series", :type "nominal", :scale {:domain names}}))})

(defn- spec [{:keys [kind log? x] :as plot} names measurements]
  (let [unit (:unit (first measurements))]
    (assoc (case kind
             :lines (lines-spec plot names unit (and log? x))
             :bars (bars-spec (assoc plot :color? (boolean (:color plot))) names unit))
           :data {:values (mapv #(row-of plot %) measurements)})))

(defn- of-plot [{:keys [where panel title] :as plot} measurements]
  (let [wanted (filter #(wanted? where %) measurements)
        names (series plot wanted)]
    (for [[panel-name part] (if panel (sort-by #(.indexOf ^java.util.List (mapv panel wanted) (key %)) (group-by panel wanted))
                                {nil wanted})
          :when (seq part)]
      {:title (if panel (str panel-name (when title (str ": " title))) title)
       :spec (spec plot names part)})))

(defn plots
  "Returns the plots of an experiment, [{:title text or nil, :spec map}]; those without figures are left out."
  [experiment measurements]
  (vec (mapcat #(of-plot % measurements) (:plots experiment))))
