;; SPDX-License-Identifier: Apache-2.0
;; ./skein clojure examples/polite_client.clj
(ns examples.polite-client
  "A client that asks a server at most 200 times a second, six at a time, and gives up after a second.
  The server is sometimes slow. Blocks take from the futures of the JDK's HttpClient."
  (:require
   [skein.async :as a :refer [<!!]]
   [skein.async.interop]
   [skein.async.limit :as limit :refer [with-permit]]
   [skein.async.streams :as st])
  (:import
   (com.sun.net.httpserver HttpExchange HttpHandler HttpServer)
   (java.net InetAddress InetSocketAddress URI)
   (java.net.http HttpClient HttpRequest HttpResponse HttpResponse$BodyHandlers)
   (java.util.concurrent CompletableFuture Executors)))

(set! *warn-on-reflection* true)

(defn- start-server
  "Answers /n with n squared; every tenth answer takes ten seconds."
  ^HttpServer []
  (doto (HttpServer/create (InetSocketAddress. (InetAddress/getLoopbackAddress) 0) 0)
    (.setExecutor (Executors/newVirtualThreadPerTaskExecutor))
    (.createContext "/" (reify HttpHandler
                          (handle [_ exchange]
                            (let [n (parse-long (subs (.getPath (.getRequestURI ^HttpExchange exchange)) 1))
                                  bytes (.getBytes (str (* n n)))]
                              (when (= 9 (mod n 10)) (Thread/sleep 10000))
                              (.sendResponseHeaders ^HttpExchange exchange 200 (alength bytes))
                              (with-open [out (.getResponseBody ^HttpExchange exchange)] (.write out bytes))))))
    (.start)))

(def ^:private per-second (limit/rate-limiter 200))
(def ^:private at-once (limit/concurrency-limiter {:n 6 :name "server"}))

(defn- ask
  "Returns the answer for n, or :late. A future that comes too late is cancelled."
  [^HttpClient client port n]
  (<!! per-second)
  (with-permit at-once
    (let [request (.build (HttpRequest/newBuilder (URI. (str "http://localhost:" port "/" n))))
          ^CompletableFuture answer (.sendAsync client request (HttpResponse$BodyHandlers/ofString))
          ^HttpResponse response (a/<!!within answer 1000 :late)]
      (if (= :late response)
        (do (.cancel answer true) :late)
        (parse-long (.body response))))))

(let [server (start-server)
      client (HttpClient/newHttpClient)
      port (.getPort (.getAddress server))
      start (System/nanoTime)
      answers (st/pmap 50 (partial ask client port) (a/to-chan! (range 60)))]
  (run! println (<!! (a/into [] (st/batch 10 answers))))
  (println "no faster than allowed:" (<= 0.29 (/ (- (System/nanoTime) start) 1e9)) (limit/status at-once))
  (System/exit 0))

;;;; Output
;; [0 1 4 9 16 25 36 49 64 :late]
;; [100 121 144 169 196 225 256 289 324 :late]
;; [400 441 484 529 576 625 676 729 784 :late]
;; [900 961 1024 1089 1156 1225 1296 1369 1444 :late]
;; [1600 1681 1764 1849 1936 2025 2116 2209 2304 :late]
;; [2500 2601 2704 2809 2916 3025 3136 3249 3364 :late]
;; no faster than allowed: true {:name server, :n 6, :waiting 0, :in-use 0}
