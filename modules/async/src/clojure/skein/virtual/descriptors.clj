;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.descriptors
  "The process's limit of open files, which includes sockets.

  * `usage` - how many are open, and the limit
  * `explaining` - a function whose exception says what to do if too many files are open"
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
  "Returns whether `thrown` or one of its causes is the system's refusal to open another file."
  [thrown]
  (some (fn refusal? [^Throwable t]
          (some-> (.getMessage t) (str/includes? "Too many open files")))
        (take 20 (take-while some? (iterate ex-cause thrown)))))

(defn- failure
  "Returns the exception that says what to change."
  [error thrown]
  (let [{:keys [open limit] :as counts} (try (usage) (catch Error _))] ; to count them needs another one
    (ex-info (str "The process ran out of file descriptors"
                  (when limit (str ": it has " open " of " limit))
                  ". Run fewer calls at once, with a smaller n for wmap, or raise the limit, with `ulimit -n`.")
             (assoc counts :skein/error error)
             thrown)))

(defn explain
  "Returns `thrown`. If it says that too many files are open, returns an exception
  :skein/too-many-open-files with `thrown` as its cause."
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
