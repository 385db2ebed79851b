;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.flight-test
  "The inspector's events in the JDK's flight recorder."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is use-fixtures]]
   [skein.async :as a :refer [<! chan go]]
   [skein.deadline :refer [await-port]]
   [skein.inspect :as inspect]
   [skein.inspect.watched :as watched])
  (:import
   (java.io File)
   (java.time Duration)
   (jdk.jfr Recording)
   (jdk.jfr.consumer RecordedEvent RecordingFile)))

(set! *warn-on-reflection* true)

(use-fixtures :each watched/fresh)

(defn- events-in
  "Returns Skein's events in a recording so far, as [name field-value]."
  [^Recording recording]
  (let [file (File/createTempFile "flight" ".jfr")]
    (try
      (.dump recording (.toPath file))
      (vec (for [^RecordedEvent e (RecordingFile/readAllEvents (.toPath file))
                 :let [name (.getName (.getEventType e))] :when (str/starts-with? name "skein.")]
             [name (if (= "skein.Stats" name) (.getLong e "blocks") (.getString e "place"))]))
      (finally (.delete file)))))

(defn- recorded
  "Returns Skein's events while `f` runs; `f` is called with the recording."
  [f]
  (with-open [r (Recording.)]
    (doseq [e ["skein.Park" "skein.Collected"]] (.enable r ^String e))
    (.withPeriod (.enable r "skein.Stats") (Duration/ofMillis 10))
    (.start r)
    (f r)
    (.stop r)
    (events-in r)))

(deftest recorder-gets-waits-and-collected-blocks
  (let [c (chan), quick (chan 1)
        events (recorded
                 (fn [r]
                   (let [port (go (<! c))]
                     (watched/eventually #(seq (inspect/blocks {:state :parked :older-ms 50})))
                     (watched/eventually #(some #{["skein.Stats" 1]} (events-in r)))
                     (a/close! c)
                     (await-port port)
                     (await-port (go (a/>! quick 1) (<! quick))))
                   ((fn [] (go (<! (chan)))))
                   (watched/eventually #(do (inspect/deadlocks {:prove true}) (seq (inspect/leaks))))))
        of (fn [name] (into #{} (comp (filter (comp #{name} first)) (map peek)) events))]
    (is (= ["(<! c)"] (map #(second (re-find #"flight_test\.clj:\d+ (.*)" %)) (of "skein.Park"))) "a short wait is not an event")
    (is (= ["(<! (chan))"] (map #(second (re-find #"flight_test\.clj:\d+ (.*)" %)) (of "skein.Collected"))))))
