;; SPDX-License-Identifier: Apache-2.0
;; ./skein clojure examples/slow_downloads.clj ['{:window 64 …}']; the optional map overrides `experiment`
(ns examples.slow-downloads
  "Many downloads from a server that gives each connection 500 kB/s, and resets connections
  beyond a limit: one by one, as many as there are cores, and on virtual threads all at once,
  in chunks, and in a sliding window.

  Source: Ivan Grishaev, the README of virtuoso, 2025: 100 files of 6 MB, and 2000. Here a file
  has 37.5 kB, so that a download takes 75 ms instead of 12 s, and the server is part of the
  program."
  (:require
   [clojure.edn :as edn]
   [skein.virtual :as v]
   [skein.virtuoso :as virtuoso])
  (:import
   (java.io DataInputStream DataOutputStream IOException)
   (java.net InetAddress ServerSocket Socket SocketException)
   (java.time Duration)
   (java.util.concurrent Semaphore)))

(set! *warn-on-reflection* true)

(def ^:private experiment
  {:file-bytes 37500 :bytes-per-s 500000 :max-connections 600 :few 100 :many 2000 :window 512})

;;;; The server

(defn- send-slowly
  "Writes as many bytes as the client asks for, a quarter at a time, at the rate."
  [^Socket socket bytes-per-s]
  (let [wanted (.readInt (DataInputStream. (.getInputStream socket)))
        quarter (byte-array (quot wanted 4))
        start (System/nanoTime)]
    (dotimes [i 4]
      (let [due-ns (quot (* (inc i) (alength quarter) 1000000000) (long bytes-per-s))]
        (Thread/sleep (Duration/ofNanos (max 0 (- due-ns (- (System/nanoTime) start))))))
      (.write (.getOutputStream socket) quarter))))

(defn- serve
  "Serves one connection, or resets it if there are too many."
  [^Socket socket ^Semaphore places bytes-per-s]
  (with-open [socket socket]
    (if (.tryAcquire places)
      (try (send-slowly socket bytes-per-s) (finally (.release places)))
      (.setSoLinger socket true 0)))) ; closing now resets the connection

(defn start-server
  "Returns a ServerSocket; closing it ends the server."
  ^ServerSocket [{:keys [max-connections bytes-per-s]}]
  (let [server (ServerSocket. 0 4096 (InetAddress/getLoopbackAddress))
        places (Semaphore. max-connections)]
    (v/future
      (try
        (while true
          (let [socket (.accept server)]
            (v/future (try (serve socket places bytes-per-s) (catch IOException _))))) ; the client has gone
        (catch SocketException _))) ; closed
    server))

;;;; The client

(defn- download
  "Returns how many bytes came, or :reset."
  [^ServerSocket server n-bytes]
  (try
    (with-open [socket (Socket. (InetAddress/getLoopbackAddress) (.getLocalPort server))]
      (.writeInt (DataOutputStream. (.getOutputStream socket)) n-bytes)
      (alength (.readAllBytes (.getInputStream socket))))
    (catch IOException _ :reset)))

(defn- equal-sizes [n {:keys [file-bytes]}]
  (repeat n file-bytes))

(defn- varying-sizes
  "Returns sizes with the same average, of which one in eight is nine times as large as the others."
  [n {:keys [file-bytes]}]
  (map #(* (quot (long file-bytes) 2) (if (zero? (mod (long %) 8)) 9 1)) (range n)))

(defn- runs
  "Returns every way to download: [what sizes function-of-sizes published-s]."
  [server {:keys [few many window] :as setup}]
  (let [get-one (partial download server)
        [few-files many-files varying] [(equal-sizes few setup) (equal-sizes many setup) (varying-sizes many setup)]]
    [["map" few-files #(map get-one %) 1103]
     ["pmap, cores and two more" few-files #(pmap get-one %) 44]
     ["virtuoso/map, all at once" few-files #(virtuoso/map get-one %) 11.1]
     [(str "virtuoso/pmap, chunks of " window) few-files #(virtuoso/pmap window get-one %) 11.1]
     [(str "v/pmap, a window of " window) few-files #(v/pmap window get-one %)]
     ["virtuoso/map, all at once" many-files #(virtuoso/map get-one %) "resets"]
     [(str "virtuoso/pmap, chunks of " window) many-files #(virtuoso/pmap window get-one %) 45]
     [(str "v/pmap, a window of " window) many-files #(v/pmap window get-one %)]
     ["virtuoso/pmap, sizes that vary" varying #(virtuoso/pmap window get-one %)]
     ["v/pmap, sizes that vary" varying #(v/pmap window get-one %)]
     ["v/pmap, as they are done" varying #(v/pmap {:n window :ordered? false} get-one %)]]))

(defn- measure [[what sizes fetch published]]
  (let [start (System/nanoTime)
        results (vec (fetch sizes))]
    {:what what :files (count results) :resets (count (filter #{:reset} results))
     :seconds (/ (- (System/nanoTime) start) 1e9) :published published}))

(defn- run-all [setup]
  (with-open [server (start-server setup)]
    (mapv measure (runs server setup))))

(defn- show
  "Prints the rows as a table, and returns them."
  [rows]
  (println (format "%-30s %6s %7s %8s %11s" "" "files" "resets" "seconds" "published s"))
  (doseq [{:keys [what files resets seconds published]} rows]
    (println (format "%-30s %6d %7d %8.2f %11s" what files resets seconds (or published ""))))
  rows)

(show (run-all (merge experiment (some-> (first *command-line-args*) edn/read-string))))
