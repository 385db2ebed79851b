;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.key-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.wf.never-wrong-test :refer [counts request]]))

(set! *warn-on-reflection* true)

(deftest a-site-is-the-host-of-a-referrer-alone
  (let [line (fn line [referrer] (str/replace request "\"-\"" (str "\"" referrer "\"")))
        log (str/join "\n" (map line ["https://example.org/" "https://EXAMPLE.org:80?x" "https://user:pw@example.org:80/x@y" "https://user@Example.org#z"
                                      "https://[2001:DB8::1]:80/x" "https://[2001:db8::1]" "https://u@[2001:db8::1]/" "-"]))]
    (is (= [["example.org" 4] ["[2001:db8::1]" 3]] (counts log "site")))
    (is (= [["example.org" "GET" 4] ["[2001:db8::1]" "GET" 3]] (counts log "site+method")))
    (is (= [["GET" 4]] (counts log "method" "--where" "site=^example.org$")))
    (is (= 4 (count (filter #(str/starts-with? (first %) "https://") (counts log "referrer" "--where" "site=^example")))) "the referrer stays as it is")))
