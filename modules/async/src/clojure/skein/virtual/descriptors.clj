;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.descriptors
  "The process's limit of open files, which sockets count towards.

  * `usage` - how many there are and how many may be
  * `explaining` - a function whose failure for want of them says what to do"
  {:no-doc true}
  (:require
   [clojure.string :as str])
  (:import
   (com.sun.management UnixOperatingSystemMXBean)
   (java.lang.management ManagementFactory)))

(set! *warn-on-reflection* true)

(defn usage
  "Returns {:open n, :limit n}, or nil where the system has no such limit."
  []
  (let [system (ManagementFactory/getOperatingSystemMXBean)]
    (when (instance? UnixOperatingSystemMXBean system)
      {:open (.getOpenFileDescriptorCount ^UnixOperatingSystemMXBean system)
       :limit (.getMaxFileDescriptorCount ^UnixOperatingSystemMXBean system)})))

(defn- exhausted?
  "Whether `thrown` or what caused it is the system's refusal to open one more file."
  [thrown]
  (some (fn refusal? [^Throwable t]
          (some-> (.getMessage t) (str/includes? "Too many open files")))
        (take 20 (take-while some? (iterate ex-cause thrown)))))

(defn- failure
  "The exception that says which knob to turn."
  [error thrown]
  (let [{:keys [open limit] :as counts} (usage)]
    (ex-info (str "The process ran out of file descriptors"
                  (when limit (str ": it has " open " of " limit))
                  ". Run fewer at once, with a smaller n for wmap, or raise the limit, with `ulimit -n`.")
             (assoc counts :skein/error error)
             thrown)))

(defn explain
  "Returns `thrown`, or if it says that too many files are open, an exception
  :skein/too-many-open-files with it as the cause."
  [thrown]
  (if (exhausted? thrown)
    (failure :skein/too-many-open-files thrown)
    thrown))

(defn explaining
  "Returns `f`, of any number of arguments, with its exceptions passed through `explain`."
  [f]
  (fn explained
    ([] (try (f) (catch Exception e (throw (explain e)))))
    ([x] (try (f x) (catch Exception e (throw (explain e)))))
    ([x & more] (try (apply f x more) (catch Exception e (throw (explain e)))))))
