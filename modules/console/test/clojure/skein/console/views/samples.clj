;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.samples
  "Sample looks for the tests of the views."
  (:require
   [skein.console.looks :as looks]))

(set! *warn-on-reflection* true)

(def now "When the looks were taken." 1790000000000)

(defn block
  "Returns a parked block."
  [id more]
  (merge {:id id :state :parked :site {:file "a.clj" :line (mod id 2) :form "(<! c)"} :waits [{:op :take :channel 7 :place 1}]
          :since-ms (* 1000 (long id)) :age-ms (* 2000 (long id)) :runs (long (- 100 (long id)))}
         more))

(defn look
  "Returns a look at a snapshot with these parts."
  [snapshot]
  (let [whole (merge {:skein/snapshot 1 :at-ms now :blocks [] :threads [] :channels [] :scopes [] :failures [] :timers 0 :locks []
                      :collected {:count 0 :blocks []}}
                     snapshot)]
    (:look (looks/latest (looks/looks {:live? true :look (constantly whole)})))))

(def ten
  "Ten blocks, of which all but the third wait in a channel."
  (delay (look {:blocks (mapv #(block % (when (= 3 %) {:parent 2 :state :running :waits []})) (range 1 11))
                :channels [{:id 7 :kind :chan :label "orders" :closed? false :takes (mapv (fn [i] {:block i}) (range 1 11)) :puts []
                            :buffer {:type 'FixedBuffer :count 0 :capacity 4}}
                           {:id 8 :kind :timeout :takes [] :puts [] :remaining-ms 5}]})))
