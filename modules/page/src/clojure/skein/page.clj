;; SPDX-License-Identifier: Apache-2.0
(ns skein.page
  "Serves a page to the user of this machine only. It uses the JDK's HTTP server.

  * `serve!` starts a server
  * `resource` returns a file of the class path, to serve; `client` returns the scripts that every page needs

  Every request must name this server as its host, and must not come from another site's page. Files hold nothing secret and need
  no token; all other requests need one. See doc/decisions/page-security.md."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.impl.error :as error])
  (:import
   (com.sun.net.httpserver Headers HttpExchange HttpHandler HttpServer)
   (java.io IOException OutputStream)
   (java.net InetAddress InetSocketAddress URLDecoder)
   (java.security MessageDigest SecureRandom)
   (java.util Base64)
   (java.util.concurrent Executor ExecutorService Executors Future RejectedExecutionException ScheduledThreadPoolExecutor Semaphore ThreadFactory TimeUnit)))

(set! *warn-on-reflection* true)

;;;; Limits
;;
;; A client that is slow or stuck must not keep others out. The JDK's own limits are properties of the whole JVM, which belongs to
;; the program.

(def ^:const ^:private max-requests "The most requests at once, including streams." 64)
(def ^:const ^:private reading-ms "Time to send a request." 5000)
(def ^:const ^:private replying-ms "Time to get a reply, or to read an event of a stream." 60000)

(def ^:private ^ThreadFactory thread-factory
  ;; Before Java 24 the JDK's server pins the carrier of a virtual thread while it waits for a request.
  (.factory (.daemon (.name (Thread/ofPlatform) "skein-page-" 0))))

(defn- limits [options]
  (merge {:reading-ms reading-ms
          :replying-ms replying-ms
          :requests (Semaphore. max-requests)
          :threads (Executors/newThreadPerTaskExecutor thread-factory)
          :timer (doto (ScheduledThreadPoolExecutor. 1 thread-factory) (.setRemoveOnCancelPolicy true))}
         options))

(def ^:private ^:dynamic *alarm* "A volatile with the Future that interrupts this thread when it is late, or nil." nil)

(defn- until!
  "Interrupts this thread in `ms` milliseconds, which closes its connection. Cancels what was set before. nil sets no time."
  [{:keys [^ScheduledThreadPoolExecutor timer]} ms]
  (let [thread (Thread/currentThread)
        interrupt (fn interrupt [] (.interrupt thread))]
    (some-> ^Future @*alarm* (.cancel false))
    (vreset! *alarm* (when ms (.schedule timer ^Runnable interrupt (long ms) TimeUnit/MILLISECONDS)))))

(defn- executor
  "Returns an executor that runs each request on a new thread. It throws if there are too many requests; the server then closes the
  connection."
  ^Executor [{:keys [^Semaphore requests ^ExecutorService threads reading-ms] :as limits}]
  (reify Executor
    (execute [_ task]
      (when-not (.tryAcquire requests) (throw (RejectedExecutionException. "There are too many requests at once.")))
      (.execute threads
                (fn request []
                  (binding [*alarm* (volatile! nil)]
                    (try
                      (until! limits reading-ms)
                      (.run ^Runnable task)
                      (finally
                        (until! limits nil)
                        (.release requests)))))))))

;;;; Replies

(def ^:private headers
  {"Content-Security-Policy" (str "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
                                  "require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
   "X-Content-Type-Options" "nosniff"
   "Cross-Origin-Resource-Policy" "same-origin"
   "Referrer-Policy" "no-referrer"
   "Cache-Control" "no-store"})

(defn- begin! [^HttpExchange exchange status type length]
  (let [out (.getResponseHeaders exchange)]
    (run! (fn [[k v]] (.set out k v)) headers)
    (when type (.set out "Content-Type" type))
    (.sendResponseHeaders exchange status length)))

(defn- refuse! [exchange status]
  (begin! exchange status nil -1))

(defn- reply! [^HttpExchange exchange {:keys [status type body] :or {status 200}}]
  (let [^bytes body (if (string? body) (.getBytes ^String body "UTF-8") body)]
    (begin! exchange status type (if (zero? (alength body)) -1 (alength body)))
    (.write (.getResponseBody exchange) body)))

(defn- stream!
  "Calls `events` with a function that sends a line. Ends when `events` returns or the reader has gone."
  [exchange {:keys [replying-ms] :as limits} events]
  (begin! exchange 200 "text/event-stream" 0)
  (until! limits nil)
  (let [^OutputStream out (.getResponseBody ^HttpExchange exchange)]
    (events (fn send! [^String line]
              (until! limits replying-ms)
              (.write out (.getBytes (str "data: " line "\n\n") "UTF-8"))
              (.flush out)
              (until! limits nil)))))

;;;; Access

(defn- only
  "Returns the value of a header, nil if it is missing, or ::several if it occurs more than once."
  [^Headers headers ^String name]
  (let [values (.get headers name)]
    (if (next values) ::several (first values))))

(defn- at-home?
  "Returns whether a request names this server as its host and does not come from another site's page. An absolute URL in the request
  line would take precedence over the Host header, so it is refused."
  [^HttpExchange exchange port]
  (let [headers (.getRequestHeaders exchange), host (only headers "Host")]
    (and (not (.isAbsolute (.getRequestURI exchange)))
         (contains? #{(str "127.0.0.1:" port) (str "localhost:" port)} host)
         (contains? #{nil (str "http://" host)} (only headers "Origin"))
         (contains? #{nil "same-origin" "none"} (only headers "Sec-Fetch-Site")))))

(defn- token? [^HttpExchange exchange ^String token]
  (let [given (only (.getRequestHeaders exchange) "Authorization")]
    (and (string? given)
         (MessageDigest/isEqual (.getBytes ^String given "UTF-8") (.getBytes (str "Bearer " token) "UTF-8")))))

(defn- new-token []
  (let [bits (byte-array 16)]
    (.nextBytes (SecureRandom.) bits)
    (.encodeToString (.withoutPadding (Base64/getUrlEncoder)) bits)))

;;;; Requests

(defn- decoded [^String s]
  (try (URLDecoder/decode s "UTF-8")
       (catch IllegalArgumentException _ s)))

(defn- query
  "Returns the parameters of a request as {name value}."
  [^HttpExchange exchange]
  (into {} (for [pair (some-> (.getRawQuery (.getRequestURI exchange)) (str/split #"&"))
                 :let [[k v] (str/split pair #"=" 2)]]
             [(decoded k) (decoded (or v ""))])))

(defn- body? [^HttpExchange exchange]
  (let [headers (.getRequestHeaders exchange)]
    (or (.containsKey headers "Transfer-Encoding")
        (not (contains? #{nil "0"} (.getFirst headers "Content-Length"))))))

(defn- answer! [{:keys [routes limits]} exchange method path]
  (if-some [{:keys [events] :as reply} (routes {:method method :path path :query (query exchange)})]
    (if events
      (stream! exchange limits events)
      (reply! exchange reply))
    (refuse! exchange 404)))

(defn- handle! [{:keys [files token port] :as server} ^HttpExchange exchange]
  (let [method (.getRequestMethod exchange)
        path (.getRawPath (.getRequestURI exchange))]
    (cond
      (not (at-home? exchange port)) (refuse! exchange 403)
      (not (contains? #{"GET" "POST"} method)) (refuse! exchange 405)
      (body? exchange) (refuse! exchange 413)
      (contains? files path) (if (= "GET" method) (reply! exchange (files path)) (refuse! exchange 405))
      (not (contains? #{"api" "metrics"} (second (str/split (str path) #"/")))) (refuse! exchange 404)
      (not (token? exchange token)) (refuse! exchange 403)
      :else (answer! server exchange method path))))

(defn- handler [{:keys [limits failure] :as server}]
  (reify HttpHandler
    (handle [_ exchange]
      (until! limits (:replying-ms limits))
      (try
        (handle! server exchange)
        (catch IOException _) ; the other end has gone
        (catch InterruptedException _) ; the server stops
        (catch Throwable t
          (reset! failure t)
          (try (refuse! exchange 500) (catch IOException _))) ; the reply may have begun already
        (finally (.close exchange))))))

;;;; The server

(def ^:private types
  {"html" "text/html; charset=utf-8" "js" "text/javascript; charset=utf-8" "css" "text/css; charset=utf-8"})

(defn resource
  "Returns the file at `path` in the class path as {:type :body}, for `serve!`."
  [path]
  {:type (types (last (str/split path #"\.")))
   :body (with-open [in (io/input-stream (or (io/resource path) (error/fail! :skein/missing-library (str "The class path has no " path ".") {:path path})))]
           (.readAllBytes in))})

(defn client
  "Returns the scripts that every page needs: \"/client.js\" talks to the server, \"/morph.js\" updates the page."
  []
  (into {} (map (fn js [name] [(str "/" name) (resource (str "skein/page/" name))])) ["client.js" "morph.js"]))

(defn- bind [port]
  (try (HttpServer/create (InetSocketAddress. (InetAddress/getByName "127.0.0.1") (int port)) 16)
       (catch IOException e
         (error/fail! :skein/port-in-use (str "Can't listen on port " port ": " (ex-message e) ". Port 0 takes a free one.") {:port port}))))

(defn serve!
  "Starts a server on 127.0.0.1. Returns {:url string :port n :token string :failed function :stop! function}. The URL has the
  token in its fragment, which browsers never send. :failed returns the last exception of a route, or nil.

  port    0 takes a free one
  files   {path {:type :body}}, which need no token
  routes  a function of {:method :path :query {name value}}, called for paths below /api and for /metrics. It returns {:status
          :type :body}, whose body is a string or bytes; {:events function} for a stream: the function is called with a
          function that sends a line; or nil, which is a 404

  limits  for tests: {:reading-ms :replying-ms} instead of `reading-ms` and `replying-ms`

  Throws :skein/port-in-use."
  [{:keys [port files routes] :as options}]
  (let [^HttpServer http (bind port)
        actual (.getPort (.getAddress http))
        token (new-token)
        {:keys [^ExecutorService threads ^ExecutorService timer] :as limits} (limits (:limits options))
        failure (atom nil)]
    (.setExecutor http (executor limits))
    (.createContext http "/" (handler {:files files :routes routes :token token :limits limits :failure failure :port actual}))
    (.start http)
    {:url (str "http://127.0.0.1:" actual "/#t=" token)
     :port actual
     :token token
     :failed (fn failed [] @failure)
     :stop! (fn stop! [] (.stop http 0) (.shutdownNow threads) (.shutdownNow timer) nil)}))
