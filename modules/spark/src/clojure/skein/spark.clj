;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark
  "Runs folds of skein.fold on Apache Spark. The guide is doc/spark.md.

  * `connect` returns a cluster, which is closed like a file
  * `lines` `slices` `range` `parallelize` `of-each` `rows` return sources on it, for `fold` and `explain` of skein.fold
  * `problem` returns, without a cluster, why a fold can't be sent
  * `named` gives a fold a name by which it is sent; `here` sends the text of a form

  Names are sent, not code: the executors load the same namespaces. A fold is taken apart as far as possible. So
  (skein.fold/through (map my.app/parse) skein.fold/count) needs no name of its own.

      (with-open [cluster (connect \"local[2]\")]
        (skein.fold/fold skein.fold/sum (range cluster 0 1000)))

  Steps run at least once: when an executor is lost, Spark runs its partitions again.

  The options of a fold of such a source:

  - :order             what to do with a stage that needs its elements in order, such as (take 10). :driver, the default:
                       it runs in this process, and the stages before it run on the executors. :refuse: throws
  - :max-result-bytes  how large the value of one partition may be; by default 1 GB
  - :timeout-ms        after this time the fold is cancelled; by default never
  - :lost-after-ms     how long to wait when there are no executors; by default 60,000
  - :bindings          vars whose values in this process are bound for the steps; no other binding is sent
  - :on-progress       function of {:done n, :total n, :unit :partitions}

  It throws :skein/cannot-travel before anything runs. It also throws :skein/far-code, :skein/too-large, :skein/timeout
  and :skein/cluster-lost.
  An exception of an executor is thrown here, with its class, message, data and cause."
  (:refer-clojure :exclude [range])
  (:require
   [skein.impl.check :as check]
   [skein.spark.cluster :as cluster]
   [skein.spark.files :as files]
   [skein.spark.here :as here]
   [skein.spark.names :as names]
   [skein.spark.request :as request]
   [skein.spark.source :as source]
   [skein.spark.travel :as travel]))

(set! *warn-on-reflection* true)

;;;; Clusters

(defn connect
  "Returns a connection to a Spark cluster, a java.io.Closeable; a JVM can have one at a time. `.close` ends it, and with it the
  executors.

  - master  string such as \"spark://host:7077\", or \"local[4]\" for four threads of this process; or a SparkContext, which
            stays open when the connection is closed
  - options:
    - :app   name of the application; by default \"skein\"
    - :jars  what is sent to the executors. :auto, the default: the class path of this process without Spark's own jars,
             with folders packed into jars, or nothing if the tasks run in this process. :there: nothing, since the
             executors have the code. Or a collection of paths
    - :conf  map from a setting of Spark to its value

  Throws :skein/cluster-lost if no master answers, :skein/bad-argument."
  (^java.io.Closeable [master] (connect nil master))
  (^java.io.Closeable [options master] (cluster/connect options master)))

;;;; Sources

(defn lines
  "Returns the source of the lines of files, the same as those of skein.fold.lines/lines.

  - paths  string or a collection of strings: a path, a URI such as hdfs:///logs/a, or a pattern such as logs/*.gz, whose files are
           read in the order of their paths. Each executor must be able to read the files
  - options:
    - :charset      as for skein.fold.lines/lines
    - :split-bytes  how many bytes a task reads at most; by default 128 MB, or less so that there are four tasks for each core

  A compressed file is one task. Its first bytes, which are read here, show that it is compressed. Throws :skein/file; a
  fold of the source throws that too, and :skein/too-large."
  ([cluster paths] (lines nil cluster paths))
  ([options cluster paths] (files/lines options cluster paths)))

(defn slices
  "Returns the source of parts of files, the same as those of skein.fold.lines/slices: each has some complete lines in a buffer. A
  line ends with line feed. The field `file` of a slice is the number of its file, in the order of `paths`.

  - paths  as for `lines`
  - options:
    - :split-bytes  as for `lines`"
  ([cluster paths] (slices nil cluster paths))
  ([options cluster paths] (files/slices options cluster paths)))

(defn range
  "Returns the source of the whole numbers from `from` to `to`, exclusive.

  - options:
    - :partitions  how many; by default four for each core"
  ([cluster from to] (range nil cluster from to))
  ([options cluster from to]
   (let [n (source/partitions "range" options cluster)
         [from to] (map #(check/whole %1 %2 Long/MIN_VALUE) ["from of range" "to of range"] [from to])]
     (source/of-calls cluster (map (fn [[a b]] ['clojure.core/range a b]) (source/cuts from to n))))))

(defn parallelize
  "Returns the source of the elements of a local collection, which are sent to the executors.

  - options:
    - :partitions  how many at least; by default four for each core. There are more if one would be larger than 1 MB"
  ([cluster coll] (parallelize nil cluster coll))
  ([options cluster coll]
   (source/of-vector cluster (vec coll) (source/partitions "parallelize" options cluster))))

(defn of-each
  "Returns the source of the elements of (f path), for each of `paths`. An executor calls `f`, which returns any source of
  skein.fold. Each path is one task. Executors run in folders of their own, so paths of files must be absolute.

      (of-each cluster [\"/data/a.csv\" \"/data/b.csv\"] `skein.fold.lines/lines)"
  [cluster paths f]
  (let [f (if (symbol? f) @(names/resolve-name f) f)]
    (source/of-calls cluster (map (fn [path] ['skein.spark.source/opened f path]) paths))))

(defn rows
  "Returns the source of the rows of an RDD or JavaRDD."
  [cluster rdd]
  (source/of-rdd cluster rdd))

;;;; Folds

(defn named
  "Returns the fold or function that the function named `sym` returns for `args`.
  It is sent by that name and the arguments.

      (named 'my.app/slower-than 100)"
  [sym & args]
  (request/named sym args))

(defmacro here
  "Returns the value of `form`, a fold or a function. It is sent as the text of the form, with the values of the locals that the
  form uses. Use it for forms at a prompt; code in files has names.

      (let [limit 100]
        (skein.fold/fold (skein.fold/through (here (filter #(< % limit))) skein.fold/count) far))

  The form may use aliases, referred vars and imports of its namespace. Throws :skein/cannot-travel if it uses a var that was
  itself defined at a prompt, and, when it is sent, if the value of a local can't be sent."
  {:style/indent 0}
  [form]
  (let [locals (here/used-locals form (keys &env))
        context (here/context *ns* form (set locals))]
    `(names/remember ~form ['skein.spark.here/make '~context ~(binding [*print-length* nil, *print-level* nil, *print-meta* true] (pr-str form))
                            '~(mapv str locals) ~locals])))

(defn problem
  "Returns why the fold `f` can't be sent to an executor, or why it fails on `sample` there, as a map with :message, and :skein/error
  or :class. Returns nil if nothing is wrong. To find out, sends the fold to a second Clojure in this process, which knows only the
  class path, and folds `sample`, a collection, there."
  ([f] (problem f []))
  ([f sample] (travel/problem f sample)))
