;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.verbose
  "The functions in the expansions of `printfv`, `printlnv`, `condv`, `ifv` and `p`."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.impl.expand :as expand]
   [skein.trace.call :as call]
   [skein.trace.event :as event]
   [skein.trace.sink :as sink]))

(set! *warn-on-reflection* true)

(defn verbose?
  "Returns whether `level`, a value of *verbose*, includes `tag`, or code without a tag if `tag` is nil."
  [level tag]
  (boolean (cond
             (set? level) (and tag (contains? level tag))
             :else level)))

(defn say!
  "Sends `text` to the sinks as a line with the place `site`, {:file :line}. Returns nil."
  [site ^String text]
  (let [line (if (.endsWith text "\n") (subs text 0 (dec (.length text))) text)]
    (event/quietly
      (fn say [] (event/emit! (sink/standard-sinks) (event/about :verbose (assoc site :value line))))))
  nil)

(defn fired!
  "Says that `clause` of a condv or ifv has fired and gave `value`. Returns `value`."
  [site clause value]
  (say! site (str clause " => " (event/quietly (fn shown [] (call/text value)))))
  value)

(defn site-of
  "Returns {:file :line} of a macro call in the source."
  [form]
  {:file *file*, :line (:line (meta form))})

(def ^:private own-macros '#{condv ifv})

(defn- leaves-tail?
  "Returns whether `form` recurs to a loop or function around it, or contains a condv or ifv, which must
  not be compiled twice."
  [env form]
  (letfn [(recurs? [form]
            (cond
              (seq? form) (case (first form)
                            recur true
                            (fn* loop* quote reify* deftype*) false
                            (some recurs? form))
              (coll? form) (some recurs? form)))]
    (or (some (fn own? [x] (and (symbol? x) (own-macros (symbol (name x))))) (tree-seq coll? seq form))
        (recurs? (:form (expand/expand env form))))))

(defn clause-form
  "Returns the form of a clause that has fired. `form` is in tail position unless verbose. If verbose, its
  value is printed too, unless `leaves-tail?` forbids that."
  [env site level-form text form]
  (if (leaves-tail? env form)
    `(do (when ~level-form (say! ~site ~text))
         ~form)
    `(if ~level-form
       (fired! ~site ~text ~form)
       ~form)))

(defn check-clauses!
  "Throws :skein/bad-condv if the clauses are not pairs."
  [form clauses]
  (when (odd? (count clauses))
    (error/fail! :skein/bad-condv
                 (str "condv takes pairs of a test and a value, but there are " (count clauses) " forms in "
                      (error/preview form) ". Write :else before the last one if it is the default.")
                 (expand/location form))))
