;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.error
  "How Skein reports what a caller did wrong: exceptions that are data.

  * `fail!` throws one
  * `preview` shows a value in its message, briefly
  * `check-java` refuses an old Java

  Every exception is an ex-info whose data has a keyword of namespace `skein`
  under :skein/error; doc/errors.md says what each means and what to do."
  (:require
   [clojure.string :as str]
   [skein.impl.internals :as internals]))

(set! *warn-on-reflection* true)

(def ^:const max-preview-chars
  "The length of the longest text that `preview` returns."
  80)

(defn- bounded
  "Returns `text`, cut to `max-preview-chars` with … as its last character."
  [^String text]
  (if (<= (.length text) (long max-preview-chars))
    text
    (str (subs text 0 (dec (long max-preview-chars))) \…)))

(defn- fn-name
  "The name of the var, or the function, in which the function `f` is written."
  [f]
  (-> (internals/demunged (.getName (class f)))
      (str/replace #"(/(fn|eval\d+))?--\d+.*$" "")
      (str/replace #"/eval\d+.*$" "")))

(defn preview
  "Returns `value` as `pr-str` would print it, in `max-preview-chars` at most.

  An infinite sequence and a deep or long collection are safe: what lies beyond
  a few elements is neither realized nor printed. A value that can't be printed,
  because printing it throws, shows as its class. The caller's print settings
  have no influence. A function shows by where it is written.

      (preview {:put nil})
      ;=> \"{:put nil}\"

      (preview (range))
      ;=> \"(0 1 2 3 4 5 6 7 8 9 ...)\""
  [value]
  (binding [*print-length* 10
            *print-level* 4
            *print-meta* false
            *print-namespace-maps* false
            *print-dup* false
            *print-readably* true]
    ;; A long string is cut before it is escaped, so that a huge one costs nothing.
    (let [value (if (string? value)
                  (subs value 0 (min (count value) (long max-preview-chars)))
                  value)]
      (try
        (bounded (if (fn? value) (str "#<function of " (fn-name value) ">") (pr-str value)))
        (catch Exception _
          (bounded (str "#<" (.getName (class value)) ">")))))))

(defn fail!
  "Throws an ex-info with `message` and `data`, and `error` under :skein/error.

  error    a keyword of namespace skein, an entry of doc/errors.md
  message  what happened, why it matters, what to do, in a sentence or two
  data     map of the offending values, as data

      (try (fail! :skein/bad-size \"A size is a number.\" {:size :big})
           (catch clojure.lang.ExceptionInfo e (ex-data e)))
      ;=> {:skein/error :skein/bad-size, :size :big}"
  [error message data]
  (throw (ex-info message (assoc data :skein/error error))))

(defn check-java
  "Throws :skein/java-too-old unless the version `feature` of the Java in the folder `home` will do."
  [feature home]
  (when (< (long feature) 21)
    (fail! :skein/java-too-old
           (str "Skein needs Java 21 or newer, but this is Java " feature " in " home
                ". Start the program by a newer one: put its bin folder first on the PATH.")
           {:java feature})))

;; This is loaded before any class of Skein's, of which an older Java says less.
(check-java (.feature (Runtime/version)) (System/getProperty "java.home"))
