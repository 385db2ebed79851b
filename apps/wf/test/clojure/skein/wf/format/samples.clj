;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.samples
  "A sample of each server's log, made up after its documentation, and the expected result.

  - `samples`   [{:format name, :of [server ...], :lines [text ...], :counts {by {key hits}}, :bytes n, :micros n}]

  :format is the detected format; :micros are all durations together.")

(set! *warn-on-reflection* true)

(defn- sample [format of counts bytes micros & lines]
  {:format format, :of of, :lines lines, :counts counts, :bytes bytes, :micros micros})

(def ^:private usual
  {"client" {"203.0.113.7" 2, "2001:db8::7" 1}, "method" {"GET" 2, "POST" 1}, "url" {"/a?b=1" 2, "/c" 1}, "status" {"200" 2, "404" 1}})

(defn- with-host [counts] (assoc counts "host" {"shop.example.org" 3}))

(def ^:private text-samples
  [(sample "combined" ["nginx" "apache" "tomcat"] (assoc usual "agent" {"UA 1" 3}, "referrer" {"-" 2, "https://e.org/" 1}) 30 nil
           "203.0.113.7 - - [10/Oct/2024:13:55:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\""
           "203.0.113.7 - ann [10/Oct/2024:13:55:01 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\""
           "2001:db8::7 - - [10/Oct/2024:13:55:02 +0000] \"POST /c HTTP/2.0\" 404 10 \"https://e.org/\" \"UA 1\"")
   (sample "common" ["apache" "tomcat"] usual 30 nil
           "203.0.113.7 - - [10/Oct/2024:13:55:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10"
           "203.0.113.7 - ann [10/Oct/2024:13:55:01 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10"
           "2001:db8::7 - - [10/Oct/2024:13:55:02 +0000] \"POST /c HTTP/2.0\" 404 10")
   (sample "lighttpd" ["lighttpd"] (with-host usual) 30 nil
           "203.0.113.7 shop.example.org - [10/Oct/2024:13:55:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\""
           "203.0.113.7 shop.example.org - [10/Oct/2024:13:55:01 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\""
           "2001:db8::7 shop.example.org ann [10/Oct/2024:13:55:02 +0000] \"POST /c HTTP/2.0\" 404 10 \"-\" \"UA 1\"")
   (sample "varnish" ["varnish"] (with-host usual) 30 nil
           "203.0.113.7 - - [10/Oct/2024:13:55:00 +0000] \"GET http://shop.example.org/a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\""
           "203.0.113.7 - - [10/Oct/2024:13:55:01 +0000] \"GET http://shop.example.org:8080/a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\""
           "2001:db8::7 - - [10/Oct/2024:13:55:02 +0000] \"POST https://shop.example.org/c HTTP/1.1\" 404 10 \"-\" \"UA 1\"")
   (sample "ingress-nginx" ["ingress-nginx"] (assoc usual "proxy_upstream_name" {"shop-web-80" 2, "" 1}, "req_id" {"8f0c" 1, "8f0d" 1, "8f0e" 1}) 30 30000
           (str "203.0.113.7 - - [10/Oct/2024:13:55:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\" 402 0.010 [shop-web-80] [] "
                "10.1.0.5:80 10 0.009 200 8f0c")
           (str "203.0.113.7 - - [10/Oct/2024:13:55:01 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\" 402 0.015 [shop-web-80] [] "
                "10.1.0.5:80, 10.1.0.6:80 0, 10 0.004, 0.009 502, 200 8f0d")
           (str "2001:db8::7 - - [10/Oct/2024:13:55:02 +0000] \"POST /c HTTP/2.0\" 404 10 \"-\" \"UA 1\" 402 0.005 [] [] - - - - 8f0e"))
   (sample "traefik" ["traefik"] (assoc usual "router" {"web@docker" 2, "-" 1}) 30 30000
           "203.0.113.7 - - [10/Oct/2024:13:55:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\" 1 \"web@docker\" \"http://10.1.0.5:80\" 10ms"
           "203.0.113.7 - - [10/Oct/2024:13:55:01 +0000] \"GET /a?b=1 HTTP/1.1\" 200 10 \"-\" \"UA 1\" 2 \"web@docker\" \"http://10.1.0.5:80\" 20ms"
           "2001:db8::7 - - [10/Oct/2024:13:55:02 +0000] \"POST /c HTTP/2.0\" 404 10 \"-\" \"-\" 3 \"-\" \"-\" 0ms")
   (sample "haproxy" ["haproxy"] (assoc usual "backend" {"web" 2, "http-in" 1}, "request_headers" {"e.org" 2, "" 1}) 30 130000
           "203.0.113.7:33317 [10/Oct/2024:13:55:00.655] http-in web/srv1 10/0/30/69/109 200 10 - - ---- 1/1/1/1/0 0/0 {e.org} {} \"GET /a?b=1 HTTP/1.1\""
           "203.0.113.7:33318 [10/Oct/2024:13:55:01.655] http-in~ web/srv1 1/0/0/19/20 200 10 - - ---- 1/1/1/1/0 0/0 {e.org} {nginx} \"GET /a?b=1 HTTP/1.1\""
           "2001:db8::7:33319 [10/Oct/2024:13:55:02.655] http-in http-in/<NOSRV> -1/-1/-1/-1/1 404 10 - - PR-- 1/1/0/0/0 0/0 {} {} \"POST /c HTTP/1.1\"")
   (sample "haproxy-request-headers" ["haproxy"] usual 30 130000
           "203.0.113.7:33317 [10/Oct/2024:13:55:00.655] http-in web/srv1 10/0/30/69/109 200 10 - - ---- 1/1/1/1/0 0/0 {e.org|UA 1} \"GET /a?b=1 HTTP/1.1\""
           "203.0.113.7:33318 [10/Oct/2024:13:55:01.655] http-in web/srv1 1/0/0/19/20 200 10 - - ---- 1/1/1/1/0 0/0 {e.org|} \"GET /a?b=1 HTTP/1.1\""
           "2001:db8::7:33319 [10/Oct/2024:13:55:02.655] http-in http-in/<NOSRV> -1/-1/-1/-1/1 404 10 - - PR-- 1/1/0/0/0 0/0 {|} \"POST /c HTTP/1.1\"")
   (sample "haproxy-without-headers" ["haproxy"] (assoc usual "status" {"200" 1, "404" 1, "-1" 1}) 30 130000
           "203.0.113.7:33317 [10/Oct/2024:13:55:00.655] http-in web/srv1 10/0/30/69/109 200 10 - - ---- 1/1/1/1/0 0/0 \"GET /a?b=1 HTTP/1.1\" 0/0000/0/0/0 e.org/TLSv1.3/X"
           "203.0.113.7:33318 [10/Oct/2024:13:55:01.655] http-in web/srv1 1/0/0/19/20 -1 10 - - ---- 1/1/1/1/0 0/0 \"GET /a?b=1 HTTP/1.1\" 0/0000/0/0/0 e.org/TLSv1.3/X"
           "2001:db8::7:33319 [10/Oct/2024:13:55:02.655] http-in http-in/<NOSRV> -1/-1/-1/-1/1 404 10 - - PR-- 1/1/0/0/0 0/0 \"POST /c HTTP/1.1\"")
   (sample "envoy" ["envoy"] (with-host (assoc usual "agent" {"UA 1" 3}, "response_flags" {"-" 2, "NR" 1}, "status" {"200" 1, "404" 1, "0" 1})) 30 226000
           "[2024-10-10T13:55:00.310Z] \"GET /a?b=1 HTTP/2\" 200 - 154 10 226 100 \"203.0.113.7\" \"UA 1\" \"cc21\" \"shop.example.org\" \"tcp://10.0.2.1:80\""
           "[2024-10-10T13:55:01.310Z] \"GET /a?b=1 HTTP/2\" 0 - 154 10 0 - \"203.0.113.7, 10.0.0.9\" \"UA 1\" \"cc22\" \"shop.example.org\" \"-\""
           "[2024-10-10T13:55:02.310Z] \"POST /c HTTP/2\" 404 NR 154 10 - - \"2001:db8::7\" \"UA 1\" \"cc23\" \"shop.example.org\" \"-\"")
   (sample "istio" ["istio" "envoy"] (with-host (assoc usual "response_code_details" {"via_upstream" 2, "route_not_found" 1})) 30 9000
           (str "[2024-10-10T13:55:00.409Z] \"GET /a?b=1 HTTP/1.1\" 200 - via_upstream - \"-\" 0 10 4 4 \"-\" \"UA 1\" \"8496\" \"shop.example.org\" "
                "\"127.0.0.1:80\" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 203.0.113.7:37652 outbound_.8000_._.web.shop.svc.cluster.local default")
           (str "[2024-10-10T13:55:01.409Z] \"GET /a?b=1 HTTP/1.1\" 200 - via_upstream - \"-\" 0 10 4 4 \"-\" \"UA 1\" \"8497\" \"shop.example.org\" "
                "\"127.0.0.1:80\" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 203.0.113.7:37653 outbound_.8000_._.web.shop.svc.cluster.local default")
           (str "[2024-10-10T13:55:02.409Z] \"POST /c HTTP/1.1\" 404 NR route_not_found - \"-\" 0 10 1 - \"-\" \"UA 1\" \"8498\" \"shop.example.org\" "
                "\"-\" outbound|80||web.shop.svc - 10.44.1.27:80 [2001:db8::7]:37654 - -"))
   (sample "alb" ["alb"] (with-host (assoc usual "target_status" {"200" 2, "-" 1})) 30 3000
           (str "https 2024-10-10T13:55:00.186641Z app/web/50dc6c495c0c9188 203.0.113.7:2817 10.0.0.66:9000 0.000 0.001 0.000 200 200 0 10 "
                "\"GET https://shop.example.org:443/a?b=1 HTTP/1.1\" \"UA 1\" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 "
                "arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/web/73e2d6bc24d8a067 \"Root=1-58337281-1d84\" "
                "\"shop.example.org\" \"arn:x\" 1 2024-10-10T13:55:00.185000Z \"forward\" \"-\" \"-\" \"10.0.0.66:9000\" \"200\" \"-\" \"-\" TID_1")
           (str "h2 2024-10-10T13:55:01.186641Z app/web/50dc6c495c0c9188 203.0.113.7:2818 10.0.0.66:9000 0.000 0.002 0.000 200 200 0 10 "
                "\"GET https://shop.example.org:443/a?b=1 HTTP/2.0\" \"UA 1\" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:x \"Root=1-58337281-1d84\" "
                "\"shop.example.org\" \"arn:x\" 1 2024-10-10T13:55:01.185000Z \"waf,forward\" \"-\" \"-\" \"10.0.0.66:9000\" \"200\" \"-\" \"-\" TID_2")
           (str "http 2024-10-10T13:55:02.186641Z app/web/50dc6c495c0c9188 [2001:db8::7]:2819 - -1 -1 -1 404 - 0 10 "
                "\"POST http://shop.example.org:80/c HTTP/1.1\" \"-\" - - - \"-\" \"-\" \"-\" - 2024-10-10T13:55:02.185000Z \"-\" \"-\" \"-\" \"-\" \"-\" \"-\" \"-\" TID_3"))
   (sample "elb" ["elb"] (with-host usual) 30 3000
           "2024-10-10T13:55:00.945958Z my-loadbalancer 203.0.113.7:2817 10.0.0.1:80 0.000073 0.001 0.000057 200 200 0 10 \"GET http://shop.example.org:80/a?b=1 HTTP/1.1\" \"curl/7.38.0\" - -"
           "2024-10-10T13:55:01.945958Z my-loadbalancer 203.0.113.7:2818 10.0.0.1:80 0.000073 0.002 0.000057 200 200 0 10 \"GET http://shop.example.org:80/a?b=1 HTTP/1.1\" \"curl/7.38.0\" - -"
           "2024-10-10T13:55:02.945958Z my-loadbalancer [2001:db8::7]:2819 - -1 -1 -1 404 0 0 10 \"POST http://shop.example.org:80/c HTTP/1.1\" \"-\" - -")
   (sample "s3" ["s3"] {"client" {"203.0.113.7" 2, "2001:db8::7" 1, "-" 2}, "method" {"GET" 2, "POST" 1}, "url" {"/a?b=1" 2, "/c" 1, "-" 2}
                        "status" {"200" 2, "404" 1, "-" 1, "204" 1}, "bucket" {"shop" 5}, "minute" {"2024-10-10 13:55" 5}
                        "operation" {"REST.GET.OBJECT" 2, "REST.POST.OBJECT" 1, "S3.EXPIRE.OBJECT" 1, "BATCH.DELETE.OBJECT" 1}} 30 77000
           "79a59df900b949e55d96a1e698fbaced shop [10/Oct/2024:13:55:00 +0000] - AmazonS3 3E57427F3 S3.EXPIRE.OBJECT a \"-\" - - - 10 - - \"-\" \"-\" - abc= - - - - -"
           "79a59df900b949e55d96a1e698fbaced shop [10/Oct/2024:13:55:00 +0000] - arn:aws:iam::1:user/x 3E57427F4 BATCH.DELETE.OBJECT b - 204 - - 10 - - - - - abc= SigV4 - AuthHeader - -"
           (str "79a59df900b949e55d96a1e698fbaced shop [10/Oct/2024:13:55:00 +0000] 203.0.113.7 - 3E57427F3EXAMPLE REST.GET.OBJECT a "
                "\"GET /a?b=1 HTTP/1.1\" 200 - 10 10 70 69 \"-\" \"UA 1\" - s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3 SigV4 "
                "ECDHE-RSA-AES128-GCM-SHA256 AuthHeader shop.s3.us-west-1.amazonaws.com TLSV1.2 - -")
           (str "79a59df900b949e55d96a1e698fbaced shop [10/Oct/2024:13:55:01 +0000] 203.0.113.7 - 3E57427F3EXAMPLE REST.GET.OBJECT a "
                "\"GET /a?b=1 HTTP/1.1\" 200 - 10 10 7 - \"-\" \"UA 1\" - abc= SigV4 - AuthHeader shop.s3.us-west-1.amazonaws.com TLSV1.2 - -")
           (str "79a59df900b949e55d96a1e698fbaced shop [10/Oct/2024:13:55:02 +0000] 2001:db8::7 - 3E57427F3EXAMPLE REST.POST.OBJECT c "
                "\"POST /c HTTP/1.1\" 404 NoSuchKey 10 - - - \"-\" \"-\" - abc= - - - shop.s3.us-west-1.amazonaws.com TLSV1.2 - -"))
   (sample "squid" ["squid"]
           {"client" {"203.0.113.7" 2, "2001:db8::7" 1}, "method" {"GET" 2, "CONNECT" 1}, "url" {"http://e.org/" 2, "e.org:443" 1}
            "status" {"200" 2, "000" 1}, "cache_status" {"TCP_MISS" 1, "TCP_HIT" 1, "NONE_NONE" 1}, "user" {"-" 2, "ann" 1}} 30 230000
           "1728568500.085    226 203.0.113.7 TCP_MISS/200 10 GET http://e.org/ - HIER_DIRECT/93.184.216.34 text/html"
           "1728568501.085      4 203.0.113.7 TCP_HIT/200 10 GET http://e.org/ ann HIER_NONE/- text/html"
           "1728568502.085      0 2001:db8::7 NONE_NONE/000 10 CONNECT e.org:443 - HIER_NONE/- -")
   (sample "squid-combined" ["squid"] (assoc usual "cache_status" {"TCP_MISS" 3}, "url" {"http://e.org/a" 2, "http://e.org/c" 1}) 30 nil
           "203.0.113.7 - - [10/Oct/2024:13:55:00 +0000] \"GET http://e.org/a HTTP/1.1\" 200 10 \"-\" \"UA 1\" TCP_MISS:HIER_DIRECT"
           "203.0.113.7 - - [10/Oct/2024:13:55:01 +0000] \"GET http://e.org/a HTTP/1.1\" 200 10 \"-\" \"UA 1\" TCP_MISS:HIER_DIRECT"
           "2001:db8::7 - - [10/Oct/2024:13:55:02 +0000] \"POST http://e.org/c HTTP/1.1\" 404 10 \"-\" \"UA 1\" TCP_MISS:HIER_DIRECT")])

(def ^:private named-samples
  [(sample "iis" ["iis"] (assoc usual "url" {"/a" 2, "/c" 1}, "cs-uri-query" {"b=1" 2, "-" 1}, "sc-substatus" {"0" 3}, "user" {"-" 2, "DOM\\ann" 1}
                                "agent" {"UA+1" 3}) 30 30000
           "#Software: Microsoft Internet Information Services 10.0" "#Version: 1.0" "#Date: 2024-10-10 13:55:00"
           "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status sc-bytes time-taken"
           "2024-10-10 13:55:00 10.0.0.4 GET /a b=1 80 - 203.0.113.7 UA+1 - 200 0 0 10 10"
           "2024-10-10 13:55:01 10.0.0.4 GET /a b=1 80 DOM\\ann 203.0.113.7 UA+1 - 200 0 0 10 15"
           "#Software: Microsoft Internet Information Services 10.0" "#Version: 1.0" "#Date: 2024-10-10 13:55:02"
           "#Fields: date time c-ip cs-username cs-method cs-uri-stem cs-uri-query sc-status sc-substatus sc-bytes time-taken cs(User-Agent)"
           "2024-10-10 13:55:02 2001:db8::7 - POST /c - 404 0 10 5 UA+1")
   (sample "cloudfront" ["cloudfront"] (with-host (assoc usual "url" {"/a" 2, "/c" 1}, "x-edge-location" {"FRA2-C1" 3}, "protocol" {"HTTP/2.0" 3}, "agent" {"UA%201" 3})) 30 30000
           "#Version: 1.0"
           (str "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query "
                "cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for cs-protocol-version")
           "2024-10-10\t13:55:00\tFRA2-C1\t10\t203.0.113.7\tGET\td1.cloudfront.net\t/a\t200\t-\tUA%201\tb=1\t-\tHit\tx==\tshop.example.org\thttps\t23\t0.010\t-\tHTTP/2.0"
           "2024-10-10\t13:55:01\tFRA2-C1\t10\t203.0.113.7\tGET\td1.cloudfront.net\t/a\t200\t-\tUA%201\tb=1\t-\tHit\tx==\tshop.example.org\thttps\t23\t0.015\t-\tHTTP/2.0"
           "2024-10-10\t13:55:02\tFRA2-C1\t10\t2001:db8::7\tPOST\td1.cloudfront.net\t/c\t404\t-\tUA%201\t-\t-\tError\tx==\tshop.example.org\thttps\t23\t0.005\t-\tHTTP/2.0")
   (sample "w3c" ["w3c"] {"method" {"GET" 2}, "url" {"/foo/bar.html" 2}, "minute" {"1996-01-12 00:34" 1, "1996-01-12 12:21" 1}} 0 nil
           "#Version: 1.0" "#Date: 12-Jan-1996 00:00:00" "#Fields: time cs-method cs-uri"
           "00:34:23 GET /foo/bar.html" "12:21:16 GET   /foo/bar.html")
   (sample "w3c" ["w3c"] (assoc usual "agent" {"UA \"1\"" 2, "-" 1}) 0 1000000 ; IIS writes whole milliseconds
           "#Fields: c-ip date time cs-method cs-uri sc-status time-taken cs(User-Agent)"
           "203.0.113.7 2024-10-10 13:55:00 GET /a?b=1 200 0.5 \"UA \"1\"\""
           "203.0.113.7 2024-10-10 13:55:00 GET /a?b=1 200 0.5 \"UA \"1\"\""
           "2001:db8::7 2024-10-10 13:55:00 POST /c 404 250 -")
   (sample "ltsv" ["ltsv"] (with-host (assoc usual "agent" {"UA 1" 3}, "cache" {"HIT" 1})) 30 30000
           "time:[10/Oct/2024:13:55:00 +0000]\thost:203.0.113.7\treq:GET /a?b=1 HTTP/1.1\tstatus:200\tsize:10\treferer:-\tua:UA 1\treqtime:0.010\tvhost:shop.example.org"
           "host:203.0.113.7\ttime:[10/Oct/2024:13:55:01 +0000]\treq:GET /a?b=1 HTTP/1.1\tstatus:200\tsize:10\tua:UA 1\treqtime:0.015\tcache:HIT\tvhost:shop.example.org"
           "time:2024-10-10T13:55:02Z\thost:2001:db8::7\tmethod:POST\turi:/c\tstatus:404\tsize:10\tua:UA 1\treqtime_microsec:5000\tvhost:shop.example.org")])

(def ^:private json-samples
  [(sample "json" ["caddy"] (with-host (assoc usual "agent" {"UA 1" 3})) 30 30000
           "{\"level\":\"info\",\"ts\":1728568500.5,\"logger\":\"http.log.access\",\"msg\":\"handled request\",\"request\":{\"remote_ip\":\"203.0.113.7\",\"remote_port\":\"4\",\"client_ip\":\"203.0.113.7\",\"proto\":\"HTTP/2.0\",\"method\":\"GET\",\"host\":\"shop.example.org\",\"uri\":\"/a?b=1\",\"headers\":{\"User-Agent\":[\"UA 1\"],\"Referer\":[\"https://e.org/\"]},\"tls\":{\"version\":772}},\"bytes_read\":0,\"user_id\":\"\",\"duration\":0.01,\"size\":10,\"status\":200,\"resp_headers\":{\"Server\":[\"Caddy\"]}}"
           "{\"level\":\"info\",\"ts\":1728568501.5,\"request\":{\"remote_ip\":\"203.0.113.7\",\"proto\":\"HTTP/2.0\",\"method\":\"GET\",\"host\":\"shop.example.org\",\"uri\":\"/a?b=1\",\"headers\":{\"User-Agent\":[\"UA 1\"]}},\"duration\":1.5e-2,\"size\":10,\"status\":200}"
           "{\"level\":\"error\",\"ts\":1728568502.5,\"request\":{\"remote_ip\":\"2001:db8::7\",\"proto\":\"HTTP/2.0\",\"method\":\"POST\",\"host\":\"shop.example.org\",\"uri\":\"/c\",\"headers\":{\"User-Agent\":[\"UA 1\"]}},\"duration\":0.005,\"size\":10,\"status\":404}")
   (sample "tomcat-json" ["tomcat"] (assoc usual "user" {"-" 2, "ann" 1}) 30 30000
           "{\"host\":\"203.0.113.7\",\"logicalUserName\":\"-\",\"user\":\"-\",\"time\":\"[10/Oct/2024:13:55:00 +0000]\",\"request\":\"GET /a?b=1 HTTP/1.1\",\"statusCode\":\"200\",\"size\":\"10\",\"elapsedTime\":\"10\",\"requestHeaders\": {\"Referer\":\"-\",\"User-Agent\":\"UA 1\"}}"
           "{\"host\":\"203.0.113.7\",\"logicalUserName\":\"-\",\"user\":\"ann\",\"time\":\"[10/Oct/2024:13:55:01 +0000]\",\"request\":\"GET /a?b=1 HTTP/1.1\",\"statusCode\":\"200\",\"size\":\"10\",\"elapsedTime\":\"15\"}"
           "{\"host\":\"2001:db8::7\",\"logicalUserName\":\"-\",\"user\":\"-\",\"time\":\"[10/Oct/2024:13:55:02 +0000]\",\"request\":\"POST /c HTTP/1.1\",\"statusCode\":\"404\",\"size\":\"10\",\"elapsedTime\":\"5\"}")
   (sample "cloudfront-json" ["cloudfront"] (with-host (assoc usual "url" {"/a" 2, "/c" 1})) 30 30000
           "{\"date\":\"2024-10-10\",\"time\":\"13:55:00\",\"x-edge-location\":\"FRA2-C1\",\"sc-bytes\":\"10\",\"c-ip\":\"203.0.113.7\",\"cs-method\":\"GET\",\"cs(Host)\":\"d1.cloudfront.net\",\"cs-uri-stem\":\"/a\",\"sc-status\":\"200\",\"cs(Referer)\":\"-\",\"cs(User-Agent)\":\"UA%201\",\"cs-uri-query\":\"b=1\",\"x-host-header\":\"shop.example.org\",\"time-taken\":\"0.010\"}"
           "{\"date\":\"2024-10-10\",\"time\":\"13:55:01\",\"x-edge-location\":\"FRA2-C1\",\"sc-bytes\":\"10\",\"c-ip\":\"203.0.113.7\",\"cs-method\":\"GET\",\"cs-uri-stem\":\"/a\",\"sc-status\":\"200\",\"x-host-header\":\"shop.example.org\",\"time-taken\":\"0.015\"}"
           "{\"timestamp(ms)\":\"1728568502000\",\"x-edge-location\":\"FRA2-C1\",\"sc-bytes\":\"10\",\"c-ip\":\"2001:db8::7\",\"cs-method\":\"POST\",\"cs-uri-stem\":\"/c\",\"sc-status\":\"404\",\"x-host-header\":\"shop.example.org\",\"time-taken\":\"0.005\"}")
   (sample "json" ["traefik"] (with-host usual) 30 30000
           "{\"ClientHost\":\"203.0.113.7\",\"ClientPort\":\"1\",\"DownstreamContentSize\":10,\"DownstreamStatus\":200,\"Duration\":10000000,\"RequestHost\":\"shop.example.org\",\"RequestMethod\":\"GET\",\"RequestPath\":\"/a?b=1\",\"RequestProtocol\":\"HTTP/1.1\",\"StartUTC\":\"2024-10-10T13:55:00.1Z\",\"request_Referer\":\"https://e.org/\",\"request_User-Agent\":\"UA 1\",\"level\":\"info\",\"time\":\"2024-10-10T13:55:00Z\"}"
           "{\"ClientHost\":\"203.0.113.7\",\"DownstreamContentSize\":10,\"DownstreamStatus\":200,\"Duration\":15000000,\"RequestHost\":\"shop.example.org\",\"RequestMethod\":\"GET\",\"RequestPath\":\"/a?b=1\",\"time\":\"2024-10-10T13:55:01Z\"}"
           "{\"ClientHost\":\"2001:db8::7\",\"DownstreamContentSize\":10,\"DownstreamStatus\":404,\"Duration\":5000000,\"RequestHost\":\"shop.example.org\",\"RequestMethod\":\"POST\",\"RequestPath\":\"/c\",\"time\":\"2024-10-10T13:55:02Z\"}")
   (sample "envoy-json" ["envoy" "istio"] (with-host (assoc usual "method" {"GET" 3}, "url" {"/a?b=1" 3}, "status" {"200" 3})) 30 30000
           "{\"authority\":\"shop.example.org\",\"bytes_received\":0,\"bytes_sent\":10,\"downstream_remote_address\":\"203.0.113.7:37652\",\"duration\":10,\"method\":\"GET\",\"path\":\"/a?b=1\",\"protocol\":\"HTTP/1.1\",\"response_code\":200,\"response_flags\":\"-\",\"start_time\":\"2024-10-10T13:55:00.409Z\",\"user_agent\":\"UA 1\",\"x_forwarded_for\":null}"
           "{\"authority\":\"shop.example.org\",\"bytes_sent\":10,\"downstream_remote_address\":\"203.0.113.7:37653\",\"duration\":15,\"method\":\"GET\",\"path\":\"/a?b=1\",\"response_code\":\"200\",\"response_flags\":\"-\",\"start_time\":\"2024-10-10T13:55:01.409Z\"}"
           "{\"authority\":\"shop.example.org\",\"bytes_sent\":10,\"downstream_remote_address\":\"[2001:db8::7]:37654\",\"duration\":5,\"method\":\"GET\",\"path\":\"/a?b=1\",\"response_code\":200,\"response_flags\":\"-\",\"start_time\":\"2024-10-10T13:55:02.409Z\"}")
   (sample "json" ["google"] (with-host usual) 30 30000
           "{\"httpRequest\":{\"latency\":\"0.010s\",\"remoteIp\":\"203.0.113.7\",\"requestMethod\":\"GET\",\"requestSize\":\"80\",\"requestUrl\":\"https://shop.example.org/a?b=1\",\"responseSize\":\"10\",\"status\":200,\"userAgent\":\"UA 1\",\"referer\":\"https://e.org/\"},\"insertId\":\"1\",\"resource\":{\"type\":\"http_load_balancer\"},\"timestamp\":\"2024-10-10T13:55:00.684886Z\"}"
           "{\"httpRequest\":{\"latency\":\"0.015s\",\"remoteIp\":\"203.0.113.7\",\"requestMethod\":\"GET\",\"requestUrl\":\"https://shop.example.org:443/a?b=1\",\"responseSize\":\"10\",\"status\":200},\"timestamp\":\"2024-10-10T13:55:01.684886Z\"}"
           "{\"httpRequest\":{\"latency\":\"0.005s\",\"remoteIp\":\"2001:db8::7\",\"requestMethod\":\"POST\",\"requestUrl\":\"http://shop.example.org/c\",\"responseSize\":\"10\",\"status\":404},\"timestamp\":\"2024-10-10T13:55:02.684886Z\"}")
   (sample "json" ["azure"] (with-host usual) 30 30000
           "{\"timeStamp\":\"2024-10-10T13:55:00+00:00\",\"resourceId\":\"/X\",\"operationName\":\"ApplicationGatewayAccess\",\"category\":\"ApplicationGatewayAccessLog\",\"properties\":{\"instanceId\":\"g_0\",\"clientIP\":\"203.0.113.7\",\"clientPort\":\"1\",\"httpMethod\":\"GET\",\"requestUri\":\"/a?b=1\",\"userAgent\":\"UA 1\",\"httpStatus\":200,\"httpVersion\":\"HTTP/1.1\",\"receivedBytes\":9,\"sentBytes\":10,\"timeTaken\":0.010,\"host\":\"shop.example.org\"}}"
           "{\"time\":\"2024-10-10T13:55:01Z\",\"category\":\"FrontDoorAccessLog\",\"properties\":{\"httpMethod\":\"GET\",\"requestUri\":\"https://shop.example.org:443/a?b=1\",\"responseBytes\":\"10\",\"userAgent\":\"UA 1\",\"clientIp\":\"203.0.113.7\",\"timeTaken\":\"0.015\",\"httpStatusCode\":\"200\",\"referer\":\"https://e.org/\",\"httpVersion\":\"2.0.0.0\"}}"
           "{\"time\":\"2024-10-10T13:55:02Z\",\"operationName\":\"Microsoft.ApiManagement/GatewayLogs\",\"DurationMs\":5,\"callerIpAddress\":\"2001:db8::7\",\"properties\":{\"method\":\"POST\",\"url\":\"https://shop.example.org/c\",\"responseCode\":404,\"responseSize\":10}}")
   (sample "json" ["cloudflare"] (with-host usual) 30 30000
           "{\"ClientIP\":\"203.0.113.7\",\"ClientRequestHost\":\"shop.example.org\",\"ClientRequestMethod\":\"GET\",\"ClientRequestURI\":\"/a?b=1\",\"EdgeStartTimestamp\":\"2024-10-10T13:55:00Z\",\"EdgeResponseBytes\":10,\"EdgeResponseStatus\":200,\"EdgeTimeToFirstByteMs\":10,\"ClientRequestUserAgent\":\"UA 1\",\"ClientRequestReferer\":\"https://e.org/\",\"RayID\":\"x\"}"
           "{\"ClientIP\":\"203.0.113.7\",\"ClientRequestHost\":\"shop.example.org\",\"ClientRequestMethod\":\"GET\",\"ClientRequestURI\":\"/a?b=1\",\"EdgeStartTimestamp\":1728568501,\"EdgeResponseBytes\":10,\"EdgeResponseStatus\":200,\"EdgeTimeToFirstByteMs\":15}"
           "{\"ClientIP\":\"2001:db8::7\",\"ClientRequestHost\":\"shop.example.org\",\"ClientRequestMethod\":\"POST\",\"ClientRequestURI\":\"/c\",\"EdgeStartTimestamp\":1728568502000000000,\"EdgeResponseBytes\":10,\"EdgeResponseStatus\":404,\"EdgeTimeToFirstByteMs\":5}")
   (sample "json" ["pino"] (with-host usual) 30 30000
           "{\"level\":30,\"time\":1728568500000,\"pid\":7,\"hostname\":\"web1\",\"req\":{\"id\":1,\"method\":\"GET\",\"url\":\"/a?b=1\",\"query\":{\"b\":\"1\"},\"headers\":{\"host\":\"shop.example.org\",\"user-agent\":\"UA 1\",\"referer\":\"https://e.org/\"},\"remoteAddress\":\"203.0.113.7\",\"remotePort\":5},\"res\":{\"statusCode\":200,\"headers\":{\"content-length\":\"10\"}},\"responseTime\":10,\"msg\":\"request completed\"}"
           "{\"level\":30,\"time\":1728568501000,\"req\":{\"method\":\"GET\",\"url\":\"/a?b=1\",\"headers\":{\"host\":\"shop.example.org\"},\"remoteAddress\":\"203.0.113.7\"},\"res\":{\"statusCode\":200,\"headers\":{\"content-length\":10}},\"responseTime\":15}"
           "{\"level\":30,\"time\":1728568502000,\"req\":{\"method\":\"POST\",\"url\":\"/c\",\"headers\":{\"host\":\"shop.example.org\"},\"remoteAddress\":\"2001:db8::7\"},\"res\":{\"statusCode\":404,\"headers\":{\"content-length\":10}},\"responseTime\":5}")])

(def ^:private headers
  "Agents and referrers of the samples that have any, by format and server."
  {["combined" "nginx"] [{"UA 1" 3} {"-" 2, "https://e.org/" 1}]
   ["lighttpd" "lighttpd"] [{"UA 1" 3} {"-" 3}]
   ["varnish" "varnish"] [{"UA 1" 3} {"-" 3}]
   ["ingress-nginx" "ingress-nginx"] [{"UA 1" 3} {"-" 3}]
   ["traefik" "traefik"] [{"UA 1" 2, "-" 1} {"-" 3}]
   ["alb" "alb"] [{"UA 1" 2, "-" 1}]
   ["elb" "elb"] [{"curl/7.38.0" 2, "-" 1}]
   ["s3" "s3"] [{"UA 1" 2, "-" 3} {"-" 5}]
   ["squid-combined" "squid"] [{"UA 1" 3} {"-" 3}]
   ["cloudfront" "cloudfront"] [{"UA%201" 3} {"-" 3}]
   ["iis" "iis"] [{"UA+1" 3} {"-" 2}]
   ["envoy" "envoy"] [{"UA 1" 3}]
   ["istio" "istio"] [{"UA 1" 3}]
   ["ltsv" "ltsv"] [{"UA 1" 3} {"-" 1}]
   ["envoy-json" "envoy"] [{"UA 1" 1}]
   ["cloudfront-json" "cloudfront"] [{"UA%201" 1} {"-" 1}]
   ["tomcat-json" "tomcat"] [{"UA 1" 1} {"-" 1}]
   ["json" "caddy"] [{"UA 1" 3} {"https://e.org/" 1}]
   ["json" "azure"] [{"UA 1" 2} {"https://e.org/" 1}]
   ["json" "traefik"] [{"UA 1" 1} {"https://e.org/" 1}]
   ["json" "google"] [{"UA 1" 1} {"https://e.org/" 1}]
   ["json" "cloudflare"] [{"UA 1" 1} {"https://e.org/" 1}]
   ["json" "pino"] [{"UA 1" 1} {"https://e.org/" 1}]})

(defn- with-headers
  "Adds the time, agents and referrers to the expected result of a sample."
  [{:keys [format of] :as sample}]
  (let [[agents referrers] (headers [format (first of)])]
    (update sample :counts #(merge (cond-> {"minute" {"2024-10-10 13:55" 3}} agents (assoc "agent" agents) referrers (assoc "referrer" referrers)) %))))

(def samples
  "The samples."
  (mapv with-headers (concat text-samples named-samples json-samples)))
