;; SPDX-License-Identifier: Apache-2.0
(ns skein.console-test
  "The console over plain HTTP."
  (:require
   [clojure.data.json :as json]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! >! chan go]]
   [skein.console :as console]
   [skein.inspect :as inspect])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io Closeable)
   (java.net URI)
   (java.net.http HttpClient HttpRequest HttpRequest$BodyPublishers HttpResponse HttpResponse$BodyHandlers)))

(set! *warn-on-reflection* true)

(def ^:private deadline-ms 30000)

(defn- ask
  "Returns the [status text] of a console's reply."
  ([console path] (ask console "GET" path))
  ([{:keys [url port]} method path]
   (let [token (second (re-find #"#t=(.+)" url))
         request (-> (HttpRequest/newBuilder (URI. (str "http://127.0.0.1:" port path)))
                     (.header "Authorization" (str "Bearer " token))
                     (.method method (HttpRequest$BodyPublishers/noBody))
                     .build)
         ^HttpResponse reply (.send (HttpClient/newHttpClient) request (HttpResponse$BodyHandlers/ofString))]
     [(.statusCode reply) (.body reply)])))

(defn- data [console path]
  (let [[status text] (ask console path)]
    (if (= 200 status) (json/read-str text :key-fn keyword) [status text])))

(defn- fresh
  "Like `data`, but first takes a look if one is due, as a page would."
  [console path]
  (ask console "/metrics")
  (data console path))

(defn- eventually [f]
  (let [end (+ (System/nanoTime) (* 1000000 (long deadline-ms)))]
    (loop []
      (or (f) (if (neg? (- end (System/nanoTime))) (throw (ex-info "the deadline passed" {})) (do (Thread/sleep 20) (recur)))))))

(defn- serve! ^Closeable [options]
  (inspect/stop!)
  (inspect/start!)
  (console/serve! options))

(defmacro ^:private with-console [[console options] & body]
  `(try
     (with-open [~console (serve! ~options)] ~@body)
     (finally (inspect/stop!))))

(deftest the-page-has-its-parts
  (with-console [c {}]
    (let [index (second (ask c "/"))
          parts (concat (map second (re-seq #"(?:src|href)=\"(/[^\"]+)\"" index))
                        (mapcat #(map (fn [m] (str "/" (second m))) (re-seq #"from '\./([^']+)'" (second (ask c %)))) ["/app.js" "/overview.js" "/block.js" "/graph.js"]))]
      (is (< 5 (count (set parts))))
      (doseq [path parts] (is (= 200 (first (ask c path))) path))
      (is (> 60000 (reduce + (map (comp count second (partial ask c)) (distinct (cons "/" parts))))) "60 kB in all"))))

(deftest api-answers-the-page
  (let [c (a/label! (chan) "jobs"), block (go (<! c))]
    (with-console [console {}]
      (let [again (go (<! c))
            id (eventually #(:id (first (:rows (fresh console "/api/blocks?q=chan:jobs")))))]
        (is (= "jobs" (get-in (data console (str "/api/block?id=" id)) [:waits-in 0 :name])))
        (is (= "console_test.clj" (last (str/split (:file (data console (str "/api/block?id=" id))) #"/"))))
        (is (some :here? (:source (data console (str "/api/block?id=" id)))))
        (doseq [path ["overview" "problems" "sites" "blocks" "channels" "threads" "graph" "scopes"]]
          (is (map? (data console (str "/api/" path))) path))
        (doseq [path ["block?id=999999" "block" "channel?id=x" "before"]]
          (is (nil? (data console (str "/api/" path))) path))
        (is (= 404 (first (data console "/api/nothing"))))
        (is (= [400 "{\"error\":\"The filter can't be read at \\\"age>x\\\": a time is a number with ms, s, m or h.\"}"] (data console "/api/blocks?q=age%3Ex")))
        (is (str/includes? (second (ask console "/metrics")) "# EOF"))
        (is (= 1 (get (json/read-str (second (ask console "/api/dump.json"))) "skein/snapshot")))
        (a/close! c)
        (is (some? [block again]))))))

(deftest no-value-leaves-the-program
  (let [canary (str "canary-" (System/nanoTime))
        c (a/label! (chan 1) "secrets")]
    (with-console [console {}]
      (let [put (go (>! c canary) (>! c {:secret canary}))
            local (go (let [x [canary]] (<! (a/promise-chan)) x))]
        (eventually #(seq (:rows (fresh console "/api/blocks?q=chan:secrets"))))
        (doseq [path ["/api/overview" "/api/problems" "/api/sites" "/api/blocks" "/api/channels" "/api/threads" "/api/graph" "/api/scopes"
                      "/api/dump.json" "/api/dump.edn" "/metrics" "/" "/app.js"]
                :let [[status text] (ask console path)]]
          (is (= 200 status) path)
          (is (not (str/includes? text canary)) path))
        (doseq [{:keys [id]} (:rows (data console "/api/blocks"))]
          (is (not (str/includes? (second (ask console (str "/api/block?id=" id))) canary))))
        (a/poll! c)
        (a/close! c)
        (is (some? [put local]))))))

(deftest actions-are-refused-unless-enabled
  (with-console [c {}]
    (doseq [path ["/api/prove" "/api/blocks" "/api/dump.json"]]
      (is (= 404 (first (ask c "POST" path))) path)))
  (with-console [c {:actions #{:prove}}]
    (is (= 200 (first (ask c "POST" "/api/prove"))))
    (is (= 404 (first (ask c "GET" "/api/prove"))))))

(deftest deadlock-is-proven-on-request
  (with-console [c {:actions #{:prove}}]
    ((fn [] (let [x (chan)] (go (>! x :lost)))))
    (eventually #(do (ask c "POST" "/api/prove")
                     (some (fn [f] (and (= "proven" (:rank f)) (str/includes? (:says f) "(>! x :lost)"))) (:findings (data c "/api/problems")))))
    (is (re-find #"never end" (:headline (data c "/api/overview"))))))

(deftest stop-leaves-nothing-behind
  (inspect/stop!)
  (let [{:keys [port] :as first-one} (console/serve! {:port 0})
        second-one (console/serve! {:port 0})]
    (is (= :registry (inspect/level)))
    (is (map? (data first-one "/api/overview")))
    (is (map? (data second-one "/api/overview")) "two look at one program")
    (is (= :skein/port-in-use (try (console/serve! {:port port}) (catch ExceptionInfo e (:skein/error (ex-data e))))))
    (is (= [nil nil] (repeatedly 2 #(.close ^Closeable first-one))) "once counts")
    (is (= :registry (inspect/level)) "the other one still looks")
    (is (map? (data second-one "/api/overview")))
    (.close ^Closeable second-one)
    (is (= :off (inspect/level)))
    (testing "the port is free"
      (let [again (console/serve! {:port port})]
        (is (= port (:port again)))
        (.close ^Closeable again)))))

(deftest bad-options-are-refused
  (doseq [options [{:port -1} {:port "80"} {:target 4711} {:actions [:prove]} {:actions #{:kill}} {:colour :red} 5]]
    (is (= :skein/bad-argument (try (.close (console/serve! options)) nil (catch ExceptionInfo e (:skein/error (ex-data e))))) options)))
