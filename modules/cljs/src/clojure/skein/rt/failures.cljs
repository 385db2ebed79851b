;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.failures
  "Exceptions that ports keep for `<?`. If no `<?` has taken an exception, it is reported when the port
  that keeps it is garbage."
  {:no-doc true}
  (:require
   [skein.rt.scheduler :as scheduler]))

(def ^:private unobserved nil) ; a FinalizationRegistry, once there is something to keep

(defn- registry
  "Returns the registry, or nil if the environment has none."
  []
  (when (and (nil? unobserved) (exists? js/FinalizationRegistry))
    (set! unobserved (js/FinalizationRegistry. (fn [thrown] (scheduler/report thrown)))))
  unobserved)

(defn keep-for
  "Returns the exception that `port` keeps for `thrown`, and watches the port."
  [port thrown]
  (let [thrown (if (nil? thrown) (ex-info "nil was thrown" {:skein/error :skein/nil-thrown}) thrown)]
    (when-some [unobserved (registry)]
      ;; Until its stack is read, an exception in V8 holds the receivers of its frames. The port may be one
      ;; of them, and would never be garbage.
      (unchecked-get thrown "stack")
      (.register unobserved port thrown port))
    thrown))

(defn observed
  "Notes that code has asked why `port` ended."
  [port]
  (when (some? unobserved) (.unregister unobserved port)))
