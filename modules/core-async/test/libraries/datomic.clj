;; SPDX-License-Identifier: Apache-2.0
;; com.datomic/local, compiled ahead of time against core.async, keeps a database in memory.
;; Prints what came of it, as EDN.
(ns datomic
  "Runs in a process of its own, for skein.bridge-test."
  (:require
   [clojure.core.async :as async :refer [<! <!! go]]
   [datomic.client.api :as d]
   [datomic.client.api.async :as da]))

(set! *warn-on-reflection* true)

(def ^:private config {:server-type :datomic-local :storage-dir :mem :system "bridge"})

(def ^:private schema
  [{:db/ident :film/title :db/valueType :db.type/string :db/cardinality :db.cardinality/one}
   {:db/ident :film/year :db/valueType :db.type/long :db/cardinality :db.cardinality/one}])

(def ^:private before-1990 '[:find ?t :where [?f :film/title ?t] [?f :film/year ?y] [(< ?y 1990)]])

(defn- films [n]
  (for [i (range n)] {:film/title (str "Film " i) :film/year (+ 1980 i)}))

(let [client (d/client config)
      _ (d/create-database client {:db-name "films"})
      conn (d/connect client {:db-name "films"})
      _ (d/transact conn {:tx-data schema})
      _ (d/transact conn {:tx-data (films 20)})
      async-client (<!! (go (da/client config)))
      async-conn (<!! (da/connect async-client {:db-name "films"}))]
  (prn {:runs-on-skein? (instance? skein.rt.Channel (async/chan))
        :found (count (d/q before-1990 (d/db conn)))
        :pulled (d/pull (d/db conn) '[:film/year] (ffirst (d/q '[:find ?f :where [?f :film/title "Film 3"]] (d/db conn))))
        :qseq (count (seq (d/qseq {:query before-1990 :args [(d/db conn)]})))
        :in-blocks (<!! (go (let [db (da/db async-conn)
                                  answers (mapv (fn [_] (da/q {:query before-1990 :args [db]})) (range 8))]
                              (loop [[c & more] answers, counts []]
                                (if c (recur more (conj counts (count (<! c)))) counts)))))
        :transacted (<!! (go (count (:tx-data (<! (da/transact async-conn {:tx-data (films 2)}))))))
        :refused (try (d/transact conn {:tx-data [{:no/such 1}]})
                      (catch clojure.lang.ExceptionInfo e (:cognitect.anomalies/category (ex-data e))))
        :range (count (into [] (d/tx-range conn {})))})
  (System/exit 0))
