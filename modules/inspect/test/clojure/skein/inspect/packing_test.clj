;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.packing-test
  "Data as bytes, and back."
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop])
  (:import
   (skein.inspect.rt Packing)))

(set! *warn-on-reflection* true)

(defn- through [x]
  (Packing/unpack (Packing/pack x)))

(def ^:private names (gen/elements [:id :site :waits :state 'x 'a/b :a/b "" "site" "ü\u0000\uD83D\uDE00"]))

(def ^:private scalars
  (gen/one-of [(gen/return nil) gen/boolean gen/large-integer (gen/double* {:NaN? false}) gen/string names]))

(def ^:private data
  (gen/recursive-gen
    (fn more [inner] (gen/one-of [(gen/vector inner) (gen/list inner) (gen/map (gen/elements [:id :site :waits "k" 'k]) inner)]))
    scalars))

(deftest data-survives-packing
  (let [{:keys [pass? shrunk seed]} (check/quick-check 300 (prop/for-all [x data] (= x (through x))))]
    (is pass? (str "seed " seed ": " (pr-str (:smallest shrunk)))))
  (doseq [x [Long/MAX_VALUE Long/MIN_VALUE -1 (int 7) ##Inf (vec (range 1000)) (zipmap (range 20) (range))]]
    (is (= x (through x)))))

(deftest names-keep-their-kind
  (is (= [:a 'a "a" :b/a 'b/a :a 'a "a"] (through [:a 'a "a" :b/a 'b/a :a 'a "a"]))))

(deftest a-place-is-one-object
  (let [site {:file "a.clj" :line 1}
        [a b c] (through [{:id 1 :site site} {:id 2 :site site} {:id 3 :site {:file "a.clj" :line 1}}])]
    (is (identical? (:site a) (:site b)))
    (is (= (:site a) (:site c)))))

(deftest similar-maps-take-few-bytes
  (let [block (fn block [i] {:id i :state :parked :since-ms 10 :age-ms 20 :waits [{:op :take :channel i :place 1}]})]
    (is (> 30 (/ (alength ^bytes (Packing/pack (mapv block (range 10000)))) 10000.0)))))

(deftest bad-data-is-refused
  (testing "an object of the program"
    (is (thrown? IllegalArgumentException (Packing/pack {:x (Object.)}))))
  (testing "other bytes"
    (is (thrown? RuntimeException (Packing/unpack (.getBytes "HTTP/1.1 200 OK"))))))
