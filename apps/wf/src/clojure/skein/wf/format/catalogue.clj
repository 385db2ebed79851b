;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.catalogue
  "The formats that have names, as a table.

  - `rows`      the formats, in the order in which they are tried
  - `servers`   the servers whose logs they are

  A row is {:name text, :of \"SERVER ...\", :layout layout, ...}. The layout is a string as `skein.wf.format.layout/parse` takes it, or
  :json, :ltsv or :w3c, whose :fields `skein.wf.format.keys` has. A row may say more about its lines:

  :line       a pattern that is found in most of the lines that fit
  :head       a pattern that is found in the beginning of the log
  :open?      whether anything may follow after a space
  :absolute?  whether requests have absolute URLs, which contain the host
  :sparse?    whether fields without quotes may be empty
  :bare?      whether some lines have minus signs without quotes instead of the quoted fields
  :weight     how much a line that fits counts, by default 1; less if faulty lines of other formats fit too

  If two rows fit equally many lines, the first one is taken. So longer formats come first: a shorter one may fit their lines too, with
  odd users and agents. Sources: the documentation of each server."
  (:require
   [clojure.string :as str]
   [skein.wf.format.keys :as keys]))

(set! *warn-on-reflection* true)

(def ^:private common "%h %l %u %t \"%r\" %>s %b")
(def ^:private combined (str common " \"%{Referer}i\" \"%{User-Agent}i\""))
(def ^:private nginx-combined
  "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\"")

(def ^:private envoy
  (str "[$time] \"$request\" $status $response_flags ~ $bytes_received $bytes_sent ${duration:ms} $upstream_service_time "
       "\"$forwarded\" \"$http_user_agent\" \"$request_id\" \"$host\" \"$upstream_host\""))

(def ^:private haproxy
  (str "$remote_addr:$remote_port [$time] $frontend $backend/$server $request_ms/$queue_ms/$connect_ms/$response_ms/${duration:ms} "
       "$status $bytes_sent $request_cookie $response_cookie $termination_state $actconn/$feconn/$beconn/$srv_conn/$retries "
       "$srv_queue/$backend_queue"))

(def ^:private elb
  (str "$elb $remote_addr:$remote_port $target $request_seconds ${duration:s} $response_seconds $status $target_status $received_bytes "
       "$bytes_sent \"$request\" \"$http_user_agent\" $ssl_cipher $ssl_protocol"))

(def ^:private address-and-host
  "The beginning of lines of lighttpd: an address, and a host with a letter, which is not taken for an address."
  (re-pattern (str "(?:^|[ \"])(?:\\d{1,3}(?:\\.\\d{1,3}){3}|[\\da-fA-F]{0,4}:[\\da-fA-F]{0,4}:[\\da-fA-F:.]*+) "
                   "(?=[\\d.-]*[A-Za-z_])(?:localhost|[\\w-]+(?:\\.[\\w-]+)+)(?::\\d+)? \\S+ \\[")))

(def ^:private host-without-port
  "The beginning of lines with a virtual host: a host with a letter or in brackets, since two addresses are those of a client and its proxy."
  #"(?:^|[ \"])(?:\[[\da-fA-F:.]++\]|(?=[\d.-]*[A-Za-z_])[^\s\":]++)(?::\d++)? \S++ \S++ \S++ \[")

(def rows
  "The table of formats."
  [{:name "vhost-port-seconds", :of "apache", :layout (str "%v:%p " combined " %T")}
   {:name "vhost", :of "apache", :layout (str "%v:%p " combined)}
   {:name "vhost-seconds", :of "apache nginx", :line host-without-port, :layout (str "%v " combined " %T")}
   {:name "nginx-main", :of "nginx", :layout (str combined " \"%{X-Forwarded-For}i\"")}
   {:name "combined-forwarded-seconds", :of "nginx", :layout (str combined " \"%{X-Forwarded-For}i\" %T")}
   {:name "combined-seconds", :of "apache nginx", :layout (str combined " %T")}
   {:name "combinedio", :of "apache", :layout (str combined " %I %O")}
   {:name "vhost-without-port", :of "apache nginx", :line host-without-port, :layout (str "%v " combined)}
   {:name "lighttpd", :of "lighttpd", :line address-and-host, :layout (str/replace combined "%l" "%V")}
   {:name "varnish", :of "varnish", :line #"[A-Z]+ https?://\S+ HTTP/", :absolute? true, :layout combined}
   {:name "combined", :of "apache nginx tomcat varnish lighttpd", :layout combined}
   {:name "vhost-common", :of "apache", :line host-without-port, :layout (str "%v " common)}
   {:name "common", :of "apache tomcat", :layout common}

   {:name "ingress-nginx", :of "ingress-nginx", :sparse? true
    :layout (str nginx-combined " $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr "
                 "$upstream_response_length $upstream_response_time $upstream_status $req_id")}
   {:name "traefik", :of "traefik"
    :layout (str nginx-combined " $request_count \"$router\" \"$server_url\" ${duration:ms}ms")}
   {:name "squid-combined", :of "squid", :line #" (?:TCP|UDP|NONE)_\w+:\w+"
    :layout (str nginx-combined " $cache_status:$hierarchy_status")}
   {:name "squid", :of "squid", :line #"\d{9,10}\.\d{3} +-?\d+ \S+ \w+/\d"
    :layout "%{sec}t.%{msec_frac}t %6{ms}T %a %{cache_status}x/%>s %b %m %U %u %{hierarchy}x %{content-type}x"}
   {:name "haproxy", :of "haproxy", :line #":\d+ \[[^\]]+\] \S+ \S+/\S+ .*\{[^{}]*\} \{", :open? true, :sparse? true
    :layout (str haproxy " {$request_headers} {$response_headers} \"$request\"")}
   {:name "haproxy-request-headers", :of "haproxy", :line #":\d+ \[[^\]]+\] \S+ \S+/\S+ .*\{[^{}]*\} [^{]", :open? true, :sparse? true
    :layout (str haproxy " {$request_headers} \"$request\"")}
   {:name "haproxy-without-headers", :of "haproxy", :line #":\d+ \[[^\]]+\] \S+ \S+/\S+ [-\d]+/", :open? true
    :layout (str haproxy " \"$request\"")}
   {:name "istio", :of "istio envoy", :line #"\[\d{4}-[^\]]+\] \S+ .*\|"
    :layout (-> envoy
                (str/replace "$forwarded" "$http_x_forwarded_for")
                (str/replace "~" "$response_code_details $connection_termination_details \"$upstream_failure\"")
                (str " $upstream_cluster $upstream_local_address $downstream_local_address $remote_addr:$remote_port "
                     "$requested_server_name $route_name"))}
   {:name "envoy", :of "envoy istio", :line #"\[\d{4}-\d\d-[^\]]+\] ", :open? true
    :layout (-> envoy (str/replace "$forwarded" "$forwarded_addr") (str/replace "~ " ""))}
   {:name "alb", :of "alb", :line #"(?:https?|h2|grpcs?|wss?) \d{4}-\d\d-\S+ ", :absolute? true, :open? true
    :layout (str "$type $time " elb)}
   {:name "elb", :of "elb", :line #"\d{4}-\d\d-\S+Z \S+ \S+:\d+ ", :absolute? true, :open? true
    :layout (str "$time " elb)}
   {:name "s3", :of "s3", :line #" (?:REST|SOAP|WEBSITE|S3|BATCH|CP)\.[A-Z]", :open? true, :bare? true
    :layout (str "$bucket_owner $bucket [$time_local] $remote_addr $remote_user $request_id $operation $key \"$request\" $status "
                 "$error_code $bytes_sent $object_size ${duration:ms} $turn_around_ms \"$http_referer\" \"$http_user_agent\" $version_id")}

   {:name "cloudfront", :of "cloudfront", :layout :w3c, :head #"#Fields:.* x-edge-location", :fields (keys/w3c "s")}
   {:name "iis", :of "iis", :layout :w3c, :head #"#Software: *Microsoft|#Fields:.* sc-win32-status", :fields (keys/w3c "ms")}
   {:name "w3c", :of "w3c", :layout :w3c, :head #"#Fields:", :fields (keys/w3c nil)}
   {:name "ltsv", :of "ltsv", :layout :ltsv, :line #"(?:\t|\\t)[\w.-]++:", :fields keys/ltsv}
   {:name "envoy-json", :of "envoy istio", :layout :json, :line #"response_flags", :fields keys/envoy}
   {:name "cloudfront-json", :of "cloudfront", :layout :json, :line #"x-edge-location", :fields (keys/w3c "s")}
   {:name "tomcat-json", :of "tomcat", :layout :json, :line #"logicalUserName", :fields keys/tomcat}
   {:name "json", :of "json caddy traefik nginx google azure cloudflare pino", :layout :json, :line #"\{", :fields keys/json}

   {:name "vhost-and-more", :of "apache", :layout (str "%v:%p " combined), :open? true}
   {:name "vhost-without-port-and-more", :of "apache nginx", :line host-without-port, :layout (str "%v " combined), :open? true}
   {:name "combined-and-more", :of "apache nginx varnish lighttpd tomcat haproxy", :layout combined, :open? true}
   {:name "common-and-more", :of "apache tomcat", :layout common, :open? true, :weight 0.8}])

(defn- servers-of [row]
  (str/split (:of row) #" "))

(def servers
  "The names of the servers, in the order of the alphabet."
  (into (sorted-set) (mapcat servers-of) rows))

(defn of
  "Returns the rows that `name` means: those of a server, or the one with that name."
  [name]
  (filterv (fn named? [row] (or (= name (:name row)) (some #{name} (servers-of row)))) rows))
