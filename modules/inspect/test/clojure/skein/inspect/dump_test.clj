;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.dump-test
  "Snapshots as text."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.inspect.dump :as dump])
  (:import
   (java.io StringWriter)))

(set! *warn-on-reflection* true)

(defn- first-line [n-blocks n-threads n-collected]
  (let [out (StringWriter.)]
    (dump/write {:at-ms 0
                 :blocks (repeat n-blocks {:id 1 :state :parked})
                 :threads (repeat n-threads {:name "main" :tid 1})
                 :collected {:count n-collected}}
                out :text)
    (re-find #".*, at " (str out))))

(defn- head [snapshot]
  (let [out (StringWriter.)]
    (dump/write (merge {:at-ms 0 :pid 7 :blocks [] :threads [] :collected {:count 0}} snapshot) out :text)
    (take 2 (str/split-lines (str out)))))

(deftest what-was-not-seen-is-not-counted
  (let [unseen [(str "No block seen yet, and no thread that waits in a channel, at 1970-01-01T00:00:00Z")
                (str "The inspector sees what waited before it was switched on only after its next step. "
                     "./skein ps 7 --heap shows it, and threads that wait for promises or latches.")]]
    (is (= unseen (head {})))
    (is (= unseen (head {:threads [{:name "t" :tid 1 :waits [{:op :lock :lock "l" :held-by {:tid 2}}]}]}))
        "a thread that waits for a lock shows without a step")
    (doseq [seen [{:blocks [{:id 1 :state :parked}]}
                  {:threads [{:name "t" :tid 1 :waits [{:op :take :channel 3}]}]}
                  {:collected {:count 1}}
                  {:heap "x.hprof"}]]
      (is (re-find #"^\d blocks?, \d threads? waits?" (first (head seen)))))))

(deftest surest-findings-come-first
  (let [out (StringWriter.)
        block (fn block [id c holds] {:id id :state :parked :since-ms 9000 :waits [{:op :take :channel c :place 1}] :holds holds})]
    (dump/write {:at-ms 0 :collected {:count 0}
                 :blocks [(block 1 3 [4]) (block 2 4 [3])]
                 :channels [{:id 3 :kind :chan :takes [{:block 1}] :puts []} {:id 4 :kind :chan :takes [{:block 2}] :puts []}]
                 :failures [{:at-ms 0 :thread "main" :exception "java.lang.Error"}]}
                out :text)
    (is (= ["ERROR" "SUSPECTED"] (map second (re-seq #"(?m)^([A-Z]+)  " (str out)))))))

(deftest other-threads-are-listed-by-a-command-that-the-jvm-has
  (let [text (fn text [snapshot] (let [out (StringWriter.)] (dump/write (merge {:at-ms 0 :collected {:count 0} :elsewhere 2} snapshot) out :text) (str out)))]
    (is (re-find #"\n2 other threads wait; jcmd PID Thread\.dump_to_file \"\$PWD/threads\.txt\" shows where\.\n" (text {})))
    (is (re-find #"\n2 other threads wait; jcmd PID Thread\.print shows where\.\n" (text {:old-jvm? true})))))

(deftest thread-whose-number-is-not-known-has-no-number
  (let [out (StringWriter.)]
    (dump/write {:at-ms 0 :collected {:count 0}
                 :failures (for [thread ["skein-virtual" ""]] {:at-ms 0 :thread thread :exception "E"})}
                out :text)
    (is (= ["A E on thread skein-virtual, was" "A E on a thread without a name, was"] (re-seq #"A E on .*, was" (str out))))))

(deftest each-cycle-of-locks-is-a-finding
  (let [out (StringWriter.)
        thread (fn thread [tid holder] {:name (str "t" tid) :tid tid :waits [{:lock "a lock" :held-by {:thread (str "t" holder) :tid holder}}]})]
    (dump/write {:at-ms 0 :collected {:count 0} :threads [(thread 1 3) (thread 2 4) (thread 3 1) (thread 4 2) (thread 5 1)]} out :text)
    (is (= [["t1" "t3"] ["t2" "t4"]]
           (map (fn cycle-of [line] (map second (re-seq #"thread (t\d), " line))) (re-seq #"CERTAIN.*" (str out)))))))

(deftest collected-blocks-of-one-place-are-one-report
  (let [out (StringWriter.), block (fn block [id] {:id id :op :put :site {:file "a.clj" :line 3 :form "(>! c 1)"}})]
    (dump/write {:at-ms 0 :blocks [] :collected {:count 300 :blocks (map block (range 1 301))}} out :text)
    (is (= [(str "PROVEN  go-1, a.clj:3 (>! c 1), can never continue: no running code can reach it. The value of its put is lost."
                 " The same goes for 299 more blocks of that place.")]
           (re-seq #"PROVEN.*" (str out))))))

(deftest collected-blocks-are-listed-by-place
  (let [out (StringWriter.), gone (fn gone [id line] {:id id :since-ms 3000 :op :take :site {:file "a.clj" :line line :form "(<! c)"}})]
    (dump/write {:at-ms 0 :collected {:count 3 :blocks [(gone 1 7) (gone 2 8) (gone 3 8)]}} out :text)
    (is (= ["    2  collected a.clj:8 (<! c)" "       go-2" "       go-3" "    1  collected a.clj:7 (<! c)" "       go-1"]
           (drop 2 (str/split-lines (str out)))))))

(deftest scopes-are-listed
  (let [out (StringWriter.)]
    (dump/write {:at-ms 0 :collected {:count 0}
                 :scopes [{:id 3 :body {:thread "main" :tid 1} :children [{:block 5} {:thread "skein-future-8" :tid 31} {:begun? false}] :remaining-ms 2000}
                          {:id 4 :parent 3 :body {:block 5} :children [] :cancelled-ms 100 :remaining-ms 0}
                          {:id 6 :body {:block 5} :children [{:begun? false} {:begun? false}]}]}
                out :text)
    (is (= ["scope-3 of thread main, has children: go-5, thread skein-future-8, and 1 that has not begun, ends in 2.0 s"
            "scope-4 of go-5, in scope-3, has no children, was cancelled 0.1 s ago"
            "scope-6 of go-5, has children: 2 that have not begun"]
           (re-seq #"scope-\d of.*" (str out))))))

(deftest threads-of-one-place-are-listed-together
  (let [out (StringWriter.)
        thread (fn [n site] {:name "" :tid n :site site :since-ms n :waits [{:op :take :channel 3}]})]
    (dump/write {:at-ms 0 :collected {:count 0} :channels [{:id 3 :kind :chan}]
                 :threads (into [(thread 99 {:file "b.clj" :line 1})] (map #(thread % {:file "a.clj" :line 8})) (range 22))}
                out :text)
    (let [lines (remove #{""} (rest (str/split-lines (str out))))]
      (is (= "       thread 21, a.clj:8 waits for chan-3 for 0.0 s" (first lines)) "the longest-waiting first")
      (is (= ["       and 2 more threads at a.clj:8" "       thread 99, b.clj:1 waits for chan-3 for 0.1 s"] (drop 20 lines))))))

(deftest names-with-line-breaks-stay-on-one-line
  (let [out (StringWriter.), site {:file "a\nb.clj" :line 3 :form "(<! c)"}]
    (dump/write {:at-ms 0 :collected {:count 0}
                 :blocks [{:id 1 :state :parked :site site :waits [{:op :take :channel 3}]}]
                 :channels [{:id 3 :kind :chan :label "new\r\njobs\u0085for\u2028all\u2029shops" :takes [{:block 1}] :puts []}]
                 :threads [{:name "im\nport" :tid 7 :site site :waits [{:op :take :channel 3}]}]}
                out :text)
    (is (= ["    1  parked   a b.clj:3 (<! c)" "       go-1 waits for new jobs for all shops" "" "       thread im port, a b.clj:3 (<! c) waits for new jobs for all shops"]
           (drop 2 (str/split-lines (str out)))))))

(deftest blocks-of-a-heap-file-are-stuck-not-collected
  (let [out (StringWriter.), site {:file "a.clj" :line 8 :form "(<! c)"}, wait [{:op :take :channel 3}]
        running {:id 2 :state :running :site {:file "a.clj"} :on {:name "w" :tid 7 :site {:file "a.clj" :line 5 :form "f"}} :waits wait}]
    (dump/write {:at-ms 0 :heap "x.hprof" :blocks [running (assoc running :id 4 :stuck? true)]
                 :collected {:count 1 :blocks [{:id 1 :site site :op :take :waits wait}]}}
                out :text)
    (is (= ["3 blocks (2 stuck), 0 threads wait, at 1970-01-01T00:00:00Z, in x.hprof"
            "    1  blocked  a.clj" "       go-2 waits for chan-3, at a.clj:5 f"
            "    1  stuck    a.clj" "       go-4 waits for chan-3, at a.clj:5 f"
            "    1  stuck    a.clj:8 (<! c)" "       go-1 waits for chan-3"]
           (remove #(or (= "" %) (str/starts-with? % "A heap file alone")) (str/split-lines (str out)))))))

(deftest nouns-and-verbs-agree-with-counts
  (is (= "1 block, 1 thread waits, 1 block collected, at " (first-line 1 1 1)))
  (is (= "2 blocks, 0 threads wait, 2 blocks collected, at " (first-line 2 0 2))))
