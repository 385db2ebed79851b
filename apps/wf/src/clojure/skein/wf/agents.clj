;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.agents
  "Finds the program and the system that a user agent names, by the table of the ua-parser project.

  - `browser`, `system`   text of a User-Agent header -> name"
  (:import
   (java.util.concurrent ConcurrentHashMap)
   (java.util.function Function)
   (ua_parser OS Parser UserAgent)))

(set! *warn-on-reflection* true)

(def ^:private parser (delay (Parser.)))

(def ^:private most-chars
  "How much of an agent is read. Some patterns take time quadratic in its length, and some clients send very long ones."
  1000)

(defn- remembering
  "Returns a function like `f`, of a text, that remembers its values. `f` tries some hundreds of patterns."
  [f]
  (let [known (ConcurrentHashMap.)
        look-up (reify Function (apply [_ text] (f (subs text 0 (min (count text) (long most-chars))))))]
    (fn remembered [text] (.computeIfAbsent known text look-up))))

(def browser
  "Returns the family of the browser, or other program, that an agent's text names, such as \"Firefox\"; else \"Other\"."
  (remembering (fn family [text] (.family ^UserAgent (.parseUserAgent ^Parser @parser text)))))

(def system
  "Returns the family of the operating system that an agent's text names, such as \"Windows\"; else \"Other\"."
  (remembering (fn family [text] (.family ^OS (.parseOS ^Parser @parser text)))))
