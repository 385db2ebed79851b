;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.target-test
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! chan go]]
   [skein.console.target :as target]
   [skein.inspect :as inspect]
   [skein.inspect.remote :as remote]
   [skein.kind :refer [kind-of]])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io BufferedReader File InputStreamReader)
   (java.lang ProcessBuilder$Redirect)
   (java.util List)))

(set! *warn-on-reflection* true)

(defn- refused [s]
  (try (target/target s) nil
       (catch ExceptionInfo e (kind-of (ex-data e)))))

(deftest bad-targets-are-refused
  (is (= :skein/bad-argument (refused "no-such-file.edn")))
  (is (= :skein/not-inspectable (refused "999999999") (refused "127.0.0.1:1") (refused "127.0.0.1:99999")))
  (is (thrown-with-msg? ExceptionInfo #"nothing answers there \(ConnectException: Connection refused\)\." (target/target "127.0.0.1:1")))
  (is (= [:skein/file :foreign] (refused "deps.edn")))
  (let [json (File/createTempFile "skein-console" ".json")]
    (is (= [:skein/file :foreign] (refused (str json))))
    (io/delete-file json))
  (let [edn (File/createTempFile "skein-console" ".edn")]
    (doseq [text ["{:skein/snapshot 1 :blocks 7}" "{:skein/snapshot 1 :channels {:a 1}}" "{:skein/snapshot 1 :threads [7]}" "{:skein/snapshot 1 :blocks [{:id 1"]]
      (spit edn text)
      (is (= [:skein/file :foreign] (refused (str edn))) text))
    (io/delete-file edn))
  (is (= [:skein/file :foreign] (refused "LICENSE"))))

(deftest this-process-is-left-as-it-was
  (inspect/stop!)
  (let [{:keys [look close! live? paths]} (target/target nil)
        c (a/label! (chan) "kept")]
    (go (<! c))
    (loop [] (when-not (some (comp #{"kept"} :label) (:channels (look false))) (recur)))
    (is live?)
    (is (some #(str/ends-with? % "test/clojure") (paths)))
    (close!)
    (is (= :off (inspect/level)))
    (a/close! c))
  (inspect/start!)
  ((:close! (target/target nil)))
  (is (= :registry (inspect/level)) "it was on before")
  (inspect/stop!))

(deftest a-dump-is-not-live
  (let [file (File/createTempFile "skein-console" ".edn")]
    (try
      (inspect/start!)
      (inspect/dump! {:to (str file)})
      (let [{:keys [look live? name]} (target/target (str file))]
        (is (not live?))
        (is (= (str (.getName file) ", a file") name))
        (is (= 1 (:skein/snapshot (look false)))))
      (finally (inspect/stop!) (io/delete-file file)))))

(defn- start
  "Starts a process that runs a form, which prints when it is ready, without the inspector."
  (^Process [program] (start (System/getProperty "java.class.path") program))
  (^Process [class-path program]
   (let [^List command [(str (System/getProperty "java.home") "/bin/java") "-Xmx300m" "-cp" class-path "clojure.main" "-e" (pr-str program)]
         process (-> (ProcessBuilder. command) (.redirectError ProcessBuilder$Redirect/INHERIT) .start)]
     (.readLine (BufferedReader. (InputStreamReader. (.getInputStream process))))
     process)))

(deftest a-process-is-a-target-until-it-ends
  (let [process (start '(do (require '[skein.async :as a])
                            (def c (a/chan))
                            (def steps (a/go-loop [] (a/<! (a/timeout 20)) (recur)))
                            (def waits (a/go (a/<! c)))
                            (println "ready")
                            (a/<!! (a/chan))))]
    (try
      (let [{:keys [look close! live? paths timeline record!]} (target/target (str (.pid process)))
            forms (fn forms [] (map (comp :form :site) (:blocks (look false))))]
        (is live?)
        (is (= (System/getProperty "user.dir") (str (.normalize (.toPath (io/file (first (paths))))))))
        (loop [] (when-not (some #{"(a/<! (a/timeout 20))"} (forms)) (recur)))
        (is (not-any? #{"(a/<! c)"} (forms)) "it was parked before the first look, and has taken no step")
        (is (:was-off? (look true)) "however often it has looked")
        (let [before (paths)]
          (is (= :skein/not-inspectable (try (timeline 1000) (catch ExceptionInfo e (kind-of (ex-data e))))))
          (is (= before (paths)) "a refusal does not hide its source"))
        (record!)
        (loop [] (when (empty? (:slices (timeline 1000))) (recur)))
        (close!)
        (is (:was-off? (remote/snapshot-of (str (.pid process)) false)) "the console had switched it on, so it has switched it off")
        (let [second-one (target/target (str (.pid process)))]
          ((:look second-one) false)
          ((:close! second-one))
          (is (not (:was-off? (remote/snapshot-of (str (.pid process)) false))) "somebody else had switched it on"))
        (.waitFor (.destroyForcibly process))
        (is (= :skein/not-inspectable (try (look false) (catch ExceptionInfo e (kind-of (ex-data e))))))
        (is (= :skein/not-inspectable (try (look false) (catch ExceptionInfo e (kind-of (ex-data e))))) "it tries again")
        (close!))
      (finally (.destroyForcibly process)))))

(deftest process-without-the-inspector-is-refused-at-once
  (let [class-path (str/join File/pathSeparator (remove #(re-find #"modules.inspect" %) (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))))
        process (start class-path '(do (println "ready") @(promise)))]
    (try
      (is (thrown-with-msg? ExceptionInfo #"can't be inspected: it does not have skein\.inspect on its class path\." (target/target (str (.pid process)))))
      (finally (.destroyForcibly process)))))

(deftest heap-of-a-process-shows-older-blocks
  (let [process (start '(do (require '[skein.async :as a])
                            (def c (a/chan))
                            (def waits (a/go (a/<! c)))
                            (println "ready")
                            (a/<!! (a/chan))))
        pid (str (.pid process))
        said (atom [])]
    (try
      (let [{:keys [look live? name]} (target/target pid {:heap? true :told #(swap! said conj %)})]
        (is (not live?))
        (is (= (str "process " pid ", its heap") name))
        (is (= ["(a/<! c)"] (map (comp :form :site) (:blocks (look false)))))
        (is (re-find #"is paused while it writes its heap of \d+ MB to a file" (first @said)))
        (is (:was-off? (remote/snapshot-of pid false)) "its inspector was left alone"))
      (with-redefs [remote/heap-of (fn [_ told] (told 5000000000) (throw (AssertionError. "it was written")))]
        (is (= :skein/not-inspectable (try (target/target pid {:heap? true}) (catch ExceptionInfo e (kind-of (ex-data e)))))))
      (finally (.destroyForcibly process)))))

(deftest heap-file-shows-older-blocks
  (let [folder (.toFile (java.nio.file.Files/createTempDirectory "skein-console" (make-array java.nio.file.attribute.FileAttribute 0)))
        path (str (io/file folder "x.hprof"))
        process (start '(do (require '[skein.async :as a])
                            (def c (a/chan))
                            (def waits (a/go (a/<! c)))
                            (println "ready")
                            (a/<!! (a/chan))))]
    (try
      (let [^List jcmd [(str (System/getProperty "java.home") "/bin/jcmd") (str (.pid process)) "GC.heap_dump" "-all" path]]
        (.waitFor (.start (ProcessBuilder. jcmd))))
      (let [{:keys [look live?]} (target/target path)]
        (is (not live?))
        (is (= [:parked] (map :state (:blocks (look false))))))
      (finally
        (.waitFor (.destroyForcibly process))
        (io/delete-file path true)
        (io/delete-file folder true)))))
