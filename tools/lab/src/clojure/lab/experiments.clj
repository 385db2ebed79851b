;; SPDX-License-Identifier: Apache-2.0
(ns lab.experiments
  "The ten experiments: what was published, what runs here and how it is shown. The programs are the files e*.clj beside this one.

  An experiment is a map:

    :id :name :title   \"e1\", \"staircase\", and a heading
    :ns                its program
    :heap              such as \"1g\": the heap of its processes, touched beforehand so that the first touch is not measured
    :libraries         each has a process: \"skein\", \"clojure\", or a peer in tools/bench/peers
    :source            a key of `sources`
    :protocol          the procedure, in a sentence or two
    :published         row -> figures as published
    :base              {:column or :row title}: the base of the ratios
    :threads?          whether platform threads are shown beside the figures
    :serial            {:row :column}: the base of the speed-ups
    :plots             see lab.plots

  lab.readings summarises the figures in a sentence."
  (:require
   [clojure.string :as str]))

(set! *warn-on-reflection* true)

(def sources
  "Where the experiments were published."
  {:b1 "Eli Bendersky, “Clojure concurrency and blocking with core.async”, 2017"
   :b2 "Eli Bendersky, “Reducers, transducers and core.async in Clojure”, 2017"
   :b3 "Eli Bendersky, “Notes on debugging Clojure code”, 2017"
   :a "“Clojure & core.async: go blocks everywhere?”, 2015"
   :w "Alex Osborne, “Widefinder 2 with Clojure”, 2009"
   :v "Ivan Grishaev, README of virtuoso, version 3, 2023-25"})

(def ^:private async ["core.async-1.7.701" "core.async-1.9.865" "skein"])

(def experiments
  "The experiments, in order."
  [{:id "e1" :name "staircase" :title "The pool-size staircase" :ns "lab.e1-staircase" :libraries async :source :b1
    :protocol "n blocks sleep 10 ms each, then put a number on one unbuffered channel; the caller takes n numbers. A channel
              lets 1024 puts wait, so for 10 000 it has a buffer. Threads are not counted where each task has one."
    :published (into {} (for [n (range 1 19), [form ms] {"go" (cond (< n 9) 10 (< n 17) 20 :else 31), "thread" 10}]
                          [(str n " " form) (str ms " ms")]))
    :base {:column "Skein"} :threads? true
    :plots [{:kind :lines :x "blocks" :where {:form "go" :x-to 18} :title "go: milliseconds by number of blocks"}
            {:kind :lines :x "threads" :where {:form "thread" :x-to 18} :title "thread: milliseconds by number of threads"}
            {:kind :lines :x "blocks" :where {:form "go"} :log? true :title "go: up to many blocks, both scales logarithmic"}]}
   {:id "e2" :name "http" :title "Blocking requests" :ns "lab.e2-http" :libraries async :source :b1
    :protocol "20 requests at once to a server on this machine that takes 760 to 990 ms for each (a tenth of that with --quick)."
    :published {"go, blocking" "2300 ms", "thread, blocking" "1000 ms", "callbacks and go" "as thread"}
    :base {:column "Skein"} :threads? true
    :plots [{:kind :bars :y :row :color :column}]}
   {:id "e3" :name "factorize" :title "Factorising in parallel" :ns "lab.e3-factorize"
    :libraries ["clojure" "core.async-1.7.701" "core.async-1.9.865" "skein"] :source :b1
    :protocol "1000 copies of 29 · 982 451 653 factorised by trial division; eight go blocks, eight threads, a pipeline of
              eight, a fold. Published figures are of 4 cores with 8 hardware threads."
    :published {"one number" "2.3 ms", "serial" "2300 ms", "go" "680 ms, s3.4", "thread" "680 ms, s3.4"
                "pipeline" "about 680 ms", "fold" "r/fold 1150 ms, s2.0"}
    :base {:column "Skein"} :serial {:row "serial" :column "Clojure"}
    :plots [{:kind :bars :y :row :color :column :where {:form "all"}}]}
   {:id "e4" :name "mixed" :title "Blocking and computing mixed" :ns "lab.e4-mixed" :libraries async :source :b1
    :protocol "Tasks that sleep 250 ms beside tasks that compute for 230 ms, tuned to this machine (50 and 46 ms with --quick)."
    :published {"32 block, 16 compute" "go 1521 ms, thread 530 ms", "64 block, 16 compute" "go 3200 ms, thread 530 ms"}
    :base {:column "Skein go"} :threads? true
    :plots [{:kind :lines :x "blocking tasks" :panel :panel :log? true :title "milliseconds by blocking tasks"}]}
   {:id "e5" :name "sums" :title "Reducers, transducers, folds" :ns "lab.e5-sums" :libraries ["clojure" "skein"] :source :b2 :heap "1g"
    :protocol "The sum of the even numbers below 9 999 999, each incremented, of a range, a vector and an array of longs
              (1 999 999 with --quick). The heap is 1 GB, which has been touched before.
              Published figures are of 4 cores with 8 hardware threads."
    :published {"reduce over a lazy seq" "range 600 ms, vector 555 ms", "reducers" "range 432 ms, vector 371 ms"
                "reduce, fused by hand" "325 ms", "r/fold" "vector 145 ms"}
    :base {:row "skein.fold"}
    :plots [{:kind :bars :y :row :panel :column :title "milliseconds"}]}
   {:id "e6" :name "pipelines" :title "Pipelines of channels" :ns "lab.e6-pipelines" :libraries async :source :b2
    :protocol "Numbers are generated, squared and summed over channels, in three forms; and five numbers go through four
              transducers composed on one channel, which gives 37 and 65. Figures are nanoseconds per number."
    :published {"two go loops" "no figure", "to-chan! and map" "no figure", "a transducer" "no figure"
                "four transducers" "[37 65]"}
    :base {:column "Skein"}
    :plots [{:kind :bars :y :row :color :column :log? true}]}
   {:id "e7" :name "nested" :title "Nested asynchronous calls" :ns "lab.e7-nested" :libraries async :source :a
    :protocol "100 000 calls of a function that waits for itself, 20 deep (2000 calls with --quick). A block made by async begins on its
              caller's thread. Skein has async; for core.async the article's macro is rebuilt, without its flaw: the original
              loses the result when the body parks."
    :published {"go, one after the other" "11 933 ms", "async, one after the other" "879 ms"
                "plain function, one after the other" "42.6 ms", "go, pmap" "2711 ms", "async, pmap" "500 ms"
                "plain function, pmap" "314 ms", "async whose body parks 5 ms, once" "result lost"}
    :base {:column "Skein"}
    :plots [{:kind :bars :y :row :color :column :log? true}]}
   {:id "e8" :name "wide-finder" :title "Wide Finder 2" :ns "lab.e8-wide-finder" :libraries ["skein"] :source :w
    :protocol "Five tallies of a made-up web server's log of 256 MB (12 MB with --quick). The three published designs are
              rebuilt, with strings, and atoms of AtomicLongs that all threads share. Two faults are left out: the original counts
              some lines twice, 0.5 % of them on 1 GB, and a bad byte count ends its worker. Published figures are of a 45 GB log on
              a Sun T2000 with 32 hardware threads."
    :published {"1: pmap, small buffers, sort" "13 min 16 s", "2: large buffers, selection" "10 min 8 s"
                "3: threads on a queue" "8 min 4 s"}
    :base {:row "skein wf"}
    :plots [{:kind :bars :y :row :panel :column :title "milliseconds"}]}
   {:id "e9" :name "downloads" :title "Many slow downloads" :ns "lab.e9-downloads" :libraries ["skein"] :source :v
    :protocol "Downloads from a server on this machine that sends 500 kB/s on each connection and resets all connections beyond 256. Published
              figures are of files of 6 MB and 12 cores; here they are of 25 kB (20 with --quick)."
    :published {"100 downloads" "map 1103 s, pmap 44 s, virtual map 11.1 s, virtual pmap 11.1 s"
                "2000 downloads, window 128" "virtual pmap 45 s (window 512)"
                "2000 downloads at once" "connections reset"}
    :base {:column "skein.virtual pmap"}
    :plots [{:kind :bars :y :column :panel :row :title "milliseconds"}]}
   {:id "e10" :name "debugging" :title "Debugging" :ns "lab.e10-debugging" :libraries ["tools.trace-0.8.0" "skein"] :source :b3
    :protocol "A cond fails in two of its branches, three functions are traced while they call each other, a cond says which clause
              fired, and printing is switched on for one dynamic extent. The published programs use tools.trace. The article
              says what they print, and gives no times."
    :published {"(foo 24): the form that failed" "(first n)", "(foo nil): the form that failed" "(> n 40)"}
    :base {:column "Skein"}
    :plots []}])

(defn named
  "Returns the experiment called `text`, by id or name, or nil."
  [text]
  (some #(when (#{(:id %) (:name %)} (str/lower-case text)) %) experiments))
