;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.looks-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.looks :as looks])
  (:import
   (clojure.lang ExceptionInfo)
   (java.util.concurrent CountDownLatch TimeUnit)))

(set! *warn-on-reflection* true)

(defn- snapshot [n]
  {:skein/snapshot 1 :at-ms n :threads [] :channels [] :locks [] :collected {:count 0 :blocks []}
   :blocks (vec (repeat n {:id n :state :parked :site {:file "a.clj" :line 1} :waits []}))})

(defn- target
  "Returns a target whose looks return `(look i)`, for i from 1. Counts the looks in `n`."
  [n look]
  {:live? true :look (fn [_] (look (swap! n inc)))})

(deftest no-look-without-a-request
  (let [n (atom 0), l (looks/looks (target n snapshot))]
    (is (= 0 @n))
    (is (= 1 (:rev (:look (looks/latest l))) (:rev (:look (looks/latest l)))))
    (is (= 1 @n) "the last look is kept")
    (is (= [1] (:history (looks/look! l))))
    (is (= 1 @n) "the next one is not due")))

(deftest looks-are-taken-when-due
  (let [n (atom 0), l (looks/looks (target n snapshot))]
    (looks/latest l)
    (swap! (:state l) assoc :due-ns (- (System/nanoTime) 1))
    (is (= [1 2] (:history (looks/look! l))))
    (is (= 2 @n))
    (is (= 3 (:rev (:look (looks/prove! l)))) "a proof does not wait")))

(deftest pause-is-32-times-as-long-as-a-look
  (let [took-ns 40000000
        began (atom nil)
        l (looks/looks (target (atom 0) (fn slow [i]
                                          (let [start (reset! began (System/nanoTime))]
                                            (while (< (- (System/nanoTime) start) took-ns))
                                            (snapshot i)))))
        _ (looks/latest l) ; the first one has loaded the inspector
        {:keys [due-ns]} (looks/prove! l)]
    (is (<= (* 33 took-ns) (- due-ns @began)))))

(deftest a-file-is-read-once
  (let [n (atom 0), l (looks/looks (assoc (target n snapshot) :live? false))]
    (looks/latest l)
    (dotimes [_ 3] (swap! (:state l) assoc :due-ns (- (System/nanoTime) 1)) (looks/look! l))
    (is (= 1 @n))))

(deftest last-look-stays-when-the-target-ends
  (let [n (atom 0), l (looks/looks (target n (fn [i] (if (= 1 i) (snapshot 1) (throw (ex-info "It has ended." {:skein/error :skein/not-inspectable}))))))]
    (looks/latest l)
    (let [{:keys [look error]} (looks/prove! l)]
      (is (= 1 (:rev look)))
      (is (= "It has ended." (:says error))))
    (is (some? (:look (looks/latest l))))))

(deftest failed-first-look-is-reported
  (let [l (looks/looks (target (atom 0) (fn [_] (throw (java.io.IOException. "gone")))))]
    (is (= {:skein/error :skein/not-inspectable} (try (looks/latest l) (catch ExceptionInfo e (ex-data e)))))))

(deftest one-look-at-a-time
  (let [n (atom 0), begun (CountDownLatch. 1), go-on (CountDownLatch. 1)
        l (looks/looks (target n (fn [i] (.countDown begun) (.await go-on 30 TimeUnit/SECONDS) (snapshot i))))
        first-look (future (looks/look! l))]
    (is (.await begun 30 TimeUnit/SECONDS))
    (is (nil? (:look (looks/look! l))) "a second caller does not wait")
    (.countDown go-on)
    (is (= 1 (:rev (:look @first-look)) @n))))

(deftest growth-is-found-across-looks
  (let [n (atom 0)
        l (looks/looks (target n (fn [i] (assoc (snapshot (* 200 (long i))) :at-ms (* 10000 (long i))))))]
    (dotimes [_ 6] (looks/prove! l))
    (is (= [[200 1200]] (map (juxt :from :to) (:growth (looks/latest l)))))))

(deftest cached-values-are-computed-once
  (let [n (atom 0), look (:look (looks/latest (looks/looks (target (atom 0) snapshot))))]
    (is (= 1 (looks/cached look :a #(swap! n inc)) (looks/cached look :a #(swap! n inc))))
    (is (= 40 (count (for [i (range 40)] (looks/cached look [:many i] (constantly i))))) "however many there are")))
