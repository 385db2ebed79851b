;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.plain
  "Wide Finder 2 in plain Clojure, on strings: the model for tests of the fast one.

  - `report`     bytes of several files -> what `skein.wf.wf2/report` says about them, all tallies in full
  - `checksum`   entries -> SHA-256 of their canonical form"
  (:require
   [clojure.string :as str])
  (:import
   (java.security MessageDigest)
   (java.util HexFormat)))

(set! *warn-on-reflection* true)

(def ^:private article #"/ongoing/When/[0-9]{3}x/[0-9]{4}/[0-9]{2}/[0-9]{2}/[^ .]+")

(defn- lines [^bytes file]
  (let [parts (str/split (String. file "ISO-8859-1") #"\n" -1)]
    (mapv #(str/replace % #"\r\z" "") (if (= "" (peek parts)) (pop parts) parts))))

(defn- bump [tallies tally k n]
  (update-in tallies [tally k] (fnil + 0) n))

(defn- referrer [field]
  (let [text (if (str/starts-with? field "\"") (subs field 1) field)]
    (if (str/ends-with? text "\"") (subs text 0 (dec (count text))) text)))

(defn- count-hit [tallies [client _ _ _ _ _ url _ _ _ ref]]
  (let [ref (referrer ref)]
    (cond-> (-> tallies (bump :url-hits url 1) (bump :clients client 1))
      (not (or (= ref "-") (str/starts-with? ref "http://www.tbray.org/ongoing/"))) (bump :refs ref 1))))

(defn- count-line [tallies line]
  (let [[_ _ _ _ _ method url _ status size :as fields] (str/split line #" " -1)
        tallies (update tallies :lines inc)]
    (cond
      (< (count fields) 11) (update tallies :malformed inc)
      (not (and (= method "\"GET") (#{"200" "304" "404"} status))) (update tallies :ignored inc)
      (not (re-matches #"-|[0-9]{1,15}" size)) (update tallies :malformed inc)
      (= status "404") (-> tallies (update :counted inc) (bump :s404s url 1))
      :else (cond-> (-> tallies
                        (update :counted inc)
                        (bump :url-bytes url (if (= size "-") 0 (parse-long size))))
              (re-matches article url) (count-hit fields)))))

(defn checksum
  "Returns the SHA-256 of `VALUE TAB KEY LF` over `entries`, in hexadecimal."
  [entries]
  (let [text (apply str (mapcat (fn [[k n]] [n "\t" k "\n"]) entries))
        digest (MessageDigest/getInstance "SHA-256")]
    (.formatHex (HexFormat/of) (.digest digest (.getBytes ^String text "ISO-8859-1")))))

(defn- ranked [tally]
  (let [entries (vec (sort-by (fn [[k n]] [(- (long n)) k]) tally))]
    {:distinct (count entries)
     :total (reduce + (map second entries))
     :checksum (checksum entries)
     :top entries}))

(defn report
  "Returns the report over `files`, a seq of byte arrays, with every entry of every tally in its :top."
  [files]
  (let [start (merge {:lines 0, :malformed 0, :ignored 0, :counted 0}
                     (zipmap [:url-hits :url-bytes :s404s :clients :refs] (repeat {})))
        counted (transduce (mapcat lines) (completing count-line) start files)]
    (reduce (fn [tallies k] (update tallies k ranked))
            (assoc counted :bytes-read (reduce + (map alength files)))
            [:url-hits :url-bytes :s404s :clients :refs])))
