;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.failures
  "Exceptions that ports keep for the code that takes them. One that no code has taken within a second, or when
  Node ends, is reported."
  {:no-doc true}
  (:require
   [skein.rt.scheduler :as scheduler]))

(def report-ms "After this time an exception is reported that no code has taken." 1000)

(def ^:private untaken (js/Set.))

(defn- report-at-exit
  "Prints what is left when Node ends, which then has failed."
  []
  (when (pos? (.-size untaken))
    (set! (.-exitCode js/process) 1)
    (.forEach untaken (fn [thrown] (js/console.error "Uncaught" thrown)))))

(when (and (exists? js/process) (js-fn? (.-once js/process)))
  (.once js/process "exit" report-at-exit))

(defn keep-untaken
  "Returns the exception that a port keeps for `thrown`, and reports it in a second if no code has taken it by then."
  [thrown]
  (let [thrown (if (nil? thrown) (ex-info "nil was thrown" {:skein/error :skein/nil-thrown}) thrown)
        timer (do (.add untaken thrown)
                  (js/setTimeout (fn [] (when (.delete untaken thrown) (scheduler/report thrown))) report-ms))]
    (when (js-fn? (.-unref timer)) (.unref timer)) ; it does not keep Node alive
    thrown))

(defn taken
  "Notes that code has taken `thrown`."
  [thrown]
  (.delete untaken thrown))
