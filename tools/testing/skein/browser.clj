;; SPDX-License-Identifier: Apache-2.0
(ns skein.browser
  "Headless Chromium for tests of pages, driven through the JDK's own WebSocket client.

  * `with-browser`, `open!`, `js`, `wait-for!`, `key!`, `screenshot!`
  * `heard` returns the errors of the page, and `asked` the URLs that it has requested"
  (:require
   [clojure.data.json :as json]
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (java.io File)
   (java.net URI)
   (java.net.http HttpClient HttpRequest HttpResponse$BodyHandlers WebSocket WebSocket$Listener)
   (java.nio.file Files)
   (java.util Base64)
   (java.util.concurrent CompletableFuture ConcurrentHashMap TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:const ^:private deadline-ms 30000)

(defn program
  "Returns the path of a headless Chromium, or nil."
  []
  (first (for [name ["chromium-headless-shell" "chrome-headless-shell"]
               dir (str/split (or (System/getenv "PATH") "") (re-pattern File/pathSeparator))
               :let [file (io/file dir name)]
               :when (.canExecute file)]
           (str file))))

(defn eventually
  "Returns the first truthy value of `f`. At the deadline throws an exception with `message`."
  [message f]
  (let [end (+ (System/nanoTime) (* 1000000 (long deadline-ms)))]
    (loop []
      (or (f)
          (if (neg? (- end (System/nanoTime)))
            (throw (ex-info (str "never: " message) {}))
            (do (Thread/sleep 10) (recur)))))))

(defn- start-process! ^Process [profile]
  (let [^java.util.List command [(program) "--headless" "--no-sandbox" "--disable-gpu" "--disable-dev-shm-usage" "--remote-debugging-port=0"
                                 (str "--user-data-dir=" profile) "about:blank"]]
    (-> (ProcessBuilder. command)
        (.redirectErrorStream true)
        (.redirectOutput (io/file profile "log.txt"))
        .start)))

(defn- page-address [^HttpClient client profile]
  (let [port-file (io/file profile "DevToolsActivePort")
        port (eventually "the browser has a port"
               (fn port [] (when (.exists port-file) (second (re-find #"^(\d+)\n" (slurp port-file))))))
        request (.build (HttpRequest/newBuilder (URI. (str "http://127.0.0.1:" port "/json"))))]
    (eventually "the browser has a page"
      (fn page []
        (some (fn url [target] (when (= "page" (target "type")) (target "webSocketDebuggerUrl")))
              (json/read-str (.body (.send client request (HttpResponse$BodyHandlers/ofString)))))))))

(defn- listener [on-message]
  (let [text (StringBuilder.)]
    (reify WebSocket$Listener
      (onText [_ socket part last?]
        (.append text part)
        (when last?
          (on-message (json/read-str (str text)))
          (.setLength text 0))
        (.request socket 1)
        nil))))

(defn call!
  "Calls a method of the browser's protocol. Returns its result."
  [{:keys [^WebSocket socket ^ConcurrentHashMap replies ids]} method params]
  (let [id (swap! ids inc), reply (CompletableFuture.)]
    (.put replies id reply)
    (.join (.sendText socket (json/write-str {"id" id "method" method "params" params}) true))
    (let [{:strs [result error]} (.get reply deadline-ms TimeUnit/MILLISECONDS)]
      (if error (throw (ex-info (str method ": " error) {})) result))))

(defn- connect! [process profile]
  (let [client (HttpClient/newHttpClient)
        replies (ConcurrentHashMap.), events (atom [])
        on-message (fn on-message [{:strs [id] :as message}]
                     (if id
                       (some-> ^CompletableFuture (.remove replies id) (.complete message))
                       (swap! events conj message)))
        socket (.join (.buildAsync (.newWebSocketBuilder client) (URI. (page-address client profile)) (listener on-message)))
        browser {:process process :profile profile :client client :socket socket :replies replies :events events :ids (atom 0)}]
    (doseq [domain ["Runtime" "Page" "Network" "Log"]] (call! browser (str domain ".enable") {}))
    browser))

(defn close!
  "Ends the browser and deletes what it has written."
  [{:keys [^Process process profile ^HttpClient client]}]
  (run! (fn [^java.lang.ProcessHandle h] (.destroyForcibly h)) (iterator-seq (.iterator (.descendants process))))
  (.waitFor (.destroyForcibly process))
  (some-> client .shutdownNow)
  (run! (fn [^File f] (.delete f)) (reverse (file-seq (io/file profile)))))

(defn start!
  "Returns a browser with one empty page, see `with-browser`."
  []
  (let [profile (str (Files/createTempDirectory "skein-browser" (make-array java.nio.file.attribute.FileAttribute 0)))
        process (start-process! profile)]
    (try (connect! process profile)
         (catch Throwable t (close! {:process process :profile profile}) (throw t)))))

(defmacro with-browser
  "Evaluates the body with `browser` bound to a new browser, which is ended afterwards."
  [[browser] & body]
  `(let [~browser (start!)]
     (try ~@body (finally (close! ~browser)))))

(defn js
  "Returns the value of an expression of JavaScript in the page, as data; it may be a promise."
  [browser expression]
  (let [{:strs [result exceptionDetails]}
        (call! browser "Runtime.evaluate" {"expression" expression "returnByValue" true "awaitPromise" true})]
    (if exceptionDetails
      (throw (ex-info (str expression ": " (get-in exceptionDetails ["exception" "description"])) {}))
      (result "value"))))

(defn wait-for!
  "Waits until an expression of JavaScript is truthy, and returns its value."
  [browser expression]
  (eventually expression (fn ask [] (js browser expression))))

(defn open!
  "Goes to `url`, and waits until it is loaded."
  [browser url]
  (call! browser "Page.navigate" {"url" url})
  (wait-for! browser "document.readyState === 'complete'"))

(defn key!
  "Presses a key, such as \"j\" or \"Enter\"."
  [browser key]
  (let [text (case key "Enter" "\r" (when (= 1 (count key)) key))
        params (cond-> {"key" key "code" key} (= "Enter" key) (assoc "windowsVirtualKeyCode" 13) (= "Tab" key) (assoc "windowsVirtualKeyCode" 9))]
    (call! browser "Input.dispatchKeyEvent" (cond-> (assoc params "type" "keyDown") text (assoc "text" text)))
    (call! browser "Input.dispatchKeyEvent" (assoc params "type" "keyUp"))))

(defn type!
  "Types `text` into the focused element."
  [browser text]
  (call! browser "Input.insertText" {"text" text}))

(defn look!
  "Sets the size of the page and its colour scheme, \"light\" or \"dark\"."
  [browser width height scheme]
  (call! browser "Emulation.setDeviceMetricsOverride" {"width" width "height" height "deviceScaleFactor" 1 "mobile" false})
  (call! browser "Emulation.setEmulatedMedia" {"features" [{"name" "prefers-color-scheme" "value" scheme}]}))

(defn screenshot!
  "Writes what the page shows to the file `path`, as PNG."
  [browser path]
  (let [^String data (get (call! browser "Page.captureScreenshot" {"format" "png"}) "data")]
    (io/make-parents path)
    (io/copy (.decode (Base64/getDecoder) data) (io/file path))))

(defn- told [{:keys [events]} method]
  (keep (fn of [m] (when (= method (m "method")) (m "params"))) @events))

(defn heard
  "Returns the errors of the page: exceptions, logged errors, and what the browser has refused."
  [browser]
  (concat (map (fn thrown [p] (get-in p ["exceptionDetails" "exception" "description"])) (told browser "Runtime.exceptionThrown"))
          (for [p (told browser "Runtime.consoleAPICalled") :when (#{"error" "warning" "assert"} (p "type"))] (str (p "args")))
          (for [{:strs [entry]} (told browser "Log.entryAdded") :when (#{"error" "warning"} (entry "level"))] (str (entry "text") " " (entry "url")))))

(defn asked
  "Returns the URLs that the page has requested."
  [browser]
  (map (fn url [p] (get-in p ["request" "url"])) (told browser "Network.requestWillBeSent")))
