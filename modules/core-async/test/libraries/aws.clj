;; SPDX-License-Identifier: Apache-2.0
;; com.cognitect.aws/api calls a queue service on this machine. Prints what came of it, as EDN.
(ns aws
  "Runs in a process of its own, for skein.bridge-test."
  (:require
   [clojure.core.async :as async]
   [clojure.data.json :as json]
   [cognitect.aws.client.api :as aws]
   [cognitect.aws.credentials :as credentials])
  (:import
   (com.sun.net.httpserver HttpExchange HttpHandler HttpServer)
   (java.net InetAddress InetSocketAddress)
   (java.util.concurrent Executors)
   (java.util.concurrent.atomic AtomicInteger)))

(set! *warn-on-reflection* true)

(defn- answer
  "Status and body for an operation, such as ListQueues."
  [operation body ^AtomicInteger failures]
  (cond
    (neg? (.decrementAndGet failures)) (case operation
                                         "ListQueues" [200 {:QueueUrls ["one" "two"]}]
                                         "SendMessage" [200 {:MessageId (get body "MessageBody")
                                                             :MD5OfMessageBody "0"}]
                                         [400 {:__type "NoSuchThing" :message operation}])
    :else [503 {:__type "ServiceUnavailable"}]))

(defn- serve
  "A server that fails as often as `failures` says, then answers."
  ^HttpServer [^AtomicInteger failures]
  (doto (HttpServer/create (InetSocketAddress. (InetAddress/getLoopbackAddress) 0) 0)
    (.setExecutor (Executors/newVirtualThreadPerTaskExecutor))
    (.createContext "/" (reify HttpHandler
                          (handle [_ exchange]
                            (let [^HttpExchange exchange exchange
                                  target (.getFirst (.getRequestHeaders exchange) "X-Amz-Target")
                                  body (json/read-str (slurp (.getRequestBody exchange)))
                                  [status result] (answer (second (re-find #"\.(\w+)$" target)) body failures)
                                  bytes (.getBytes (json/write-str result) "UTF-8")]
                              (.sendResponseHeaders exchange status (alength bytes))
                              (with-open [out (.getResponseBody exchange)] (.write out bytes))))))
    (.start)))

(let [failures (AtomicInteger.)
      server (serve failures)
      sqs (aws/client {:api :sqs
                       :region "us-east-1"
                       :credentials-provider (credentials/basic-credentials-provider
                                               {:access-key-id "a" :secret-access-key "b"})
                       :endpoint-override {:protocol :http :hostname "localhost"
                                           :port (.getPort (.getAddress server))}})
      send (fn [n] {:op :SendMessage :request {:QueueUrl "one" :MessageBody (str n)}})]
  (prn {:runs-on-skein? (instance? skein.rt.Channel (async/chan))
        :list (:QueueUrls (aws/invoke sqs {:op :ListQueues}))
        :refused (:cognitect.anomalies/category (aws/invoke sqs {:op :PurgeQueue :request {:QueueUrl "one"}}))
        :retried (do (.set failures 2) (:QueueUrls (aws/invoke sqs {:op :ListQueues})))
        :concurrent (sort (async/<!! (async/go-loop [waiting (mapv (fn [n] (aws/invoke-async sqs (send n))) (range 20))
                                                     ids []]
                                       (if-some [c (first waiting)]
                                         (recur (rest waiting) (conj ids (parse-long (:MessageId (async/<! c)))))
                                         ids))))
        :alts (let [[v _] (async/alts!! [(aws/invoke-async sqs {:op :ListQueues}) (async/timeout 20000)])]
                (:QueueUrls v))})
  (System/exit 0))
