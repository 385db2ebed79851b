;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.mix-test
  "mix, admix, unmix, toggle, solo-mode."
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.impl.async.hubs :as hubs]
   [skein.upstream :refer [both= deftwin]]))

(set! *warn-on-reflection* true)

(deftwin values-of "All values of a channel." [c]
  (a/<!! (a/into [] c)))

(deftest inputs-come-out-mixed
  (both= #{1 2 3 4 5 6}
         (let [out (a/chan) m (a/mix out)]
           (a/admix m (a/to-chan! [1 2 3]))
           (a/admix m (a/to-chan! [4 5 6]))
           (set (repeatedly 6 #(a/<!! out)))))
  (both= true (let [out (a/chan)] (identical? out (hubs/muxch* (a/mix out))))))

(deftest thousands-of-inputs-are-no-trouble
  (let [out (a/chan 2500) m (a/mix out)]
    (dotimes [i 2048]
      (let [c (a/chan)]
        (a/admix m c)
        (a/put! c i)))
    (is (= (set (range 2048)) (await-port (a/into #{} (a/take 2048 out)))))))

(deftest the-output-stays-open-when-inputs-close
  (both= [1 2]
         (let [out (a/chan) m (a/mix out) c (a/chan)]
           (a/admix m (a/to-chan! [1]))
           (let [got (a/<!! out)]
             (a/admix m c)
             (a/put! c 2)
             [got (a/<!! out)]))))

(deftest a-mix-ends-when-its-output-closes
  (let [out (a/chan) m (a/mix out) c (a/chan)]
    (a/admix m c)
    (a/close! out)
    (within-deadline (a/>!! c 1))
    (a/put! c 2)
    (is (= 2 (await-port c)))))

(deftest an-unmixed-input-is-no-longer-read
  (both= [1 2 :kept]
         (let [out (a/chan) m (a/mix out) c (a/chan 1) d (a/chan 1)]
           (a/admix m c)
           (a/admix m d)
           (a/>!! c 1)
           (let [first-out (a/<!! out)]
             (a/unmix m c)
             (a/>!! d 2) ; leaves the mix time to see the change, which has no priority
             (let [second-out (a/<!! out)]
               (a/unmix-all m)
               (a/toggle m {d {}})
               (a/>!! c :kept)
               [first-out second-out (a/<!! c)])))))

(deftest a-bad-mode-is-refused
  (both= :refused
         (try (a/solo-mode (a/mix (a/chan)) :loud) (catch AssertionError _ :refused)))
  (is (thrown-with-msg? AssertionError #"mode must be one of" (a/solo-mode (a/mix (a/chan)) nil))))

;;;; Attributes

(defn- settle
  "Waits until the mix has seen all changes, by an input that is passed on in any case."
  [m out attributes]
  (let [probe (a/chan)
        mark (Object.)]
    (a/toggle m {probe attributes})
    (a/put! probe mark)
    (is (identical? mark (await-port out)))
    (a/close! probe)))

(deftest a-muted-input-is-read-and-dropped
  (let [out (a/chan) m (a/mix out) c (a/chan)]
    (a/toggle m {c {:mute true}})
    (is (true? (within-deadline (a/>!! c :dropped))))
    (settle m out {})
    (a/toggle m {c {:mute false}})
    (settle m out {})
    (a/put! c :heard)
    (is (= :heard (await-port out)))))

(deftest a-paused-input-is-not-read
  (let [out (a/chan) m (a/mix out) c (a/chan)]
    (a/toggle m {c {:pause true}})
    (settle m out {})
    (is (nil? (a/offer! c :refused)))
    (a/put! c :later)
    (a/toggle m {c {:pause false}})
    (is (= :later (await-port out)))))

(def ^:private gen-attributes
  (gen/hash-map :mute gen/boolean :pause gen/boolean :solo gen/boolean))

(defn- fate
  "Returns what should happen to a value put on an input, as `mix` is documented: :passed,
  :dropped, or :waits if the input is not read."
  [attributes any-solo? mode]
  (let [{:keys [mute pause solo]} attributes]
    (cond
      solo :passed
      (and any-solo? (= :pause mode)) :waits
      pause :waits
      (or any-solo? mute) :dropped
      :else :passed)))

(defn- before-mark
  "Sends a mark through the mix, and returns what comes out before it."
  [out probe]
  (a/put! probe ::mark)
  (vec (take-while #(not= ::mark %) (repeatedly #(await-port out)))))

(defn- observed-fate
  "Returns what happens to a value put on `c`. The mix chooses at random between `c`, if it reads
  that, and the marks: by chance sixty of these overtake the value once in 2^60 times."
  [out c probe]
  (let [accepted (promise)]
    (a/put! c ::value (fn [_] (deliver accepted true)))
    (loop [marks 60]
      (let [accepted? (realized? accepted)]
        (cond
          (seq (before-mark out probe)) :passed
          accepted? :dropped
          (zero? marks) :waits
          :else (recur (dec marks)))))))

(deftest attributes-work-as-the-model-says
  (let [property
        (prop/for-all [attributes (gen/vector gen-attributes 1 3)
                       mode (gen/elements [:mute :pause])]
          (let [out (a/chan) m (a/mix out)
                inputs (mapv (fn [_] (a/chan)) attributes)
                probe (a/chan)
                any-solo? (boolean (some :solo attributes))]
            (a/solo-mode m mode)
            (a/toggle m (assoc (zipmap inputs attributes) probe {:solo any-solo?}))
            (before-mark out probe)
            (= (mapv #(fate % any-solo? mode) attributes)
               (mapv #(observed-fate out % probe) inputs))))
        result (check/quick-check 40 property)]
    (is (:pass? result) (pr-str (:shrunk result)))))

(deftest toggle-knows-three-attributes
  (let [m (a/mix (a/chan)) c (a/chan)]
    (is (= [:skein/bad-argument :mutee]
           (try (a/toggle m {c {:mutee true}})
                (catch clojure.lang.ExceptionInfo e ((juxt :skein/error :argument) (ex-data e))))))
    (a/toggle m {c {:mute nil, :pause true}})))
