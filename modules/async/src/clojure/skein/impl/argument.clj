;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.argument
  "Checks that an argument is a port. Each returns its argument or throws :skein/not-a-port;
  `what` names the argument, as \"from of pipe\" does. Other checks are in skein.impl.check."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.check :as check]
   [skein.impl.late :as late])
  (:import
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(defn port
  "Returns `value`, or throws :skein/not-a-port unless `ok?`. `wanted` says what it must be; for a channel of core.async, the
  message says how to use one."
  [what value ok? wanted]
  (check/that :skein/not-a-port what value ok?
              (if (some-> (class value) .getName (str/starts-with? "clojure.core.async.impl.channels."))
                (str wanted " (a channel of core.async: load skein.async.coexist)")
                wanted)))

(defn- checked [what value fits? wanted]
  (if (instance? Channel value)
    value
    (port what value (fits? value) wanted)))

(defn source
  "Returns `value`, which must be a port to take from."
  [what value]
  (checked what value late/source? "a channel to take from"))

(defn target
  "Returns `value`, which must be a port to put on."
  [what value]
  (checked what value late/target? "a channel to put on"))

(defn closeable
  "Returns `value`, which must be a port that can be closed."
  [what value]
  (checked what value late/closeable? "a channel"))
