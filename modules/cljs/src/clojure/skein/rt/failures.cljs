;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.failures
  "Exceptions that are kept for who asks with `<?`. One that nobody has asked for is reported when
  the port that keeps it is garbage."
  (:require
   [skein.rt.scheduler :as scheduler]))

(def ^:private unobserved
  (when (exists? js/FinalizationRegistry)
    (js/FinalizationRegistry. (fn [thrown] (scheduler/report thrown)))))

(defn keep-for
  "Returns the exception `thrown`, to be kept by `port`."
  [port thrown]
  (let [thrown (if (nil? thrown) (ex-info "nil was thrown" {:skein/error :skein/nil-thrown}) thrown)]
    (when (some? unobserved)
      ;; Until its stack is read, an exception in V8 holds the receivers of its frames. The port may be one
      ;; of them, and would never be garbage.
      (unchecked-get thrown "stack")
      (.register unobserved port thrown port))
    thrown))

(defn observed
  "Notes that somebody has asked why `port` ended."
  [port]
  (when (some? unobserved) (.unregister unobserved port)))
