;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.json
  "Reads dumps that were written as JSON.

  * `read-dump`

  JSON has no keywords and no symbols, so the key of a string tells whether it was a keyword or a symbol."
  {:no-doc true}
  (:require
   [clojure.data.json :as json]
   [clojure.java.io :as io]
   [skein.impl.error :as error]
   [skein.inspect.snapshot :as snapshot])
  (:import
   (java.io EOFException IOException)))

(set! *warn-on-reflection* true)

(def ^:private keywords
  "The keys whose values are keywords."
  #{:state :op :kind :reason :unit})

(def ^:private places
  "The keys of places in the source, whose values stay strings."
  #{:site :older})

(defn- restored
  "Returns `x`, the value of `k`, as it was before it was written."
  [k x]
  (cond
    (places k) x
    (map? x) (into {} (map (fn entry [[k v]] [k (restored k v)])) x)
    (sequential? x) (mapv (partial restored nil) x)
    (and (string? x) (keywords k)) (keyword x)
    (and (string? x) (= :type k)) (symbol x)
    :else x))

(defn read-dump
  "Returns the snapshot that `skein.inspect/dump!` has written to a JSON file. Throws :skein/file."
  [path]
  (let [fail (fn fail [why]
               (error/fail! [:skein/file (if (.exists (io/file path)) :foreign :missing)] (str path " is not a dump of the inspector: " why) {:path (str path)}))
        x (try (with-open [in (io/reader path :encoding "UTF-8")] (json/read in :key-fn keyword))
               (catch EOFException _ (fail "it ends too early."))
               (catch IOException e (fail (ex-message e)))
               (catch Exception e (fail (str "it is not JSON (" (ex-message e) ").")))
               (catch StackOverflowError _ (fail "it is nested too deeply.")))]
    (cond
      (not (and (map? x) (:skein/snapshot x))) (fail "it holds no snapshot.")
      (not= snapshot/version (:skein/snapshot x)) (fail (str "its version is " (:skein/snapshot x) "."))
      :else (restored nil x))))
