;; SPDX-License-Identifier: Apache-2.0
(ns skein.page-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.page :as page])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io IOException InputStream)
   (java.net ConnectException InetAddress Socket)
   (java.util.concurrent CountDownLatch TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:const ^:private deadline-ms "Every socket's." 30000)

(def ^:private secret "canary-4711")

(defn- routes [{:keys [method path query]}]
  (case [method path]
    ["GET" "/api/data"] {:type "text/plain" :body (str secret " " (pr-str query))}
    ["POST" "/api/act"] {:type "text/plain" :body secret}
    ["GET" "/api/fails"] (throw (IllegalStateException. (str secret)))
    ["GET" "/api/stream"] {:events (fn events [send!] (while true (send! secret) (Thread/sleep 50)))}
    nil))

(defn- serve! []
  (page/serve! {:port 0 :files {"/" {:type "text/html" :body "<p>"}} :routes routes}))

(defmacro ^:private with-server [[server] & body]
  `(let [~server (serve!)]
     (try ~@body (finally ((:stop! ~server))))))

(defn- connect ^Socket [{:keys [port]}]
  (doto (Socket. (InetAddress/getByName "127.0.0.1") (int port)) (.setSoTimeout deadline-ms)))

(defn- send! [^Socket socket & lines]
  (let [out (.getOutputStream socket)]
    (.write out (.getBytes (str/join (map #(str % "\r\n") lines))))
    (.flush out)))

(defn- ask
  "Sends a request with headers. Returns [status reply]."
  [server request headers]
  (with-open [socket (connect server)]
    (apply send! socket (str request " HTTP/1.1") (concat ["Connection: close"] headers [""]))
    (let [reply (slurp (.getInputStream socket))]
      [(some-> (re-find #"^HTTP/1.1 (\d+)" reply) second parse-long) reply])))

(defn- host [{:keys [port]}] (str "Host: 127.0.0.1:" port))
(defn- bearer [{:keys [token]}] (str "Authorization: Bearer " token))

(defn- refused?
  "Returns whether a reply has the status of a refusal. It may also be 400: since their updates of October 2026 the JDKs refuse malformed
  requests before the server sees them."
  [status [actual reply]]
  (and (contains? #{status 400} actual) (not (str/includes? (str reply) secret))))

(deftest data-needs-a-token-and-files-do-not
  (with-server [s]
    (is (= 200 (first (ask s "GET /" [(host s)]))))
    (is (str/includes? (second (ask s "GET /api/data?a=b%20c&d" [(host s) (bearer s)])) (str secret " {\"a\" \"b c\", \"d\" \"\"}")))
    (is (= 200 (first (ask s "GET /api/data" [(str "Host: localhost:" (:port s)) (bearer s)]))))
    (is (= 200 (first (ask s "POST /api/act" [(host s) (bearer s)]))))
    (testing "wrong tokens"
      (doseq [headers [[] ["Authorization: Bearer"] ["Authorization: Bearer x"] [(str "Authorization: Basic " (:token s))]
                       [(bearer s) (bearer s)] [(str "Cookie: t=" (:token s))]]]
        (is (refused? 403 (ask s "GET /api/data" (cons (host s) headers))) headers))
      (is (refused? 403 (ask s (str "GET /api/data?t=" (:token s)) [(host s)]))))))

(deftest requests-of-other-sites-are-refused
  (with-server [s]
    (doseq [path ["/" "/api/data"]
            headers [[] ["Host: evil.example"] [(str "Host: evil.example:" (:port s))] ["Host: 127.0.0.1"] [(str "Host: 127.0.0.1.evil.example:" (:port s))]
                     [(host s) (host s)]
                     [(host s) "Origin: null"] [(host s) "Origin: http://evil.example"] [(host s) (str "Origin: https://127.0.0.1:" (:port s))]
                     [(host s) "Origin: http://127.0.0.1:1"] [(host s) (str "Origin: http://localhost:" (:port s))]
                     [(host s) "Sec-Fetch-Site: cross-site"] [(host s) "Sec-Fetch-Site: same-site"]]]
      (is (refused? 403 (ask s (str "GET " path) (conj headers (bearer s)))) [path headers]))
    (testing "an absolute URL with another host"
      (doseq [url ["http://evil.example/api/data" "http://evil.example/" "https://127.0.0.1/api/data" (str "http://127.0.0.1:" (:port s) "/api/data")]]
        (is (refused? 403 (ask s (str "GET " url) [(host s) (bearer s)])) url)))
    (testing "requests of its own page are answered"
      (is (= 200 (first (ask s "GET /api/data" [(host s) (bearer s) (str "Origin: http://127.0.0.1:" (:port s)) "Sec-Fetch-Site: same-origin"])))))))

(deftest unknown-methods-and-paths-are-refused
  (with-server [s]
    (let [ask (fn [request & more] (ask s request (list* (host s) (bearer s) more)))]
      (doseq [method ["PUT" "DELETE" "OPTIONS" "HEAD" "TRACE"]]
        (is (refused? 405 (ask (str method " /api/data"))) method))
      (is (refused? 405 (ask "POST /")))
      (doseq [path ["/x/../api/data" "//api/data" "/API/data" "/%61pi/data" "/api/%64ata" "/api/data/" "/api" "/favicon.ico" "/api/act" "/.."
                    "/etc/passwd" "/api/../data"]]
        (is (refused? 404 (ask (str "GET " path))) path))
      (is (refused? 404 (ask "POST /api/data")))
      (is (refused? 413 (ask "POST /api/act" "Content-Length: 3" "" "a")))
      (is (refused? 500 (ask "GET /api/fails")))
      (is (= secret (ex-message ((:failed s))))))))

(deftest every-reply-has-the-headers
  (with-server [s]
    (doseq [[request headers] [["GET /" []] ["GET /api/data" [(bearer s)]] ["GET /no" []] ["GET /api/data" []]]
            :let [reply (second (ask s request (cons (host s) headers)))]
            part ["default-src 'none'" "require-trusted-types-for 'script'" "frame-ancestors 'none'" "nosniff" "no-store" "same-origin"]]
      (is (str/includes? reply part) [request part]))
    (is (not (re-find #"(?i)set-cookie|access-control" (second (ask s "GET /api/data" [(host s) (bearer s)])))))))

(defn- stream! [s]
  (let [socket (connect s)]
    (send! socket "GET /api/stream HTTP/1.1" (host s) (bearer s) "")
    [socket (let [reply (byte-array 12)] (.readNBytes (.getInputStream ^Socket socket) reply 0 12) (String. reply))]))

(defn- answered? [s]
  (try (= 200 (first (ask s "GET /api/data" [(host s) (bearer s)])))
       (catch IOException _ false)))

(defn- answered-in-time? [s]
  (let [deadline (+ (System/nanoTime) (* 1000000 deadline-ms))]
    (loop []
      (or (answered? s)
          (and (< (System/nanoTime) deadline) (recur))))))

(deftest requests-are-limited-and-streams-end-with-their-reader
  (with-server [s]
    (let [streams (vec (repeatedly 64 #(stream! s)))]
      (is (= (repeat 64 "HTTP/1.1 200") (map second streams)))
      (is (not (answered? s)))
      (.close ^Socket (ffirst streams))
      (is (answered-in-time? s) "its end is noticed at the next event")
      (run! (fn [[^Socket socket]] (.close socket)) streams))))

(defn- ended?
  "Returns whether the server closes the connection."
  [^Socket socket]
  (try (let [^InputStream in (.getInputStream socket)]
         (loop [] (if (neg? (.read in)) true (recur))))
       (catch java.net.SocketTimeoutException _ false)
       (catch IOException _ true)))

(deftest incomplete-and-large-requests-are-ended
  (with-server [s]
    (with-open [half (connect s), large (connect s)]
      (send! half "GET / HTTP/1.1" (host s) "X-Half: ")
      (try (send! large "GET / HTTP/1.1" (str "X-Large: " (str/join (repeat 1000000 \x))) "") (catch IOException _))
      (is (ended? large))
      (is (ended? half)))
    (is (= 200 (first (ask s "GET /" [(host s)]))))))

(deftest a-hundred-connections-do-not-shut-the-user-out
  (with-server [s]
    (let [idle (vec (repeatedly 100 #(connect s)))]
      (is (= 200 (first (ask s "GET /api/data" [(host s) (bearer s)]))))
      (run! #(.close ^Socket %) idle))))

(defn- flood
  "Returns a route of streams that send as fast as their readers read. Each counts the latch down when it ends."
  [^CountDownLatch cut]
  (fn route [_]
    {:events (fn events [send!]
               (let [line (str/join (repeat 10000 \x))]
                 (try (while true (send! line)) (finally (.countDown cut)))))}))

(deftest client-that-does-not-read-is-disconnected
  (let [cut (CountDownLatch. 8)
        s (page/serve! {:port 0 :files {} :routes (flood cut) :limits {:replying-ms 100}})]
    (try
      (let [idle (vec (repeatedly 8 #(stream! s)))]
        (is (.await cut deadline-ms TimeUnit/MILLISECONDS) "all eight have ended")
        (run! (fn [[^Socket socket]] (.close socket)) idle))
      (finally ((:stop! s))))))

(deftest incomplete-requests-do-not-shut-the-user-out-for-ever
  (let [s (page/serve! {:port 0 :files {} :routes routes :limits {:reading-ms 500}})]
    (try
      (let [half (vec (repeatedly 200 #(doto (connect s) (send! "GET / HTTP/1.1" (host s) "X-Half: "))))]
        (is (answered-in-time? s))
        (run! #(.close ^Socket %) half))
      (finally ((:stop! s))))))

(deftest stop-frees-the-port-and-the-threads
  (let [begun (CountDownLatch. 1), ended (CountDownLatch. 1)
        s (page/serve! {:port 0 :files {} :routes (fn [_] {:events (fn [send!]
                                                                     (send! "x")
                                                                     (.countDown begun)
                                                                     (try (Thread/sleep 100000) (finally (.countDown ended))))})})
        [socket] (stream! s)]
    (is (.await begun deadline-ms TimeUnit/MILLISECONDS))
    ((:stop! s))
    (is (.await ended deadline-ms TimeUnit/MILLISECONDS))
    (.close ^Socket socket)
    (is (thrown? ConnectException (connect s)))
    (let [again (page/serve! {:port (:port s) :files {} :routes (constantly nil)})]
      (is (= (:port s) (:port again)))
      (is (not= (:token s) (:token again)))
      (is (= :skein/port-in-use (try (page/serve! {:port (:port s) :files {} :routes (constantly nil)})
                                  (catch ExceptionInfo e (:skein/error (ex-data e))))))
      ((:stop! again)))))
