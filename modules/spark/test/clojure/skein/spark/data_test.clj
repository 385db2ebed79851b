;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.data-test
  "Values as bytes, and back."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [are deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.fold :as fold]
   [skein.spark.codec :as codec]
   [skein.spark.folds :as folds])
  (:import
   (clojure.lang ExceptionInfo IPersistentMap PersistentQueue)
   (java.sql Timestamp)
   (java.time Instant LocalDate Month)
   (java.util ArrayList HashMap HashSet UUID)
   (java.util.regex Pattern)))

(set! *warn-on-reflection* true)

(defn- encode ^bytes [x] (codec/encode x 100000000))
(defn- sent [x] (codec/decode (encode x)))

(defn- error-of [f]
  (try (f) nil (catch ExceptionInfo e (assoc (ex-data e) :message (ex-message e)))))

(deftest generated-values-come-back
  (let [result (check/quick-check 1000 (prop/for-all [x (gen/scale #(min % 40) gen/any-equatable)]
                                         (let [y (sent x)]
                                           (and (= x y) (= (class x) (class y)) (= (hash x) (hash y)))))
                                  :seed 1)]
    (is (:pass? result) (pr-str (:shrunk result)))))

(deftest numbers-keep-their-types
  (doseq [x [0 -1 Long/MIN_VALUE Long/MAX_VALUE 1.5 -0.0 ##Inf 1N 1M 1.00M 2/3 (int 7) (short -3) (byte 9) (float 0.5) \λ (biginteger 12)]]
    (is (= [(class x) (str x)] [(class (sent x)) (str (sent x))])))
  (is (NaN? (sent ##NaN))))

(deftest what-fressian-would-change-is-kept
  (is (= StringBuilder (class (sent (StringBuilder. "a")))))
  (is (= Timestamp (class (sent (Timestamp. 1)))))
  (is (= ["-0.0" "0.0"] (map str (sent (double-array [-0.0 0.0])))))
  (is (= Pattern/LITERAL (.flags ^Pattern (sent (Pattern/compile "." Pattern/LITERAL)))))
  (is (= :skein/cannot-travel (:skein/error (error-of #(sent (Object.)))))))

(deftest booleans-are-the-ones-clojure-knows
  (is (identical? false (sent false)))
  (is (= :no (if (first (sent [false])) :yes :no)))
  (testing "within Java's objects too"
    (is (= :no (if (.get ^HashMap (sent (HashMap. {"a" false})) "a") :yes :no)))
    (is (= :no (if (.getKey ^java.util.Map$Entry (sent (java.util.AbstractMap$SimpleEntry. false 1))) :yes :no)))))

(deftest keys-hashed-by-identity-are-found
  (let [m (into {} (map (fn [n] [(folds/month n) n])) (range 12))]
    (is (= m (sent m)))
    (is (= 4 (get (sent m) Month/MAY)))
    (is (= #{String Long Month} (sent #{String Long Month})))
    (is (= {(folds/->Row Month/MAY Long) 1} (sent {(folds/->Row Month/MAY Long) 1})))))

(deftest collections-keep-their-kinds
  (are [x] (and (= x (sent x)) (= (class x) (class (sent x))))
    [1 2] {:a 1} (zipmap (range 100) (range)) #{1 2} '(1 2) () [] {} #{} (sorted-map 2 :b 1 :a) (sorted-set 3 1 2)
    (into PersistentQueue/EMPTY [1 2]) (first {:a 1}) (ArrayList. [1 nil]) (HashMap. {:a [1]}) (HashSet. [1 :a])
    (UUID. 1 2) Instant/EPOCH (LocalDate/of 2020 1 2) "text" "ünï\uD800" 'a/b :a/b Month/MAY Long)
  (is (= [3 2 1] (keys (sent (sorted-map-by > 1 :a 2 :b 3 :c)))))
  (is (= '(1 2 3) (sent (map inc (range 3)))))
  (is (= [2 3] (sent (subvec [1 2 3] 1))))
  (is (= "a+" (str (sent #"a+"))))
  (doseq [array [(long-array [1 2]) (int-array [1]) (double-array [1.5 ##NaN]) (float-array [1]) (short-array [1]) (char-array "ab")
                 (boolean-array [true false]) (byte-array [1 -1]) (object-array [1 nil :a]) (into-array String ["a"])]]
    (is (= (class array) (class (sent array))))
    (is (= (pr-str (seq array)) (pr-str (seq (sent array)))))))

(deftest metadata-comes-back
  (is (= {:a {:b 1}} (meta (sent (with-meta [1] {:a {:b 1}})))))
  (is (= {:tag 'String} (meta (sent (with-meta 'x {:tag 'String}))))))

(deftest records-come-back
  (let [r (assoc (folds/row 3) :more [(folds/row 4)])]
    (is (= r (sent r)))
    (is (= (class r) (class (sent r))))
    (is (= {:m 1} (meta (sent (with-meta r {:m 1})))))))

(deftest functions-are-sent-by-name
  (are [f] (identical? f (sent f))
    inc conj + folds/bucket str/trim)
  (are [xform xs] (= (into [] xform xs) (into [] (sent xform) xs))
    (map inc) [1 2]
    (comp (map inc) (filter odd?) (take 2)) (range 9)
    (partition-by odd?) [1 3 2]
    (map (partial + 1 2 3 4 5)) [1]
    (keep (comp (fnil inc 0) first)) [[nil] [1]]
    (map (juxt inc dec)) [1]
    (remove (complement odd?)) [1 2]
    (distinct) [1 1]
    (filter (folds/below 3)) [1 5]
    (mapcat reverse) [[1 2]])
  (is (= 3 (fold/fold (sent fold/count) [1 2 3])))
  (is (= "3" (fold/fold (sent (assoc fold/count :complete str)) [1 2 3])))
  (is (= #'inc (sent #'inc))))

(deftest folds-are-sent-by-their-constructors
  (are [f xs] (= (fold/fold f xs) (fold/fold (sent f) xs))
    fold/mean [1 2 6]
    (fold/into #{}) [1 2]
    (fold/into [0]) [1 2]
    (fold/top 2 -) [1 2 3]
    (fold/histogram [1 2]) [0 1 2 3]
    (fold/quantiles [0.5]) (range 100)
    (fold/group-by odd? (fold/through (map inc) fold/sum)) (range 10)
    folds/stats (range 50)
    (fold/finish first (fold/fuse [fold/min fold/max])) [3 1 2]))

(deftest a-changed-fold-is-not-sent-as-the-original
  (is (= 6 (fold/fold (sent (assoc (fold/into []) :identity +, :step +, :combine +, :complete identity)) [1 2 3])))
  (is (= :skein/cannot-travel (:skein/error (error-of #(sent (assoc (fold/top 3) :complete (fn [_] 1))))))))

(deftest unsendable-values-are-named-with-their-place
  (are [x error path] (= [error path] ((juxt :skein/error :path) (error-of #(sent x))))
    {:by-user {"kim" {:seen (Thread/currentThread)}}} :skein/cannot-travel [:by-user "kim" :seen]
    [1 (atom 2)] :skein/cannot-travel [1]
    {:t (transient [])} :skein/cannot-travel [:t]
    [(delay 1)] :skein/cannot-travel [0]
    {:f #(inc %)} :skein/cannot-travel [:f]
    [(reify Runnable (run [_]))] :skein/cannot-travel [0])
  (is (re-find #"no name" (:message (error-of #(sent (map (fn [x] x))))))))

(deftest depth-and-size-have-bounds
  (let [nested (fn [n] (nth (iterate vector :x) n))]
    (is (= (nested 1000) (sent (nested 1000))))
    (testing "on the stack of a new thread"
      (is (= 1000 (count (take-while vector? (iterate first (deref (future (sent (nested 1000))) 60000 :late)))))))
    (is (= :skein/cannot-travel (:skein/error (error-of #(sent (nested 100000)))))))
  (is (= :skein/too-large (:skein/error (error-of #(codec/encode (range) 1000000)))))
  (is (= :skein/too-large (:skein/error (error-of #(codec/encode (byte-array 1000) 999)))))
  (let [large (vec (repeat 10000000 7))]
    (is (= large (sent large)))))

(deftest exceptions-come-back
  (let [e (sent (folds/with-data 7))]
    (is (instance? ExceptionInfo e))
    (is (= ["row 7" {:row 7, :set #{1 2}, :flag false, :record (folds/row 3)}] [(ex-message e) (ex-data e)]))
    (is (= IllegalStateException (class (ex-cause e))))
    (is (some #(str/starts-with? (.getClassName ^StackTraceElement %) "skein.spark.folds") (.getStackTrace ^Throwable e))))
  (is (= ["aside"] (map ex-message (.getSuppressed ^Throwable (sent (folds/with-suppressed 1))))))
  (is (= "key" (.getKey ^java.util.MissingResourceException (sent (folds/with-fields 1)))))
  (testing "as far as possible"
    (let [e (sent (ex-info "has a thread" {:at (Thread/currentThread)} (RuntimeException. "cause")))]
      (is (= "has a thread" (ex-message e)))
      (is (= :skein/cannot-travel (:skein/error (ex-data e))))
      (is (str/includes? (:data (ex-data e)) "Thread"))
      (is (= "cause" (ex-message (ex-cause e)))))))

(deftest a-fold-value-need-not-be-a-map-of-functions
  (is (= {:step 1, :combine 2} (sent {:step 1, :combine 2})))
  (is (instance? IPersistentMap (sent (sorted-map 1 2)))))

(deftest parts-of-folds-have-names-too
  (is (= [2 3] (fold/fold (sent (assoc (fold/into []) :xform (map inc))) [1 2])))
  (is (= 3 (fold/fold (sent (assoc (folds/fails-at 9 folds/with-data) :complete identity)) [1 2 3])))
  (is (= [1 2] (fold/fold (sent (assoc folds/slow :complete identity)) [1 2]))))
