;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.pictures
  "Takes the pictures in doc/console.md, of a small program with deadlocks: `./skein pictures`."
  (:require
   [skein.async :as a :refer [<! <!! >! alts! chan go go-loop timeout]]
   [skein.browser :as b]
   [skein.console :as console]
   [skein.inspect :as inspect]))

(set! *warn-on-reflection* true)

(defn- exchange
  "Makes two blocks that have each filled a channel from which the other should take."
  []
  (let [orders (a/label! (chan 1) "orders"), replies (a/label! (chan 1) "replies")]
    (go (>! orders :first) (>! orders :second) (<! replies))
    (go (>! replies :first) (>! replies :second) (<! orders))))

(def ^:private stock (a/label! (chan) "stock"))
(def ^:private prices (a/label! (chan) "prices"))
(def ^:private jobs (a/label! (chan 8) "jobs"))

(defn- appraise!
  "Makes two blocks that wait for a value of each other."
  []
  (go (>! prices (<! stock)))
  (go (>! stock (<! prices))))

(defn- work! []
  (dotimes [_ 300] (go-loop [] (alts! [(timeout 60000) (timeout 90000)]) (recur)))
  (dotimes [_ 40] (go-loop [] (<! (timeout 20)) (recur)))
  (go-loop [i 0] (>! jobs i) (recur (inc i))))

(defn- take! [browser hash path ready]
  (b/js browser (str "location.hash = '" hash "'"))
  (b/wait-for! browser ready)
  (b/screenshot! browser path)
  (println path))

(defn- take-all! [browser url]
  (b/look! browser 1280 720 "light")
  (b/open! browser url)
  (b/eventually "proven"
    (fn [] (b/js browser "document.querySelector('[data-act=prove]')?.click()")
      (Thread/sleep 500)
      (b/js browser "document.querySelectorAll('.finding.proven').length > 1 && document.querySelectorAll('.finding.suspected, .finding.warn').length > 1")))
  (take! browser "#/overview" "doc/console-overview.png" "!!document.querySelector('.finding.proven')")
  (take! browser "#/sites" "doc/console-blocks.png" "!!document.querySelector('.rows a')")
  (b/look! browser 1280 720 "dark")
  (take! browser "#/graph" "doc/console-graph.png" "!!document.querySelector('.node.proven')"))

(defn -main
  "Takes the pictures; needs headless Chromium."
  []
  (let [c (console/serve! {:actions #{:prove}})]
    (work!)
    (appraise!)
    (doto (Thread. ^Runnable (fn shop [] (<!! (exchange))) "shop") (.setDaemon true) .start)
    (b/with-browser [browser] (take-all! browser (:url c)))
    (.close c)
    (System/exit 0)))
