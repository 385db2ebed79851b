;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.build
  "Compiles ClojureScript and runs it: in Node, and in a headless browser."
  (:require
   [cljs.build.api :as build]
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (com.sun.net.httpserver HttpExchange HttpHandler HttpServer)
   (java.io File)
   (java.net InetAddress InetSocketAddress)
   (java.nio.file Files)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private deadline-s 120)

(defn- folder ^File [& parts]
  (apply io/file "target" "cljs" parts))

(defn compile!
  "Compiles the namespace `main` in `source`, a folder or several, with :optimizations `level`. Returns the
  path of the program. More options of the compiler are in `options`. Without optimizations it is a program for Node;
  :target nil makes one for a page. Programs with the same :output-dir share what was compiled, if they have the
  same level and target. Without optimizations, run each before the next is compiled."
  [source main level & {:as options}]
  (let [page? (and (= :none level) (nil? (:target options :nodejs)))
        name (str main "-" (clojure.core/name level) (when page? "-page"))
        files (str (:output-dir options (folder name)))
        out (str (:output-to options (folder (str name ".js"))))]
    (build/build (apply build/inputs (if (string? source) [source] source))
                 (merge {:main main
                         :optimizations level
                         :output-to out
                         :output-dir files
                         :closure-warnings {:check-useless-code :off}} ; random forms have some
                        (cond
                          page? {:asset-path (str "/" files)}
                          (= :none level) {:target :nodejs})
                        options))
    out))

(defn- program
  "Returns the first of `names` that is a program on the PATH, or nil."
  [& names]
  (first (for [name names
               dir (str/split (or (System/getenv "PATH") "") (re-pattern File/pathSeparator))
               :let [file (io/file dir name)]
               :when (.canExecute file)]
           (str file))))

(defn node
  "Returns the path of Node, or nil."
  []
  (program "node" "nodejs"))

(defn browser
  "Returns the path of a headless browser, or nil."
  []
  (program "chromium-headless-shell" "chrome-headless-shell"))

(defn kill!
  "Ends `process` and the processes that it has started."
  [^Process process]
  (run! (fn [^java.lang.ProcessHandle h] (.destroyForcibly h)) (iterator-seq (.iterator (.descendants process))))
  (.destroyForcibly process))

(defn- run
  "Runs `command`. Returns its output. A process that does not end is killed, and the output says so."
  [command]
  (let [out (File/createTempFile "skein-cljs" ".txt")
        process (-> (ProcessBuilder. ^java.util.List command)
                    (.redirectErrorStream true)
                    (.redirectOutput out)
                    (.start))]
    (try
      (let [ended? (.waitFor process deadline-s TimeUnit/SECONDS)]
        (when-not ended? (kill! process))
        (str (slurp out) (when-not ended? (str "\nKILLED after " deadline-s " s: " (str/join " " command)))))
      (finally (.delete out)))))

(defn run-in-node
  "Runs the program at `path` in Node with `args`. Those that begin with -- are options of Node. Returns what the
  program printed."
  [path & args]
  (let [option? (fn [arg] (str/starts-with? arg "--"))]
    (run (vec (concat [(node)] (filter option? args) [path] (remove option? args))))))

(defn serve
  "Returns a running server of a page with the program at `path` and of the files that it loads. It delivers to the
  promise `result` what the program posts."
  ^HttpServer [path result]
  (let [page "<!doctype html><meta charset=utf-8><pre></pre><script src=program.js></script>"
        bytes-of (fn [path] (let [file (io/file path)]
                              (if (.isFile file) (Files/readAllBytes (.toPath file)) (byte-array 0))))
        answer (fn [^HttpExchange exchange ^bytes body]
                 (.sendResponseHeaders exchange 200 (if (zero? (alength body)) -1 (alength body)))
                 (with-open [out (.getResponseBody exchange)] (.write out body)))]
    (doto (HttpServer/create (InetSocketAddress. (InetAddress/getLoopbackAddress) 0) 0)
      (.createContext "/" (reify HttpHandler
                            (handle [_ exchange]
                              (case (.getPath (.getRequestURI exchange))
                                "/" (answer exchange (.getBytes page))
                                "/program.js" (answer exchange (bytes-of path))
                                "/result" (do (deliver result (slurp (.getRequestBody exchange)))
                                              (answer exchange (byte-array 0)))
                                (answer exchange (bytes-of (subs (.getPath (.getRequestURI exchange)) 1)))))))
      .start)))

(defn start-browser
  "Returns the process of a browser that opens the page `url`. Its errors are in its output."
  ^Process [url]
  (let [profile (str (Files/createTempDirectory "skein-cljs" (make-array java.nio.file.attribute.FileAttribute 0)))
        command [(browser) "--headless" "--no-sandbox" "--disable-gpu" "--remote-debugging-port=0"
                 (str "--user-data-dir=" profile) url]]
    (-> (ProcessBuilder. ^java.util.List command) (.redirectErrorStream true) .start)))

(defn run-in-browser
  "Runs the program at `path` in a page. Returns what it posts to /result at its end."
  [path]
  (let [result (promise)
        server (serve path result)
        process (start-browser (str "http://127.0.0.1:" (.getPort (.getAddress server)) "/"))
        log (future (slurp (.getInputStream process)))]
    (try
      (or (deref result (* 1000 (long deadline-s)) nil)
          (do (kill! process)
              (str "The page posted no result in " deadline-s " s.\n" @log)))
      (finally
        (kill! process)
        (.stop server 0)))))

(defn counts
  "Returns the counts of the tests that printed `output`, {:test :pass :fail :error}, or nil if they
  did not end."
  [output]
  (some->> output (re-find #"COUNTS (\{[^}]*\})") second edn/read-string))
