;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.units-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.wf.units :as units])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(deftest numbers-are-grouped-and-rounded
  (is (= ["0" "12" "123" "1,234" "12,345" "123,456" "1,234,567" "-1,234" "-123" "9,223,372,036,854,775,807"]
         (map units/grouped [0 12 123 1234 12345 123456 1234567 -1234 -123 Long/MAX_VALUE])))
  (is (= ["0.0" "0.1" "1.0" "0.7"] (map #(units/decimal % 1048576 1) [52428 52429 1048575 707789]))))

(deftest megabytes-have-one-decimal
  (is (= ["1,177.4" "0.5" "0.0"] (map #(units/shown "MB" %) [1234567890 524288 0]))))

(deftest bytes-for-a-terminal-have-no-control-characters
  (is (= ["\\x1b[31mred" "café" "caf\\xe9" "\\xc2\\x9b" "\\x00\\x0a"]
         (map units/printable ["\u001B[31mred" "caf\u00C3\u00A9" "caf\u00E9" "\u00C2\u009B" "\u0000\n"]))))

(deftest sizes-are-bytes-or-multiples
  (is (= [1 500 1024 10485760 1073741824 2684354560 1099511627776 1536 1125899906842624]
         (map units/parse-size ["1" "500" "1K" "10M" "1g" "2.5G" "1T" "1.5k" "1024T"])))
  (is (= [1024 1024 1024 1024 1024 1572864 500]
         (map units/parse-size ["1k" "1KB" "1kB" "1KiB" "1 KB" "1.5 MiB" "500B"])) "with the unit's other names"))

(deftest bad-sizes-are-refused
  (doseq [text ["" "0" "-1" "1e9" "ten" "1.5.5G" "G" "10X" "10BM" "1iB" "1  K" "0.5" " 1" "1025T" "99999999999999999999" "1_000" "0.0000001K"]]
    (is (= {:skein/error :skein/bad-argument, :size text}
           (try (units/parse-size text) (catch ExceptionInfo e (ex-data e)))))))

(deftest an-error-of-one-hit-is-singular
  (is (= ["1 hit" "0 hits" "1 B"] [(units/missing {:rank "hits", :error 1}) (units/missing {:rank "mean", :error 0}) (units/missing {:rank "bytes", :error 1})])))
