;; SPDX-License-Identifier: Apache-2.0
(ns lab.server
  "A slow web server on the loopback interface. Each connection has a virtual thread, which waits or limits its rate."
  (:import
   (java.io BufferedOutputStream BufferedReader InputStreamReader OutputStream)
   (java.net InetAddress ServerSocket Socket)
   (java.util.concurrent.atomic AtomicInteger)))

(set! *warn-on-reflection* true)

(def ^:private pause-ms 10)

(defn- send-slowly!
  "Sends `n` bytes at `bytes-per-s`."
  [^OutputStream out n bytes-per-s]
  (let [chunk (byte-array (max 1 (quot (* (long bytes-per-s) (long pause-ms)) 1000)))
        start (System/nanoTime)]
    (loop [sent 0]
      (when (< sent (long n))
        (let [due-ns (+ start (long (/ (* 1e9 sent) (double bytes-per-s))))
              wait-ms (quot (- due-ns (System/nanoTime)) 1000000)
              k (min (alength chunk) (- (long n) sent))]
          (when (pos? wait-ms) (Thread/sleep wait-ms))
          (.write out chunk 0 (int k))
          (.flush out)
          (recur (+ sent k)))))))

(defn- answer! [^Socket socket {:keys [delay-ms bytes-per-s]}]
  (let [in (BufferedReader. (InputStreamReader. (.getInputStream socket)))
        out (BufferedOutputStream. (.getOutputStream socket))
        path (second (re-find #"GET /(\d+) " (.readLine in)))
        n (parse-long path)]
    (while (seq (.readLine in)))
    (when delay-ms (Thread/sleep (long (delay-ms n))))
    (let [body (when-not bytes-per-s (str "page " n))
          size (if body (count body) n)]
      (.write out (.getBytes (str "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " size "\r\n\r\n")))
      (if body
        (do (.write out (.getBytes ^String body)) (.flush out))
        (send-slowly! out size bytes-per-s)))))

(defn- serve! [^Socket socket ^AtomicInteger n-open {:keys [max-open] :as options}]
  (try
    (with-open [socket socket]
      (if (< (long max-open) (.incrementAndGet n-open))
        (.setSoLinger socket true 0) ; closing resets the connection
        (answer! socket options)))
    (catch java.io.IOException _ nil) ; the client has gone
    (finally (.decrementAndGet n-open))))

(defn with-server
  "Calls `f` with the address of a server, which stops when `f` returns.

  options  :delay-ms     function of a path's number: how long the answer \"page NUMBER\" takes
           :bytes-per-s  without :delay-ms: as many bytes as the path's number says, so many a second
           :max-open     connections at a time; more are reset. By default unlimited"
  [options f]
  (with-open [listener (ServerSocket. 0 4096 (InetAddress/getLoopbackAddress))]
    (let [n-open (AtomicInteger.)
          options (merge {:max-open Integer/MAX_VALUE} options)
          accept! (fn accept! []
                    (when-let [socket (try (.accept listener) (catch java.io.IOException _ nil))]
                      (Thread/startVirtualThread (fn serve [] (serve! socket n-open options)))
                      (recur)))]
      (Thread/startVirtualThread accept!)
      (f (str "http://127.0.0.1:" (.getLocalPort listener) "/")))))
