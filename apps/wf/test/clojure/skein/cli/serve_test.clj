;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.serve-test
  "`skein wf --serve`, over plain HTTP and in headless Chromium, and the page of --html in the latter. Without Chromium those tests are skipped."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.browser :as b]
   [skein.cli :as cli]
   [skein.skip :refer [skip!]]
   [skein.wf.html :as html])
  (:import
   (java.io BufferedReader ByteArrayOutputStream File FileOutputStream PrintStream)
   (java.net ServerSocket URI)
   (java.net.http HttpClient HttpRequest HttpResponse HttpResponse$BodyHandlers)
   (java.util.concurrent LinkedBlockingQueue TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:const ^:private deadline-ms 30000)

(defn- temp-file ^File [suffix]
  (doto (File/createTempFile "skein-serve" suffix) .deleteOnExit))

(defn- line
  ([n] (line n (str "/page-" n)))
  ([n url] (str "10.0.0." (mod n 250) " - - [30/Mar/2006:" (format "%02d" (mod n 24)) ":00:00 -0700] \"GET " url " HTTP/1.1\" 200 " (* 10 (long n)) " \"-\" \"x\"\n")))

(defn- append! [^File file texts]
  (with-open [out (FileOutputStream. file true)] (.write out (.getBytes ^String (str/join texts)))))

(defn- log-of ^File [texts]
  (doto (temp-file ".log") (append! texts)))

(defn- start
  "Runs `skein wf --serve ARGUMENTS` on a thread. Returns {:url :port :token :stop (fn []), which returns {:code :err}}."
  [& arguments]
  (let [printed (LinkedBlockingQueue.), err (ByteArrayOutputStream.)
        out (proxy [ByteArrayOutputStream] [] (write ([^bytes bytes] (.put printed (String. bytes "UTF-8")))))
        code (promise)
        thread (doto (Thread. ^Runnable (fn serve [] (deliver code (cli/run (map str (list* "wf" "--serve" arguments)) {:out out, :err (PrintStream. err true "UTF-8")}))))
                 .start)
        url (str/trim (str (.poll printed deadline-ms TimeUnit/MILLISECONDS)))
        [_ port token] (re-matches #"http://127\.0\.0\.1:(\d+)/#t=([\w-]+)" url)]
    {:url url, :port (some-> port parse-long), :token token
     :stop (fn stop [] (.interrupt thread) {:code (deref code deadline-ms :late), :err (.toString err "UTF-8")})}))

(defmacro ^:private with-page [[page & arguments] & body]
  `(let [~page (start ~@arguments)]
     (try ~@body (finally ((:stop ~page))))))

(defn- ask
  "Returns [status text] of a request with the token, or with these headers."
  ([{:keys [token] :as page} path] (ask page path ["Authorization" (str "Bearer " token)]))
  ([{:keys [port]} path headers]
   (let [request (cond-> (HttpRequest/newBuilder (URI. (str "http://127.0.0.1:" port path)))
                   (seq headers) (.headers (into-array String headers)))
         ^HttpResponse reply (.send (HttpClient/newHttpClient) (.build request) (HttpResponse$BodyHandlers/ofString))]
     [(.statusCode reply) (.body reply)])))

(defn- report
  "Returns the report, once there is one."
  ([page] (report page ""))
  ([page query]
   (b/eventually "there is a report" (fn [] (let [[status text] (ask page (str "/api/report" query))] (when (= 200 status) text))))))

;;;; Over HTTP

(deftest the-report-needs-the-token
  (let [secret "/canary-4711"]
    (with-page [page (log-of [(line 1 secret)])]
      (is (str/includes? (report page) secret))
      (doseq [path ["/" "/report.css" "/report.js" "/live.js" "/client.js" "/morph.js"]
              :let [[status text] (ask page path nil)]]
        (is (= 200 status) path)
        (is (not (str/includes? text secret)) path))
      (doseq [[path headers] [["/api/report" nil] ["/api/report" ["Authorization" "Bearer x"]] [(str "/api/report?t=" (:token page)) nil]
                              ["/api/report" ["Authorization" (str "Bearer " (:token page)) "Sec-Fetch-Site" "cross-site"]]
                              ["/api/report" ["Authorization" (str "Bearer " (:token page)) "Origin" "http://evil.example"]]]]
        (is (= [403 ""] (ask page path headers)) [path headers]))
      (is (= [404 ""] (ask page "/api/nothing")))
      (is (not (str/includes? (second (ask page "/" nil)) "style=")) "the policy forbids style in elements"))))

(deftest client-data-is-escaped
  (with-page [page (log-of [(line 1 "/<script>alert(1)</script>")])]
    (is (str/includes? (report page) "/&lt;script&gt;alert(1)&lt;/script&gt;"))
    (is (not (re-find #"<script|style=|\bon\w+=" (report page))))))

(deftest port-0-takes-a-free-port
  (with-page [page "--port" "0" (log-of [(line 1)])]
    (is (str/includes? (report page) "/page-1"))))

(deftest tables-open-to-the-end-and-sort
  (let [urls (fn urls [html] (re-seq #"/page-\d+" (re-find #"(?s)<section id=t1.*?</section>" html)))]
    (with-page [page "--quiet" (log-of (concat (map line (range 1 301)) [(line 7)]))]
      (is (= 10 (count (urls (report page)))))
      (is (= "/page-7" (first (urls (report page)))))
      (is (= 300 (count (urls (report page "?t1=+all")))))
      (is (= ["/page-300" "/page-299"] (take 2 (urls (report page "?t1=1")))))
      (is (= ["/page-1" "/page-2"] (take 2 (urls (report page "?t1=1+up")))))
      (is (= ["/page-1" "/page-10"] (take 2 (urls (report page "?t1=2+up+all")))))
      (testing "absurd requests get nothing"
        (is (= 10 (count (urls (report page "?t1=99+up&t2=x&x=%00")))))))))

(deftest the-page-shows-progress
  (with-page [page "--follow" (log-of [(line 1)])]
    (is (str/includes? (report page) "/page-1"))
    (let [request (-> (HttpRequest/newBuilder (URI. (str "http://127.0.0.1:" (:port page) "/api/stream")))
                      (.header "Authorization" (str "Bearer " (:token page))) .build)
          ^HttpResponse reply (.send (HttpClient/newHttpClient) request (HttpResponse$BodyHandlers/ofInputStream))]
      (with-open [in (BufferedReader. (io/reader (.body reply)))]
        (is (re-find #"^data: \{.*\"rev\":\d+,.*\"state\":\"following\"" (.readLine in)))))))

(deftest wrong-options-are-one-line
  (let [log (str (log-of [(line 1)]))
        run (fn run [& arguments]
              (let [err (ByteArrayOutputStream.), out (ByteArrayOutputStream.)
                    code (cli/run (cons "wf" arguments) {:out out, :err (PrintStream. err true "UTF-8")})]
                [code (str out) (str/trim-newline (str err))]))]
    (doseq [[says arguments] {"--format" ["--serve" "--format" "json" log]
                              "--html" ["--serve" "--html" "x.html" log]
                              "--spark" ["--serve" "--spark" "local" log]
                              "add --serve" ["--port" "80" log]
                              "Failed to validate \"--port 65536\": must be a whole number from" ["--serve" "--port" "65536" log]
                              "--preset wf2 makes a fixed report" ["--serve" "--preset" "wf2" log]}
            :let [[code out err] (apply run arguments)]]
      (is (= [2 ""] [code out]) arguments)
      (is (str/includes? err says) err)
      (is (not (str/includes? err "\n"))))
    (testing "a port that is taken"
      (with-open [taken (ServerSocket. 0 1 (java.net.InetAddress/getByName "127.0.0.1"))]
        (let [[code out err] (run "--serve" "--port" (str (.getLocalPort taken)) log)]
          (is (= [2 ""] [code out]))
          (is (re-find #"Can't listen on port \d+: .*Port 0 takes a free one" err)))))))

(deftest a-missing-log-ends-it
  (let [{:keys [stop]} (start "/no/such.log")]
    (is (= {:code 2, :err "Open it in a browser on this machine. Ctrl-C ends it.\nskein wf: There is no file /no/such.log. Check the spelling, and the folder in which the program runs.\n"}
           (stop)))))

;;;; In a browser

(defn- in-browser
  "Calls `f` with a browser at `url`, and asserts that the page logs no error."
  [url f]
  (if (b/program)
    (b/with-browser [browser]
      (b/look! browser 1280 900 "light")
      (b/open! browser url)
      (f browser)
      (is (= [] (remove #(re-find #"ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_REFUSED" %) (b/heard browser))) "except that its server has ended"))
    (skip! "there is no headless Chromium")))

(defn- urls [browser] (b/js browser "[...document.querySelectorAll('#t1 tbody tr')].filter(r => !r.hidden).map(r => r.lastChild.textContent.trim())"))

(defn- click! [browser selector] (b/js browser (str "document.querySelector(\"" selector "\").click()")))

(defn- use-table
  "Sorts and opens the first table. Its log has a line for each of 40 URLs, with 10, 20 ... 400 bytes, and a second one for /page-7."
  [browser]
  (b/wait-for! browser "!!document.querySelector('#t1 tbody tr')")
  (is (= [10 "/page-7"] [(count (urls browser)) (first (urls browser))]))
  (is (= "All 40 rows" (b/js browser "document.querySelector('#t1 button.all').textContent")))
  (click! browser "#t1 th:nth-child(2) button")
  (b/eventually "sorted by bytes" (fn [] (= "/page-40" (first (urls browser)))))
  (is (= "descending" (b/js browser "document.querySelector('#t1 th:nth-child(2)').getAttribute('aria-sort')")))
  (click! browser "#t1 th:nth-child(2) button")
  (b/eventually "sorted the other way" (fn [] (= "/page-1" (first (urls browser)))))
  (click! browser "#t1 button.all")
  (b/eventually "open" (fn [] (= 40 (count (urls browser)))))
  (is (= "Fewer rows" (b/js browser "document.querySelector('#t1 button.all').textContent")))
  (click! browser "#t1 th:last-child button")
  (b/eventually "sorted by URL" (fn [] (= ["/page-1" "/page-10" "/page-11"] (take 3 (urls browser))))))

(defn- forty [] (concat (map line (range 1 41)) [(line 7)]))

(deftest the-page-sorts-opens-and-updates
  (let [log (log-of (forty))]
    (with-page [page "--follow" log]
      (in-browser (:url page)
        (fn [browser]
          (use-table browser)
          (is (= "" (b/js browser "location.hash.replace('#/', '')")) "the token is not in the address any more")
          (append! log [(line 1 "/page-100") "no line at all\n"])
          (b/eventually "the new line, with the order and the rows as they were"
            (fn [] (= ["/page-1" "/page-10" "/page-100" "/page-11"] (take 4 (urls browser)))))
          (is (= 41 (count (urls browser))))
          (is (str/includes? (b/js browser "document.querySelector('#report').textContent") "malformed1"))
          (is (str/starts-with? (b/js browser "document.querySelector('#now').textContent") "Live."))
          (b/screenshot! browser "target/wf/serve.png")
          ((:stop page))
          (b/wait-for! browser "document.querySelector('#now').textContent.includes('has ended')")
          (is (= 41 (count (urls browser))) "the last report stays"))))))

(deftest the-page-of-a-file-needs-no-server
  (let [file (temp-file ".html"), log (log-of (forty)), out (ByteArrayOutputStream.)]
    (is (= 0 (cli/run ["wf" "--quiet" "--html" (str file) (str log)] {:out out, :err (PrintStream. out)})))
    (in-browser (str "file://" file)
      (fn [browser]
        (use-table browser)
        (b/screenshot! browser "target/wf/static.png")))))
