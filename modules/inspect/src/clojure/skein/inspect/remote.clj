;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.remote
  "Reaches the inspector of another process of the same user through the JVM's attach mechanism. The process needs this module on its
  class path, and no other preparation. All but `processes`, `heap-of` and `paths-of` start a management agent in it,
  which makes it load classes and perhaps collect garbage. So ask `skein.inspect.attach/on?` first: what an
  inspector that is off has missed may be collected.

  * `processes` lists the JVMs
  * `snapshot-of` one of them
  * `timeline-of` one of them, after `record!`
  * `connect` to one, for several looks
  * `heap-of` makes one of them write a heap file, reads it and deletes it. The process need not have this module."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.inspect.attach :as attach :refer [fail!]]
   [skein.inspect.heap :as heap]
   [skein.inspect.snapshot :as snapshot])
  (:import
   (clojure.lang ExceptionInfo)
   (com.sun.tools.attach VirtualMachine VirtualMachineDescriptor)
   (java.io IOException)
   (java.nio.file Path)
   (java.util Properties)
   (java.util.regex Pattern)
   (javax.management InstanceAlreadyExistsException MBeanException MBeanServerConnection ObjectName ReflectionException RuntimeMBeanException)
   (javax.management.openmbean CompositeData TabularData)
   (javax.management.remote JMXConnector JMXConnectorFactory JMXServiceURL)
   (skein.inspect.rt Bean BeanMBean Packing)))

(set! *warn-on-reflection* true)

(defn processes
  "Returns the JVMs of this user, except this one, as [{:pid :command}], in the order of their numbers."
  []
  (let [own (str (.pid (java.lang.ProcessHandle/current)))]
    (->> (VirtualMachine/list)
         (keep (fn each [^VirtualMachineDescriptor d]
                 (when (not= own (.id d)) {:pid (.id d) :command (.displayName d)})))
         (sort-by (comp parse-long :pid))
         vec)))

(defn- detail
  "Returns the first line of an exception's message. Java's remote calls add more lines."
  [^Throwable e]
  (first (str/split-lines (or (ex-message e) (.getName (class e))))))

(defn- root-detail
  "Returns the root cause of an exception as text, such as \"ConnectException: Connection refused\"."
  [e]
  (let [root (last (take 20 (take-while some? (iterate ex-cause e))))]
    (str (.getSimpleName (class root)) (when (ex-message root) (str ": " (detail root))))))

(defn- address
  "Starts the process's own management agent, and returns its address."
  [pid]
  (attach/attached pid (fn agent-of [^VirtualMachine vm] (.startLocalManagementAgent vm))))

(def ^:private bean-name (ObjectName. BeanMBean/NAME))

(defn- ensure-bean
  "Makes the process register the bean, for which it must have this module. Returns whether it is registered."
  [^MBeanServerConnection server]
  (or (.isRegistered server bean-name)
      (try (.createMBean server (.getName Bean) bean-name)
           true
           (catch InstanceAlreadyExistsException _ true)
           (catch ReflectionException _ false))))

(defn- connector
  "Connects to the process `pid`, or to a management agent that listens at HOST:PORT."
  ^JMXConnector [pid]
  (try
    (JMXConnectorFactory/connect
      (JMXServiceURL. (if (re-matches #"\d+" pid) (address pid) (str "service:jmx:rmi:///jndi/rmi://" pid "/jmxrmi"))))
    (catch IllegalArgumentException e (fail! pid (str "there is no such address (" (detail e) ").")))))

(defn- telling
  "Calls `f`. Throws its failures as :skein/not-inspectable."
  [pid f]
  (try
    (f)
    (catch RuntimeMBeanException e (fail! pid (error/untold (ex-message (ex-cause e))))) ; what its inspector has thrown
    (catch MBeanException e (fail! pid (error/untold (ex-message (ex-cause e)))))
    (catch ReflectionException _ (fail! pid "its inspector is older than this one, and can't do that."))
    (catch SecurityException e (fail! pid (str "its management agent refuses (" (ex-message e) ").")))
    (catch IOException e (fail! pid (str "it ended meanwhile, or nothing answers there (" (root-detail e) ").")))))

(defn- with-server
  "Calls `f` with a connection to the process, and returns its result."
  [pid f]
  (telling pid (fn connected []
                 (with-open [connector (connector pid)]
                   (f (.getMBeanServerConnection connector))))))

(defn- caller
  "Returns a function that calls the process's bean over a connection. It takes the name of an operation and its arguments, each as
  [type-name value]."
  [pid ^MBeanServerConnection server]
  (when-not (ensure-bean server) (fail! pid (str "it does not have skein.inspect on its class path. ./skein ps " pid " --heap needs nothing there.")))
  (let [theirs (.getAttribute server bean-name "Version")]
    (when (not= BeanMBean/VERSION theirs)
      (fail! pid (str "it has version " theirs " of the inspector, this is " BeanMBean/VERSION "."))))
  (fn call [operation & arguments]
    (.invoke server bean-name operation (object-array (map peek arguments)) (into-array String (map first arguments)))))

(defn- with-bean
  "Calls `f` with a `caller` of the process."
  [pid f]
  (with-server pid (fn look [server] (f (caller pid server)))))

(defn- look [prove call]
  (let [was-off (.booleanValue ^Boolean (call "start"))] ; unboxed, since a Boolean that was sent is always true to `if`
    (assoc (Packing/unpack (call "snapshot" ["boolean" (boolean prove)])) :was-off? was-off)))

(defn- record [on? call]
  (call "record" ["boolean" (boolean on?)]))

(defn- timeline [last-ms call]
  (Packing/unpack (call "timeline" ["long" (long last-ms)])))

(defn snapshot-of
  "Returns a snapshot of the process `pid`, a string, with :was-off? whether its inspector was off, in which case it is on
  from now on. If `prove`, runs its garbage collector first. Throws :skein/not-inspectable."
  [pid prove]
  (with-bean pid (partial look prove)))

(defn record!
  "Switches the recording of blocks' steps in the process `pid` on or off. Throws :skein/not-inspectable."
  [pid on?]
  (with-bean pid (partial record on?)))

(defn timeline-of
  "Returns the timeline of the last `last-ms` of the process `pid`, see `skein.inspect/timeline`. Throws :skein/not-inspectable,
  also if the process records no steps."
  [pid last-ms]
  (with-bean pid (partial timeline last-ms)))

(defn- class-path
  "Returns the class path of a process and its working folder, as paths, by the function `property` of its system properties."
  [property]
  (let [folder (Path/of (property "user.dir") (into-array String []))]
    {:command (property "sun.java.command")
     :paths (mapv (fn full [path] (str (.resolve folder ^String path)))
                  (cons "" (str/split (str (property "java.class.path")) (re-pattern (Pattern/quote (property "path.separator"))))))}))

(defn- property-of
  "Returns a function from the name of a system property to its value in the process."
  [^MBeanServerConnection server]
  (let [^TabularData properties (.getAttribute server (ObjectName. "java.lang:type=Runtime") "SystemProperties")]
    (fn property [k] (some-> (.get properties (object-array [k])) (as-> ^CompositeData row (.get row "value"))))))

(defn connect
  "Returns a connection to the process `pid`, a string, or to HOST:PORT where its management agent listens, for several looks:

  :command     what it runs
  :paths       its working folder and its class path, full
  :check!      a function that throws if the process lacks the inspector
  :look        a function of `prove` that returns a snapshot as `snapshot-of` does
  :record!     a function that switches recording on or off, as `record!` does
  :timeline    a function of `last-ms`, as `timeline-of`
  :stop!       switches the inspector off
  :close!      ends the connection

  Throws :skein/not-inspectable."
  [pid]
  (telling pid
    (fn connected []
      (let [connector (connector pid)
            server (.getMBeanServerConnection connector)]
        (letfn [(with [f] (telling pid (fn ask [] (f (caller pid server)))))]
          (merge (class-path (property-of server))
                 {:check! (fn check! [] (with identity))
                  :look (fn again [prove] (with (partial look prove)))
                  :record! (fn again [on?] (with (partial record on?)))
                  :timeline (fn again [last-ms] (with (partial timeline last-ms)))
                  :stop! (fn stop! [] (with (fn stop [call] (call "stop"))))
                  :close! (fn close! [] (try (.close connector) (catch IOException _)))})))))) ; the process has ended

(defn heap-of
  "Returns the snapshot of a heap file of the process `pid`, a string; see `skein.inspect/read-snapshot`. The process is paused
  while it writes the file, some seconds for a gigabyte. It loads nothing and collects nothing. First calls `told` with the number of
  bytes in use. Throws :skein/not-inspectable, :skein/file."
  [pid told]
  (told (attach/bytes-used pid))
  (heap/in-temporary-file
    (fn write [path]
      (let [says (attach/jcmd pid "GC.heap_dump" "-all" (str \" path \"))]
        (when-not (str/includes? says "file created")
          (attach/refused! pid (str "it can't write its heap to " path " (" (last (str/split-lines says)) "). If the process is another user's, run the command as that user. "
                                    "JAVA_OPTS=-Djava.io.tmpdir=FOLDER names another folder.")))))
    (fn read-it [path]
      (-> (heap/read-heap path)
          (assoc :heap (str "a heap file of process " pid) :pid (parse-long pid))
          (snapshot/with-lock-waits (try (attach/monitor-waits pid)
                                         (catch ExceptionInfo _))))))) ; the process has ended

(defn paths-of
  "Returns the working folder and the class path of the process, as full paths. It loads some classes. Throws :skein/not-inspectable."
  [pid]
  (let [^Properties properties (attach/attached pid (fn ask [^VirtualMachine vm] (.getSystemProperties vm)))]
    (:paths (class-path (fn property [^String k] (.getProperty properties k))))))
