;; SPDX-License-Identifier: Apache-2.0
(ns lab.e2-http
  "Twenty blocking requests at once. After Eli Bendersky, 2017.

  A server on this machine takes 760 to 990 ms for a page, the same for each contestant. The client is the JDK's, by its
  blocking `send` and its asynchronous `sendAsync`.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e2-http"
  (:require
   [lab.measure :as measure]
   [lab.server :as server])
  (:import
   (java.net URI)
   (java.net.http HttpClient HttpClient$Version HttpRequest HttpResponse HttpResponse$BodyHandlers)
   (java.util Random)
   (java.util.concurrent CompletableFuture)
   (java.util.function Consumer)))

(set! *warn-on-reflection* true)
(measure/alias-async! 'a)

(def ^:private sizes
  {:full {:n 20, :scale 1, :budget-ms 2000}
   :quick {:n 20, :scale 1/10, :budget-ms 80}
   :tiny {:n 20, :scale 1/100, :budget-ms 0}})

(defn- delay-ms [scale]
  (fn [page] (* scale (+ 760 (.nextInt (Random. page) 231)))))

(def ^:private ^HttpClient client
  (.. (HttpClient/newBuilder) (version HttpClient$Version/HTTP_1_1) (build)))

(defn- request ^HttpRequest [site i]
  (.build (HttpRequest/newBuilder (URI. (str site i)))))

(defn- fetch [site i]
  (.body (.send client (request site i) (HttpResponse$BodyHandlers/ofString))))

(defn- fetch-async [site i channel]
  (let [^CompletableFuture response (.sendAsync client (request site i) (HttpResponse$BodyHandlers/ofString))]
    (.thenAccept response (reify Consumer
                            (accept [_ r] (a/go (a/>! channel (.body ^HttpResponse r))))))))

(defn- pages [n channel] (set (repeatedly n #(a/<!! channel))))

(defn- with-go [n site]
  (let [c (a/chan)]
    (dotimes [i n] (a/go (a/>! c (fetch site i))))
    (pages n c)))

(defn- with-thread [n site]
  (let [c (a/chan)]
    (dotimes [i n] (a/thread (a/>!! c (fetch site i))))
    (pages n c)))

(defn- with-callbacks [n site]
  (let [c (a/chan)]
    (dotimes [i n] (fetch-async site i c))
    (pages n c)))

(defn- run [{:keys [n scale]}]
  (server/with-server {:delay-ms (delay-ms scale)}
    (fn [site]
      (fetch site 0)
      (doseq [[form f] [["go, blocking" with-go] ["callbacks and go" with-callbacks] ["thread, blocking" with-thread]]]
        (measure/measure! {:row form, :expected (into #{} (map #(str "page " %)) (range n)), :plain-threads? (= f with-thread)}
                          #(f n site))))))

(defn -main "Runs the experiment." [] (measure/main sizes run))
