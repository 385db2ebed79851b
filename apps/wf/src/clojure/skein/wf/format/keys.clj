;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.keys
  "Which keys mean what, in logs whose values have names.

  - `json`, `ltsv`, `w3c`   the usual keys of each, as the fields of a format
  - `parse`                 \"json:client=ip,url=req.path\" -> format
  - `unit->nanos`           the units of durations

  Sources: the documentation of nginx, Caddy, Traefik, the load balancers of Google, Azure and AWS, Cloudflare's Logpush, Envoy,
  pino-http, logstash, ltsv.org, the W3C's working draft WD-logfile-960323, IIS and CloudFront."
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

(def unit->nanos
  "How many nanoseconds a unit of durations has."
  {"s" 1000000000, "ms" 1000000, "us" 1000, "ns" 1})

(defn unknown-unit
  "Returns the end of a sentence about a format whose duration has another unit."
  [unit]
  (str "has a duration in " unit "; its unit must be s, ms, us or ns"))

(def ^:private field->kind
  {"time" :time, "request" :request, "status" :status, "bytes" :size, "duration" :duration})

(defn- field
  "Returns the field that a key means. A key of a duration may end in a colon and its unit; otherwise the unit is the second. For the
  kind :duration-with-point, a whole number without a unit is not a duration: its unit is unknown, and Go programs write nanoseconds."
  [field kind key]
  (let [[_ path unit] (when (= kind :duration) (re-matches #"(.+):(s|ms|us|ns)" key))]
    (cond-> {:field field, :kind (if (= kind :duration-with-point) :duration kind), :path (or path key)}
      (= kind :duration-with-point) (assoc :nanos (- (long (unit->nanos "s"))))
      (= kind :duration) (assoc :nanos (unit->nanos (or unit "s"))))))

(defn- fields
  "Returns fields for rows of field, kind, and keys that mean it. If a line has several keys of one field, the first one counts."
  [& rows]
  (vec (for [[name kind keys] rows, key (str/split (str/trim keys) #"\s+")] (field name kind key))))

(def json
  "The usual keys of JSON logs; of keys within keys, the path with dots."
  (fields
    ["client" :text "remote_addr remote_ip client_ip clientip client ClientHost request.remote_ip request.client_ip
                     httpRequest.remoteIp source.ip client.ip remoteIp remote_host c-ip ip remoteAddr req.remoteAddress
                     ClientIP clientIP properties.clientIP properties.clientIp callerIpAddress sourceIp"]
    ["client" :address-port "downstream_remote_address request.remote_addr"]
    ["client" :address "x_forwarded_for"]
    ["user" :text "remote_user user ClientUsername user_id username cs-username auth"]
    ["time" :time "time_iso8601 @timestamp timestamp time_local time ts StartUTC StartLocal datetime date msec EdgeStartTimestamp
                   timeStamp start_time requestTime"]
    ["request" :request "request httpRequest.request request_line"]
    ["method" :text "request_method method verb RequestMethod request.method httpRequest.requestMethod http.request.method
                     http_method cs-method req.method ClientRequestMethod properties.httpMethod properties.method httpMethod"]
    ["url" :text "request_uri uri url path RequestPath request.uri request.url url.original http.url cs-uri-stem req.url
                  request_url ClientRequestURI ClientRequestPath x-envoy-origin-path resourcePath"]
    ["url" :absolute-url "httpRequest.requestUrl properties.requestUri properties.url"]
    ["protocol" :text "server_protocol ClientRequestProtocol properties.httpVersion protocol RequestProtocol request.proto
                       httpRequest.protocol httpversion proto"]
    ["status" :status "status status_code statusCode DownstreamStatus response.status httpRequest.status response
                       http.response.status_code sc-status res.statusCode code EdgeResponseStatus properties.httpStatus
                       properties.httpStatusCode properties.responseCode response_code"]
    ["bytes" :size "body_bytes_sent bytes_sent bytes size DownstreamContentSize response_size bytes_out responseSize
                    httpRequest.responseSize http.response.bytes http.response.body.bytes content_length body_bytes sc-bytes length EdgeResponseBytes
                    properties.sentBytes properties.responseBytes properties.responseSize res.headers.content-length responseLength"]
    ["duration" :duration-with-point "request_time duration latency elapsed response_time httpRequest.latency properties.timeTaken"]
    ["duration" :duration "duration_ms:ms latency_ms:ms elapsed_ms:ms response_time_ms:ms responseTime:ms time_ms:ms took_ms:ms
                           OriginResponseDurationMs:ms EdgeTimeToFirstByteMs:ms DurationMs:ms durationMs:ms responseLatency:ms
                           duration_us:us latency_us:us request_time_us:us Duration:ns duration_ns:ns latency_ns:ns
                           event.duration:ns"]
    ["referrer" :text "http_referer http_referrer referer referrer request_Referer request.headers.Referer httpRequest.referer
                       http.request.referrer cs-referer req.headers.referer ClientRequestReferer properties.referer
                       properties.referrer"]
    ["agent" :text "http_user_agent user_agent userAgent agent useragent request_User-Agent request.headers.User-Agent
                    httpRequest.userAgent user_agent.original cs-user-agent req.headers.user-agent ClientRequestUserAgent
                    properties.userAgent"]
    ["host" :text "host vhost server_name http_host RequestHost request.host url.domain cs-host req.headers.host
                   ClientRequestHost properties.host properties.originalHost properties.hostName authority domainName"]))

(def envoy
  "The keys of Envoy's JSON, whose duration is in milliseconds."
  (into (fields ["duration" :duration "duration:ms"]) json))

(def tomcat
  "The keys of Tomcat's JSON, in which `host` is the client."
  (into (fields ["client" :text "host"] ["host" :text "localServerName"] ["duration" :duration "elapsedTime:ms elapsedTimeS"]
                ["referrer" :text "requestHeaders.Referer"] ["agent" :text "requestHeaders.User-Agent"])
        json))

(def ltsv
  "The labels that ltsv.org recommends, and those of nginx."
  (fields
    ["client" :text "host remotehost remote_addr remote_host client client_ip clientip ip"]
    ["user" :text "user remote_user"]
    ["time" :time "time time_local time_iso8601 timestamp"]
    ["request" :request "req request"]
    ["method" :text "method request_method"]
    ["url" :text "uri request_uri url path"]
    ["protocol" :text "protocol server_protocol"]
    ["status" :status "status"]
    ["bytes" :size "size body_bytes_sent bytes_sent bytes"]
    ["duration" :duration "reqtime request_time response_time reqtime_microsec:us"]
    ["duration" :duration-with-point "taken"]
    ["referrer" :text "referer http_referer referrer"]
    ["agent" :text "ua user_agent http_user_agent useragent"]
    ["host" :text "vhost http_host server_name virtualhost"]))

(defn w3c
  "Returns the fields for the names in #Fields lines; `unit` is the unit of time-taken. If it is nil, time-taken is in seconds, and a
  whole number is not a duration: the standard has seconds, but IIS writes milliseconds."
  [unit]
  (fields
    ["client" :text "c-ip"]
    ["user" :text "cs-username cs(Username)"]
    ["time" :time "timestamp(ms) timestamp datetime date-time"]
    ["time" :day "date"]
    ["time" :clock "time"]
    ["request" :request "cs-request r"]
    ["method" :text "cs-method"]
    ["url" :text "cs-uri-stem"]
    ["url" :absolute-url "cs-uri"]
    ["protocol" :text "cs-version cs-protocol-version"]
    ["status" :status "sc-status"]
    ["bytes" :size "sc-bytes bytes"]
    ["duration" (if unit :duration :duration-with-point) (if unit (str "time-taken:" unit) "time-taken")]
    ["referrer" :text "cs(Referer) cs(Referrer)"]
    ["agent" :text "cs(User-Agent)"]
    ["host" :text "x-host-header cs-host cs(Host)"]))

(defn- check-unit!
  "Throws :skein/bad-log-format if what follows the last colon of a key is no unit, or if only a duration could have it."
  [text name key]
  (let [[_ unit] (re-find #":([^:.]*)$" key)
        bad! (fn bad! [why] (error/fail! :skein/bad-log-format (str "the format " (error/preview text) " " why) {:format text}))]
    (cond
      (and unit (= name "duration") (not (unit->nanos unit))) (bad! (unknown-unit unit))
      (and (unit->nanos unit) (not= name "duration")) (bad! (str "has a unit for " name "; only duration has one")))))

(defn parse
  "Returns `{:name text, :layout :json or :ltsv, :fields [...]}`, a format in which the fields named in `text` are where it says, and
  all others where they usually are; nil when `text` is something else. A duration is in seconds, unless a unit follows:
  duration=took:ms. Throws :skein/bad-log-format for another unit.

      (first (:fields (parse \"json:client=peer.ip\")))
      ;=> {:field \"client\", :kind :text, :path \"peer.ip\", :own? true}"
  [text]
  (when-let [[_ layout places] (re-matches #"(json|ltsv):((?:[^=,]+=[^=,]+)(?:,[^=,]+=[^=,]+)*)" text)]
    (let [own (mapv (fn own [place]
                      (let [[name key] (str/split place #"=")]
                        (check-unit! text name key)
                        (assoc (field name (field->kind name :text) key) :own? true)))
                    (str/split places #","))
          taken (into #{} (map :field) own)]
      {:name text, :layout (keyword layout), :fields (into own (remove #(taken (:field %))) (if (= layout "json") json ltsv))})))
