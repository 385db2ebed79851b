;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.remote
  "The inspector of another process of the same user, by the JVM's attach mechanism: the process need not have been
  prepared, if it has this module on its class path.

  * `processes` lists the JVMs
  * `snapshot-of` one of them"
  {:no-doc true}
  (:require
   [clojure.edn :as edn]
   [skein.impl.error :as error]
   [skein.inspect.snapshot :as snapshot])
  (:import
   (com.sun.tools.attach AttachNotSupportedException AttachOperationFailedException VirtualMachine VirtualMachineDescriptor)
   (java.io ByteArrayInputStream IOException InputStreamReader PushbackReader)
   (java.util.zip GZIPInputStream)
   (javax.management InstanceAlreadyExistsException MBeanException MBeanServerConnection ObjectName ReflectionException RuntimeMBeanException)
   (javax.management.remote JMXConnectorFactory JMXServiceURL)
   (skein.inspect.rt Bean BeanMBean)))

(set! *warn-on-reflection* true)

(defn processes
  "Returns the JVMs of this user but this one, as [{:pid :command}]."
  []
  (let [own (str (.pid (java.lang.ProcessHandle/current)))]
    (into [] (keep (fn each [^VirtualMachineDescriptor d]
                     (when (not= own (.id d)) {:pid (.id d) :command (.displayName d)})))
          (VirtualMachine/list))))

(defn- fail! [pid why]
  (error/fail! :skein/not-inspectable (str "Process " pid " can't be looked at: " why) {:pid pid}))

(defn- address
  "Attaches to the process and returns the address of its own management agent."
  [^String pid]
  (try (let [vm (VirtualMachine/attach pid)]
         (try (.startLocalManagementAgent vm) (finally (.detach vm))))
       (catch AttachNotSupportedException e (fail! pid (str "it is no JVM that can be attached to (" (ex-message e) ").")))
       (catch AttachOperationFailedException e (fail! pid (str "its JVM refuses (" (ex-message e) ").")))
       (catch IOException e (fail! pid (str "there is no such process, or it is another user's (" (ex-message e) ").")))))

(def ^:private bean-name (ObjectName. BeanMBean/NAME))

(defn- ensure-bean [pid ^MBeanServerConnection server]
  (when-not (.isRegistered server bean-name)
    (try (.createMBean server (.getName Bean) bean-name)
         (catch InstanceAlreadyExistsException _)
         (catch ReflectionException _ (fail! pid "it does not have skein.inspect on its class path.")))))

(defn- read-snapshot [^bytes bs]
  (with-open [in (PushbackReader. (InputStreamReader. (GZIPInputStream. (ByteArrayInputStream. bs)) "UTF-8"))]
    (edn/read in)))

(defn snapshot-of
  "Returns a snapshot of the process `pid`, a string, with :was-off? whether its inspector was off, in which case it is on
  from now on. `prove` runs its garbage collector first. Throws :skein/not-inspectable."
  [pid prove]
  (let [url (address pid)]
    (try
      (with-open [connector (JMXConnectorFactory/connect (JMXServiceURL. url))]
        (let [server (.getMBeanServerConnection connector)
              _ (ensure-bean pid server)
              theirs (.getAttribute server bean-name "Version")]
          (when (not= snapshot/version theirs)
            (fail! pid (str "it has version " theirs " of the inspector, this is " snapshot/version ".")))
          (let [was-off (.booleanValue ^Boolean (.invoke server bean-name "start" nil nil))] ; a copy of true is not true
            (assoc (read-snapshot (.invoke server bean-name "snapshot" (object-array [(boolean prove)]) (into-array String ["boolean"])))
                   :was-off? was-off))))
      (catch RuntimeMBeanException e (fail! pid (ex-message (ex-cause e)))) ; what its inspector has thrown
      (catch MBeanException e (fail! pid (ex-message (ex-cause e))))
      (catch IOException e (fail! pid (str "it ended meanwhile (" (ex-message e) ")."))))))
