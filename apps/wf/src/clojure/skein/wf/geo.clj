;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.geo
  "Countries and networks of addresses, from files in MaxMind's format that the user has.

  - `open`   paths -> what is known of an address, by name"
  (:require
   [skein.impl.error :as error])
  (:import
   (com.maxmind.db CHMCache InvalidDatabaseException Reader)
   (java.io File IOException)
   (java.net InetAddress)
   (java.util Map)
   (java.util.concurrent ConcurrentHashMap)
   (java.util.function Function)
   (skein.wf Address)))

(set! *warn-on-reflection* true)

(def ^:private unknown
  "The group of addresses that are in no database, and of names of hosts, which are not resolved."
  "unknown")

(defn- reader ^Reader [^String path]
  (try
    (Reader. (File. path) (CHMCache.))
    (catch InvalidDatabaseException e
      (error/fail! [:skein/bad-argument :usage] (str "--geo " path " is not a database in MaxMind's format: " (ex-message e)) {:path path}))
    (catch IOException e
      (error/fail! [:skein/bad-argument :usage] (str "--geo " path " can't be read: " (ex-message e)) {:path path}))))

(defn- country [^Map record]
  (let [^Map country (or (.get record "country") (.get record "registered_country"))
        ^Map names (when country (.get country "names"))]
    (or (when names (.get names "en")) (when country (.get country "iso_code")))))

(defn- network [^Map record]
  (when-let [number (.get record "autonomous_system_number")]
    (let [organization (.get record "autonomous_system_organization")]
      (str "AS" number (when organization (str " " organization))))))

(defn- record [[path ^Reader reader] address]
  (try
    (.get reader address Map)
    (catch InvalidDatabaseException e
      (error/fail! [:skein/bad-argument :usage] (str "--geo " path " is damaged: " (ex-message e)) {:path path}))))

(defn- look-up
  "Returns what `databases`, a seq of [path reader], know of an address."
  [databases what text]
  (or (when-let [address (Address/of text)]
        (let [address (InetAddress/getByAddress address)]
          (some #(some-> (record % address) what) databases)))
      unknown))

(defn- remembering [f]
  (let [known (ConcurrentHashMap.)
        look-up (reify Function (apply [_ text] (f text)))]
    (fn remembered [text] (.computeIfAbsent known text look-up))))

(defn open
  "Returns {name (fn [text] text)} for what the databases at `paths` know of a client: \"country\" and \"network\", or one of
  them. Throws :skein/bad-argument when one can't be read, or knows neither."
  [paths]
  (let [databases (group-by (fn kind [[path ^Reader reader]]
                              (let [type (.getDatabaseType (.getMetadata reader))]
                                (condp re-find type
                                  #"ASN|ISP" "network"
                                  #"Country|City|Enterprise" "country"
                                  (error/fail! [:skein/bad-argument :usage]
                                               (str "--geo " path " is a database of the type " (error/preview type)
                                                    "; it must be one of countries, cities or networks (ASN)")
                                               {:path path}))))
                    (map (juxt identity reader) paths))
        what {"country" country, "network" network}]
    (into {} (for [[name of] databases] [name (remembering #(look-up of (what name) %))]))))
