;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-stepping-test
  "Stepping through a block in a browser's debugger stops at the same lines as in a function."
  (:require
   [cljs.source-map :as source-map]
   [cljs.vendor.clojure.data.json :as json]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cljs.build :as build]
   [skein.skip :refer [skip!]])
  (:import
   (com.sun.net.httpserver HttpServer)
   (java.net URI)
   (java.net.http HttpClient HttpRequest HttpRequest$BodyPublishers HttpResponse$BodyHandlers WebSocket WebSocket$Listener)
   (java.util.concurrent BlockingQueue LinkedBlockingQueue TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private folder "modules/cljs/test/clojure/skein/cljs_stepping")
(def ^:private files "target/cljs/page") ; shared with the other programs for a page without optimizations
(def ^:private deadline-s 120)

(defn- parse [text] (json/read-str text :key-fn keyword))

(defn- debugger-port
  "Returns the port that the browser prints when it listens. Reads on, so that the browser never waits."
  [^Process browser]
  (let [port (promise)]
    (future (doseq [line (line-seq (io/reader (.getInputStream browser)))]
              (some->> line (re-find #"DevTools listening on ws://127.0.0.1:(\d+)/") second (deliver port))))
    (or (deref port (* 1000 (long deadline-s)) nil)
        (throw (ex-info (str "The browser opened no debugger in " deadline-s " s.") {})))))

(defn- new-page
  "Opens an empty page. Returns the address of its debugger."
  [port]
  (let [request (-> (HttpRequest/newBuilder (URI. (str "http://127.0.0.1:" port "/json/new?about:blank")))
                    (.PUT (HttpRequest$BodyPublishers/noBody))
                    .build)]
    (:webSocketDebuggerUrl (parse (.body (.send (HttpClient/newHttpClient) request (HttpResponse$BodyHandlers/ofString)))))))

(defn- connect
  "Returns the connection with the debugger at `address`, which puts its messages into `messages`."
  ^WebSocket [address ^BlockingQueue messages]
  (let [text (StringBuilder.)
        listener (reify WebSocket$Listener
                   (onText [_ socket part last?]
                     (.append text part)
                     (when last?
                       (.put messages (parse (str text)))
                       (.setLength text 0))
                     (.request socket 1)
                     nil))]
    (.join (.buildAsync (.newWebSocketBuilder (HttpClient/newHttpClient)) (URI. address) listener))))

(defn- send! [^WebSocket socket method params]
  (.join (.sendText socket (json/write-str {:id 1 :method method :params params}) true)))

(defn- next-stop
  "Returns where the program stops next: its function, and the place in JavaScript, [line column] from 0."
  [^BlockingQueue messages]
  (loop []
    (let [{:keys [method params] :as message} (.poll messages deadline-s TimeUnit/SECONDS)
          {:keys [functionName location]} (first (:callFrames params))]
      (cond
        (nil? message) (throw (ex-info (str "The program did not stop in " deadline-s " s.") {}))
        (= "Debugger.paused" method) [functionName ((juxt :lineNumber :columnNumber) location)]
        :else (recur)))))

(defn- steps
  "Returns the places from where the program stops to the end of that function, one step after the other, and lets
  the program continue."
  [socket messages]
  (let [[function place] (next-stop messages)
        places (loop [places [place]]
                 (send! socket "Debugger.stepOver" {})
                 (let [[now place] (next-stop messages)]
                   (if (= function now) (recur (conj places place)) places)))]
    (send! socket "Debugger.resume" {})
    places))

(defn- source-line
  "Returns the line of the source, from 0, that a browser shows for `place`: that of the last mapping up to there."
  [mappings place]
  (second (last (take-while (fn [[from]] (<= (compare from place) 0)) mappings))))

(defn- mappings-of
  "Returns the mappings of the JavaScript file `path`, [[line column] line-of-source], in order."
  [path]
  (sort-by first (for [[line columns] (source-map/decode (parse (slurp (str path ".map"))))
                       [column sources] columns
                       {source :line} sources]
                   [[line column] source])))

(deftest a-debugger-stops-at-the-lines-of-a-block
  (if (build/browser)
    (let [path (build/compile! folder 'skein.cljs-stepping.program :none :target nil :output-dir files)
          mappings (mappings-of (str files "/skein/cljs_stepping/program.js"))
          lines (mapv str/trim (str/split-lines (slurp (io/file folder "program.cljs"))))
          server (build/serve path (promise))
          browser (build/start-browser "about:blank")]
      (try
        (let [messages (LinkedBlockingQueue.)
              socket (connect (new-page (debugger-port browser)) messages)
              shown (fn [] (dedupe (map (fn [place] (get lines (source-line mappings place))) (steps socket messages))))]
          (send! socket "Debugger.enable" {})
          (send! socket "Page.navigate" {:url (str "http://127.0.0.1:" (.getPort (.getAddress ^HttpServer server)) "/")})
          (let [plain (shown)
                block (shown)
                all (drop 1 (drop-while (complement #{"(go"}) lines))]
            (is (= (take 12 all) (distinct block)) "each line, in order")
            (is (= (map (fn [line] (-> line (str/replace "poll!" "<!") (str/replace "offer!" ">!"))) plain)
                   block)
                "as in a function")))
        (finally
          (build/kill! browser)
          (.stop ^HttpServer server 0))))
    (skip! "there is no headless Chromium")))
