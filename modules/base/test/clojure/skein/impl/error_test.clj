;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.error-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [clojure.test.check.clojure-test :refer [defspec]]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.impl.check :as check]
   [skein.impl.error :as error])
  (:import
   (java.util.concurrent TimeoutException)))

(set! *warn-on-reflection* true)

(deftest an-old-java-is-refused
  (is (nil? (error/check-java 21 "/jdk")))
  (is (= [:skein/java-too-old
          (str "Skein needs Java 21 or newer, but this is Java 17 in /jdk."
               " Start the program with a newer Java: put its bin folder first on the PATH. [:skein/java-too-old]")]
         (try (error/check-java 17 "/jdk")
              (catch clojure.lang.ExceptionInfo e [(:skein/error (ex-data e)) (ex-message e)])))))

(deftest what-took-too-long-is-a-timeout-with-data
  (let [cause (ex-info "slow" {})
        e (error/timed-out "The fold took longer than 5 ms. [:skein/timeout]" {:what :fold :ms 5} cause)]
    (is (instance? TimeoutException e))
    (is (= {:skein/error :skein/timeout :what :fold :ms 5} (ex-data e)))
    (is (= ["The fold took longer than 5 ms. [:skein/timeout]" cause] [(ex-message e) (ex-cause e)]))))

(defspec preview-is-what-pr-str-prints-or-its-beginning 200
  (prop/for-all [text gen/string]
    (let [shown (error/preview text)]
      (if (<= (count (pr-str text)) error/max-preview-chars)
        (= shown (pr-str text))
        (and (= error/max-preview-chars (count shown))
             (str/ends-with? shown "…")
             (str/starts-with? (pr-str text) (subs shown 0 (dec (count shown)))))))))

(defspec preview-is-bounded-for-any-value 200
  (prop/for-all [value gen/any]
    (<= 1 (count (error/preview value)) error/max-preview-chars)))

(deftest preview-realizes-no-more-than-it-shows
  (let [realized (atom 0)
        values (iterate (fn step [n] (swap! realized inc) (inc n)) 0)]
    (is (= "(0 1 2 3 4 5 6 7 8 9 ...)" (error/preview values)))
    (is (<= @realized 11))))

(deftest preview-ignores-the-callers-print-settings
  (binding [*print-length* 1 *print-meta* true *print-readably* false]
    (is (= "[1 \"two\"]" (error/preview (with-meta [1 "two"] {:a 1}))))))

(deftest preview-is-one-line
  (is (str/starts-with? (error/preview [:failed (ex-info "no\npaper" {})])
                        "[:failed #error { :cause \"no\\npaper\" :data {} :via [")))

(deftest preview-of-a-value-that-cannot-be-printed-is-its-class
  (is (= "#<clojure.lang.LazySeq>"
         (error/preview (map (fn break [_] (throw (IllegalStateException.))) [1])))))

(defn- first-frame [^Throwable thrown]
  (.getClassName ^StackTraceElement (first (.getStackTrace thrown))))

(deftest a-stack-trace-begins-at-the-caller
  (let [calls (binding [*ns* (create-ns 'shop)] (eval '(clojure.core/fn calls [] (skein.impl.check/whole :n 0 1))))
        thrown-here (try (check/whole :n 0 1) (catch Exception e e))
        thrown-by (fn [f] (try (f) (catch Exception e e)))]
    (is (str/starts-with? (first-frame (thrown-by calls)) "shop$"))
    (is (str/starts-with? (first-frame thrown-here) "skein.impl.error_test$"))))

(deftest a-stack-trace-without-a-caller-is-complete
  (let [thrown (promise)
        thread (doto (Thread. ^Runnable (partial check/whole :n 0 1))
                 (.setUncaughtExceptionHandler (reify Thread$UncaughtExceptionHandler
                                                 (uncaughtException [_ _ e] (deliver thrown e)))))]
    (.start thread)
    (is (str/starts-with? (first-frame @thrown) "skein.impl.error$"))))

(deftest fail-throws-its-data-with-the-keyword
  (let [thrown (try (error/fail! :skein/bad-argument "Too big. [:skein/bad-argument]" {:size 9})
                    (catch clojure.lang.ExceptionInfo e e))]
    (is (= "Too big. [:skein/bad-argument]" (ex-message thrown)))
    (is (= {:skein/error :skein/bad-argument :size 9} (ex-data thrown)))))
