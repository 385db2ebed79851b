;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.remote
  "Reaches the inspector of another process of the same user through the JVM's attach mechanism. The process needs this module on its
  class path, and no other preparation.

  * `processes` lists the JVMs, `has-skein?` says which have Skein
  * `snapshot-of` one of them
  * `timeline-of` one of them, after `record!`
  * `connect` to one, for several looks
  * `heap-of` makes one of them write a heap file, reads it and deletes it. The process need not have this module."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.inspect.heap :as heap]
   [skein.inspect.snapshot :as snapshot])
  (:import
   (com.sun.tools.attach AttachNotSupportedException AttachOperationFailedException VirtualMachine VirtualMachineDescriptor)
   (java.io File IOException)
   (java.lang.management ManagementFactory ThreadMXBean)
   (java.lang.reflect UndeclaredThrowableException)
   (java.nio.charset StandardCharsets)
   (java.nio.file Files Path)
   (java.util Properties)
   (java.util.regex Pattern)
   (java.util.zip ZipFile)
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

(defn- fail! [pid why]
  (error/fail! :skein/not-inspectable (str "Process " pid " can't be inspected: " why) {:pid pid}))

(defn- detail
  "Returns the first line of an exception's message. Java's remote calls add more lines."
  [^Throwable e]
  (first (str/split-lines (or (ex-message e) (.getName (class e))))))

(defn- root-detail
  "Returns the root cause of an exception as text, such as \"ConnectException: Connection refused\"."
  [e]
  (let [root (last (take 20 (take-while some? (iterate ex-cause e))))]
    (str (.getSimpleName (class root)) (when (ex-message root) (str ": " (detail root))))))

(defn- ends-when-attached?
  "Returns whether an attempt to attach would end the process. A JDK before 24 sends the signal QUIT (3) to any process. A process
  that is not a JVM may not catch it, and then ends. Returns false if the system does not say which signals the process catches."
  [pid]
  (let [status (io/file "/proc" pid "status")
        ;; Not by slurp, which asks for the file's size; that fails in /proc.
        lines (when (.canRead status) (Files/readAllLines (.toPath status) StandardCharsets/ISO_8859_1))
        caught (some (fn caught [line] (second (re-matches #"SigCgt:\s*([0-9a-f]+)" line))) lines)]
    (and (some? caught) (not (bit-test (Long/parseUnsignedLong caught 16) 2)))))

(defn- has-class?
  "Returns whether the folder or jar `path` has the class file `file`."
  [^File path ^String file]
  (if (.isDirectory path)
    (.exists (io/file path file))
    (try (with-open [jar (ZipFile. path)] (some? (.getEntry jar file)))
         (catch IOException _ false))))

(defn has-skein?
  "Returns whether the process `pid` has Skein on its class path. False if that can't be read."
  [^String pid]
  (try
    (and (not (ends-when-attached? pid))
         (let [vm (VirtualMachine/attach pid)
               ^Properties properties (try (.getSystemProperties vm) (finally (.detach vm)))
               property (fn property [k] (.getProperty properties k ""))
               folder (.toPath (io/file (property "user.dir")))]
           (some (fn skein? [^String path] (has-class? (.toFile (.resolve folder path)) "skein/rt/Channel.class"))
                 (str/split (property "java.class.path") (re-pattern (Pattern/quote (property "path.separator")))))))
    (catch AttachNotSupportedException _ false)
    (catch IOException _ false)))

(defn- no-jvm! [pid]
  (fail! pid "it is not a JVM, or it forbids tools to attach (-XX:+DisableAttachMechanism)."))

(defn- address
  "Attaches to the process and returns the address of its own management agent."
  [^String pid]
  (when (ends-when-attached? pid) (no-jvm! pid))
  (try (let [vm (VirtualMachine/attach pid)]
         (try (.startLocalManagementAgent vm) (finally (.detach vm))))
       (catch AttachNotSupportedException _ (no-jvm! pid))
       (catch AttachOperationFailedException e (fail! pid (str "its JVM refuses (" (ex-message e) ").")))
       (catch IOException e (fail! pid (str "there is no such process, or it is another user's (" (ex-message e) ").")))))

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
    (catch RuntimeMBeanException e (fail! pid (ex-message (ex-cause e)))) ; what its inspector has thrown
    (catch MBeanException e (fail! pid (ex-message (ex-cause e))))
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
  (let [was-off (.booleanValue ^Boolean (call "start"))] ; unboxed, since `if` takes a false that was sent for true
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
  "Returns the class path of the process and its working folder, as paths."
  [^MBeanServerConnection server]
  (let [runtime (ObjectName. "java.lang:type=Runtime")
        ^TabularData properties (.getAttribute server runtime "SystemProperties")
        property (fn property [k] (some-> (.get properties (object-array [k])) (as-> ^CompositeData row (.get row "value"))))
        folder (property "user.dir")
        separator (property "path.separator")]
    {:command (property "sun.java.command")
     :paths (mapv (fn full [path] (str (.resolve (Path/of folder (into-array String [])) ^String path)))
                  (cons "" (str/split (str (property "java.class.path")) (re-pattern (Pattern/quote separator)))))}))

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
          (merge (class-path server)
                 {:check! (fn check! [] (with identity))
                  :look (fn again [prove] (with (partial look prove)))
                  :record! (fn again [on?] (with (partial record on?)))
                  :timeline (fn again [last-ms] (with (partial timeline last-ms)))
                  :stop! (fn stop! [] (with (fn stop [call] (call "stop"))))
                  :close! (fn close! [] (try (.close connector) (catch IOException _)))})))))) ; the process has ended

(def ^:private diagnostics (ObjectName. "com.sun.management:type=HotSpotDiagnostic"))

(defn- with-locks
  "Adds the platform threads that wait for monitors to `snapshot`, which is of a heap file. The file does not show them."
  [snapshot ^MBeanServerConnection server]
  (let [bean (ManagementFactory/newPlatformMXBeanProxy server ManagementFactory/THREAD_MXBEAN_NAME ThreadMXBean)]
    (try (snapshot/with-lock-waits snapshot (snapshot/lock-waits bean))
         (catch UndeclaredThrowableException _ snapshot)))) ; the process has ended

(defn heap-of
  "Returns the snapshot of a heap file of the process `pid`, a string; see `skein.inspect/read-heap`. The process is paused
  while it writes the file, some seconds for a gigabyte. First calls `told` with the number of bytes in use. Throws
  :skein/not-inspectable, :skein/not-a-heap-file."
  [pid told]
  (with-server pid
    (fn look [^MBeanServerConnection server]
      (let [usage ^CompositeData (.getAttribute server (ObjectName. "java.lang:type=Memory") "HeapMemoryUsage")]
        (told (.get usage "used")))
      (heap/in-temporary-file
        (fn write [path]
          (try (.invoke server diagnostics "dumpHeap" (object-array [path false]) (into-array String ["java.lang.String" "boolean"]))
               (catch MBeanException e
                 (fail! pid (str "it can't write its heap to " path ": " (detail (ex-cause e)) ". If the process is another user's, run the command as that user. "
                                 "JAVA_OPTS=-Djava.io.tmpdir=FOLDER names another folder.")))))
        (fn read-it [path]
          (-> (heap/read-heap path)
              (assoc :heap (str "a heap file of process " pid))
              (with-locks server)))))))
