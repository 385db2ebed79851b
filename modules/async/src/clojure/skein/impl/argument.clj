;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.argument
  "Checks that an argument is a port. Each returns its argument or throws :skein/not-a-port;
  `what` names the argument, as \"from of pipe\" does. Other checks are in skein.impl.check."
  {:no-doc true}
  (:require
   [skein.impl.check :as check]
   [skein.impl.late :as late])
  (:import
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(defn- checked [what value fits? wanted]
  (if (instance? Channel value)
    value
    (check/port what value (fits? value) wanted)))

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
