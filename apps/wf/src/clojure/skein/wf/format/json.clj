;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.json
  "Which keys of JSON logs mean what.

  - `fields`   the usual keys, of nginx, Caddy, Traefik, the Google and AWS load balancers, logstash and others
  - `parse`    \"json:client=ip,url=req.path\" -> format"
  (:require
   [clojure.string :as str]))

(set! *warn-on-reflection* true)

(def ^:private usual
  "Field, kind, and the paths of keys that mean it; the first that a line has counts."
  [["client" :text ["remote_addr" "remote_ip" "client_ip" "clientip" "client" "ClientHost" "request.remote_ip" "request.client_ip"
                    "httpRequest.remoteIp" "source.ip" "client.ip" "remoteIp" "remote_host" "c-ip" "ip" "host.ip" "remoteAddr" "req.remoteAddress" "ClientIP" "clientIP" "properties.clientIP"
                    "properties.clientIp"]]
   ["user" :text ["remote_user" "user" "ClientUsername" "user_id" "username" "cs-username" "auth"]]
   ["time" :time ["time_iso8601" "@timestamp" "timestamp" "time_local" "time" "ts" "StartUTC" "StartLocal" "datetime" "date" "msec" "EdgeStartTimestamp" "timeStamp"]]
   ["request" :request ["request" "httpRequest.request" "request_line"]]
   ["method" :text ["request_method" "method" "verb" "RequestMethod" "request.method" "httpRequest.requestMethod" "http.request.method"
                    "http_method" "cs-method" "req.method" "ClientRequestMethod" "properties.httpMethod"]]
   ["url" :text ["request_uri" "uri" "url" "path" "RequestPath" "request.uri" "request.url" "httpRequest.requestUrl" "url.original"
                 "http.url" "cs-uri-stem" "req.url" "request_url" "ClientRequestURI" "properties.requestUri"]]
   ["protocol" :text ["server_protocol" "ClientRequestProtocol" "properties.httpVersion" "protocol" "RequestProtocol" "request.proto" "httpRequest.protocol" "httpversion" "proto"]]
   ["status" :status ["status" "status_code" "statusCode" "DownstreamStatus" "response.status" "httpRequest.status" "response"
                      "http.response.status_code" "sc-status" "res.statusCode" "code" "EdgeResponseStatus" "properties.httpStatus"]]
   ["bytes" :size ["body_bytes_sent" "bytes_sent" "bytes" "size" "DownstreamContentSize" "response_size" "bytes_out" "responseSize"
                   "httpRequest.responseSize" "http.response.bytes" "content_length" "body_bytes" "sc-bytes" "length" "EdgeResponseBytes" "properties.sentBytes"]]
   ["duration" [:duration 1000000000] ["request_time" "duration" "latency" "elapsed" "response_time" "httpRequest.latency" "properties.timeTaken"]]
   ["duration" [:duration 1000000] ["duration_ms" "latency_ms" "elapsed_ms" "response_time_ms" "responseTime" "time_ms" "took_ms" "OriginResponseDurationMs"
                                    "EdgeTimeToFirstByteMs"]]
   ["duration" [:duration 1000] ["duration_us" "latency_us" "request_time_us"]]
   ["duration" [:duration 1] ["Duration" "duration_ns" "latency_ns" "event.duration"]]
   ["referrer" :text ["http_referer" "http_referrer" "referer" "referrer" "request_Referer" "request.headers.Referer"
                      "httpRequest.referer" "http.request.referrer" "cs-referer" "req.headers.referer" "ClientRequestReferer"]]
   ["agent" :text ["http_user_agent" "user_agent" "userAgent" "agent" "useragent" "request_User-Agent" "request.headers.User-Agent"
                   "httpRequest.userAgent" "user_agent.original" "cs-user-agent" "req.headers.user-agent" "ClientRequestUserAgent" "properties.userAgent"]]
   ["host" :text ["host" "vhost" "server_name" "http_host" "RequestHost" "request.host" "url.domain" "cs-host" "req.headers.host" "ClientRequestHost" "properties.host"
                  "properties.originalHost"]]])

(defn- ->fields [[field kind paths]]
  (let [[kind nanos] (if (vector? kind) kind [kind])]
    (for [path paths]
      (cond-> {:field field, :kind kind, :path path}
        nanos (assoc :nanos nanos)))))

(def fields
  "The usual keys, as the fields of a format."
  (into [] (mapcat ->fields) usual))

(def ^:private field->kind
  {"time" :time, "request" :request, "status" :status, "bytes" :size, "duration" :duration})

(def ^:private unit->nanos {"s" 1000000000, "ms" 1000000, "us" 1000, "ns" 1})

(defn- named [field path]
  (let [[_ duration-path unit] (re-matches #"(.+):(s|ms|us|ns)" path)]
    (cond
      (not= field "duration") {:field field, :kind (field->kind field :text), :path path}
      unit {:field field, :kind :duration, :path duration-path, :nanos (unit->nanos unit)}
      :else {:field field, :kind :duration, :path path, :nanos 1000000000})))

(defn parse
  "Returns a format of JSON lines in which the fields named in `text` are where it says, and all others where they
  usually are; nil when `text` is something else. A duration is in seconds, unless a unit follows: duration=took:ms.

      (first (:json (parse \"json:client=peer.ip\")))
      ;=> {:field \"client\", :kind :text, :path \"peer.ip\"}"
  [text]
  (when-let [[_ places] (re-matches #"json:((?:[^=,]+=[^=,]+)(?:,[^=,]+=[^=,]+)*)" text)]
    (let [own (mapv (fn own [place] (apply named (str/split place #"="))) (str/split places #","))
          taken (into #{} (map :field) own)]
      {:name text, :json (into own (remove #(taken (:field %))) fields)})))
