;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark
  "Folds of skein.fold on Apache Spark. doc/spark.md explains.

  * `connect` gives a cluster, which is closed like a file
  * `lines` `slices` `range*` `parallel` `of-each` `rows` are sources on it
  * `fold` folds one, `explain` tells what it did
  * `travels?` and `fault` tell without a cluster whether a fold can be sent
  * `named` gives a fold a name to be sent by, `here` the text of its form

  What is sent is a name, not code: the executors load the same namespaces. A fold is taken apart as far as it can be, so
  that (skein.fold/through (map my.app/parse) skein.fold/count) needs no name of its own.

      (with-open [cluster (connect \"local[2]\")]
        (fold skein.fold/sum (range* cluster 0 1000)))

  Steps run at least once: when an executor is lost, Spark runs its partitions again."
  (:require
   [skein.impl.check :as check]
   [skein.spark.cluster :as cluster]
   [skein.spark.files :as files]
   [skein.spark.here :as here]
   [skein.spark.names :as names]
   [skein.spark.source :as source]
   [skein.spark.travel :as travel]))

(set! *warn-on-reflection* true)

;;;; Clusters

(defn connect
  "Returns a connection to a Spark cluster, to be closed when it is no longer needed; a JVM can have one at a time.

  - master  string: \"spark://host:7077\", or \"local[4]\" for four threads of this process; or a SparkContext, which
            stays open when the connection is closed
  - opts:
    - :app   name of the application; default \"skein\"
    - :jars  :auto, the default: all of this process's class path but Spark's own, folders packed into jars; none if
             the tasks run in this process
             :there, if the executors have the code; or a collection of paths
    - :conf  map from a setting of Spark to its value

  Throws :skein/cluster-lost if no master answers, :skein/bad-master, :skein/bad-option."
  ([master] (connect nil master))
  ([opts master] (cluster/connect opts master)))

(defn close
  "Ends a connection, and with it the executors."
  [^java.io.Closeable cluster]
  (.close cluster))

;;;; Sources

(defn lines
  "Returns the source of the lines of files, as skein.fold.lines/lines gives them.

  - paths  string, or a collection of such: a path, a URI such as hdfs:///logs/a, or a pattern such as logs/*.gz, whose files come
           by name. Each executor must be able to read them
  - opts:
    - :charset      as for skein.fold.lines/lines
    - :split-bytes  how many bytes a task reads at most; default 128 MB, and less if that is fewer than four tasks a core

  A compressed file is one task; its first bytes tell, which are read here. Throws :skein/file-missing, :skein/file-is-directory, :skein/file-unreadable; and when
  folded, :skein/file-truncated and :skein/record-too-long."
  ([cluster paths] (lines nil cluster paths))
  ([opts cluster paths] (files/lines opts cluster paths)))

(defn slices
  "Returns the source of parts of files, each some whole lines in a buffer, as skein.fold.lines/slices gives them. A line ends with
  line feed. The field `file` of a slice is the number of its file, in the order in which `paths` mean them.

  - paths  as for `lines`
  - opts:
    - :split-bytes  as for `lines`"
  ([cluster paths] (slices nil cluster paths))
  ([opts cluster paths] (files/slices opts cluster paths)))

(defn range*
  "Returns the source of the whole numbers from `from` to `to`, exclusive.

  - opts:
    - :partitions  how many; default four a core"
  ([cluster from to] (range* nil cluster from to))
  ([opts cluster from to]
   (let [n (source/partitions "range*" opts cluster)
         [from to] (map #(check/whole %1 %2 Long/MIN_VALUE) ["from of range*" "to of range*"] [from to])]
     (source/of-calls cluster (map (fn [[a b]] ['clojure.core/range a b]) (source/cuts from to n))))))

(defn parallel
  "Returns the source of the elements of a local collection, which are sent to the executors.

  - opts:
    - :partitions  how many at least; default four a core, and more if one would be larger than 1 MB"
  ([cluster coll] (parallel nil cluster coll))
  ([opts cluster coll]
   (source/of-vector cluster (vec coll) (source/partitions "parallel" opts cluster))))

(defn of-each
  "Returns the source of what (f path) returns on the executors, for each of `paths`: any source of skein.fold. Each is one task.
  Executors run in folders of their own, so paths of files must be absolute.

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
  "Returns the fold or function that the var called `sym` makes of `args`,
  which is sent by that name.

      (named 'my.app/slower-than 100)"
  [sym & args]
  (names/remember (apply @(names/resolve-name sym) args) (into [sym] args)))

(defmacro here
  "Returns the value of `form`, a fold or a function, which is sent as the text of the form and the values of the locals that it uses. For
  forms at a prompt; code in files has names.

      (let [limit 100]
        (fold (skein.fold/through (here (filter #(< % limit))) skein.fold/count) far))

  The form may use aliases, referred vars and imports of its namespace. Throws :skein/cannot-travel if it uses a var that was
  itself defined at a prompt; :skein/unsendable, when it is sent, if the value of a local can't be."
  {:style/indent 0}
  [form]
  (let [locals (here/used-locals form (keys &env))
        context (here/context *ns* form (set locals))]
    `(names/remember ~form ['skein.spark.here/make '~context ~(binding [*print-length* nil, *print-level* nil, *print-meta* true] (pr-str form))
                            '~(mapv str locals) ~locals])))

(defn travels?
  "Returns whether the fold `f` can be sent to an executor: sends it to a second Clojure in this process, which has only the
  class path, and folds `sample`, a collection, there. `fault` says why not."
  ([f] (travels? f []))
  ([f sample] (nil? (travel/fault-of f sample))))

(defn fault
  "Returns why the fold `f` can't be sent to an executor, or fails on `sample` there: a map with :message and :skein/error or :class;
  nil if nothing is wrong."
  ([f] (fault f []))
  ([f sample] (travel/fault-of f sample)))

(defn fold
  "Returns the fold of a source on a cluster, as skein.fold/fold returns that of a local one.

  - f     a fold of skein.fold, or a function that is both step and combine; or its name: a symbol with a namespace, or a
          vector of the symbol of a function and arguments
  - far   a source of this namespace
  - opts:
    - :order             what to do with a stage that needs its elements in order, such as (take 10): :driver, the default,
                         runs it here, on what the stages before it let through there; :refuse throws
    - :max-result-bytes  how large the value of one partition may be; default 1 GB
    - :timeout-ms        after which the fold is cancelled; default never
    - :lost-after-ms     how long to wait when there are no executors; default 60,000
    - :bindings          vars whose values here the steps see there; no other binding is sent
    - :on-progress       function of {:done n, :total n, :unit :partitions}

  Values of neighbouring partitions are combined here, in order, as they arrive. A reduced value from step, and an exception,
  end the fold and cancel the rest; an exception is thrown as it was there. Interrupting the caller cancels the fold.

  Throws :skein/cannot-travel and :skein/unsendable before anything runs; :skein/far-namespace-missing, -broken and -differs,
  :skein/far-java, :skein/far-needs-order, :skein/partial-too-large, :skein/fold-timeout, :skein/cluster-lost; and what
  skein.fold/fold throws."
  ([f far] (fold nil f far))
  ([opts f far] (first (source/fold opts f far nil))))

(defn explain
  "Folds as `fold` does, and returns what happened: a map of

  - :value       what fold returns
  - :path        :far, or :in-order if a stage ran here
  - :reason      which stage needed order, a string, or nil
  - :partitions  a map for each: :partition, :how it ended (:value, :stopped), :units it stepped on, :ns it took, :bytes of its
                 value, :executor and :attempt
  - :elapsed-ns  time in all"
  ([f far] (explain nil f far))
  ([opts f far]
   (let [trace (atom [])
         start (System/nanoTime)
         [value stage] (source/fold opts f far trace)]
     {:value value
      :path (if stage :in-order :far)
      :reason (when stage (str (:stage stage) " needs its elements in order"))
      :partitions @trace
      :elapsed-ns (- (System/nanoTime) start)})))
