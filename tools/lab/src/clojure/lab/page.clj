;; SPDX-License-Identifier: Apache-2.0
(ns lab.page
  "The results as one web page, which needs no network: text, tables, plots, programs, machine.

  * `html`  the page
  * `json`  the format of its plots"
  (:require
   [clojure.string :as str]
   [lab.experiments :as experiments]
   [lab.figures :as figures]
   [lab.plots :as plots]))

(set! *warn-on-reflection* true)

(defn json
  "Returns data, of maps with keyword keys, vectors, strings, numbers, booleans and nil, as JSON that may stand in a page.

      (json {:a [1 \"</x>\" nil]})
      ;=> \"{\\\"a\\\":[1,\\\"\\\\u003c/x>\\\",null]}\""
  [x]
  (cond
    (map? x) (str "{" (str/join "," (for [[k v] x] (str (json (name k)) ":" (json v)))) "}")
    (or (sequential? x) (set? x)) (str "[" (str/join "," (map json x)) "]")
    (or (string? x) (keyword? x)) (str "\"" (str/escape (name x) {\" "\\\"", \\ "\\\\", \newline "\\n", \< "\\u003c"}) "\"")
    (nil? x) "null"
    (ratio? x) (str (double x))
    :else (str x)))

(defn- escape [text]
  (str/escape (str text) {\& "&amp;", \< "&lt;", \> "&gt;", \" "&quot;"}))

(defn- element [tag & content]
  (let [[attributes content] (if (map? (first content)) [(first content) (rest content)] [nil content])]
    (str "<" tag
         (apply str (for [[k v] attributes] (str " " (name k) "=\"" (escape v) "\"")))
         ">" (apply str (flatten content)) "</" tag ">\n")))

(defn- cell [{:keys [text beside error?]}]
  (element "td" {:class (cond error? "bad" beside "figure" :else "text")}
           (escape text)
           (map #(element "span" {:class "beside"} %) beside)))

(defn- table [experiment measurements]
  (let [{:keys [columns rows]} (figures/table experiment measurements)]
    (element "div" {:class "scroll", :tabindex "0", :role "region", :aria-label (str "Figures of " (:title experiment))}
             (element "table"
                      (element "thead" (element "tr" (map #(element "th" {:scope "col"} (escape %))
                                                          (concat ["" "published"] columns))))
                      (element "tbody"
                               (for [{:keys [row published cells]} rows]
                                 (element "tr" (element "th" {:scope "row"} (escape row))
                                          (element "td" {:class "published"} (escape published))
                                          (map cell cells))))))))

(defn- plot [{:keys [title spec]}]
  (element "div" {:class "plot"}
           (when title (element "h3" (escape title)))
           "<div></div>"
           (element "script" {:type "application/json"} (json spec))))

(defn- examples [measurements]
  (for [{:keys [row column example]} measurements :when example]
    (element "details" (element "summary" (escape (str row ", " column))) (element "pre" (escape example)))))

(defn- section [{:keys [experiment measurements failures reading program command]}]
  (let [{:keys [id title source protocol]} experiment]
    (element "section" {:id id}
             (element "h2" (element "a" {:href (str "#" id)} (escape (str (str/upper-case id) " " title))))
             (element "p" {:class "source"} (escape (experiments/sources source)))
             (element "p" (escape protocol))
             (when reading (element "p" {:class "reading"} (escape reading)))
             (for [{:keys [library message]} failures]
               (element "p" {:class "bad"} (escape (str library ": " message))))
             (if (seq measurements)
               [(table experiment measurements) (element "p" {:class "note"} (escape (figures/legend experiment measurements)))
                (element "div" {:class "plots"} (map plot (plots/plots experiment measurements)))
                (examples measurements)]
               (element "p" {:class "note"} "No figures."))
             (element "details" (element "summary" "The program, and how to run it alone")
                      (element "pre" (escape command))
                      (element "pre" (escape program))))))

(defn- head [title css]
  (str "<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
       "<link rel=\"icon\" href=\"data:,\">\n"
       (element "title" title) (element "style" css) "</head>\n"))

(defn html
  "Returns the page.

  results  {:machine [[what text]], :started text, :size keyword, :command text, :note text or nil,
            :experiments [{:experiment :measurements :failures [{:library :message}] :reading :program :command}]}
  assets   {:css text, :js text, :scripts [text] or nil, :missing text or nil}"
  [{:keys [machine started size command note experiments]} {:keys [css js scripts missing]}]
  (str "<!doctype html>\n<html lang=\"en\">\n"
       (head "Skein's lab" css)
       "<body>\n"
       (element "h1" "Skein’s lab")
       (element "p" "Published experiments on concurrency in Clojure, run again on old and new versions of core.async, on what Clojure and "
                "the JDK offer, and on Skein. Times depend on the machine; ratios mostly do not.")
       (apply str (for [text [note missing] :when text] (element "p" {:class "bad"} (escape text))))
       (element "nav" (for [{:keys [experiment]} experiments]
                        (element "a" {:href (str "#" (:id experiment))}
                                 (escape (str (str/upper-case (:id experiment)) " " (:title experiment))))))
       (element "dl" (for [[what text] (concat machine [["Run" (str started ", size " (name size))] ["Command" command]])]
                       [(element "dt" (escape what)) (element "dd" (escape text))]))
       (apply str (map section experiments))
       (when scripts
         (apply str (map #(element "script" %) (conj (vec scripts) js))))
       "</body>\n</html>\n"))
