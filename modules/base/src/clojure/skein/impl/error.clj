;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.error
  "The exceptions that Skein throws when a call is wrong.

  * `fail!` throws one, `failure` makes one; `timed-out` makes one for something that took too long
  * `preview` returns a short text for a value, for a message
  * `check-java` refuses an old Java

  Every exception has data, as an ex-info has, with a keyword of the namespace `skein`
  under :skein/error. doc/errors.md says what each means and what to do."
  {:no-doc true}
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
  "Returns the name of the var or function whose source contains the function `f`."
  [f]
  (-> (internals/demunged (.getName (class f)))
      (str/replace #"(/(fn|eval\d+))?--\d+.*$" "")
      (str/replace #"/eval\d+.*$" "")))

(defn preview
  "Returns `value` as `pr-str` would print it, in at most `max-preview-chars`.

  Infinite sequences and deep or long collections are safe: only a few elements are
  realized and printed. If printing throws, the text is the value's class. The caller's
  print settings are ignored. For a function, the text is the name of the place where it
  is written. The text is one line, even for an exception, which prints as several.

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
    ;; A string is cut before it is escaped, so that a huge one is cheap.
    (let [value (if (string? value)
                  (subs value 0 (min (count value) (long max-preview-chars)))
                  value)]
      (try
        (bounded (if (fn? value) (str "#<function of " (fn-name value) ">") (str/replace (pr-str value) #"\n\s*" " ")))
        (catch Exception _
          (bounded (str "#<" (.getName (class value)) ">")))))))

(defn- caller?
  "Returns whether the frame belongs to neither Skein, Clojure nor the JDK. Skein's tests are callers."
  [^StackTraceElement frame]
  (let [place (.getClassName frame)]
    (or (str/includes? place "_test$") (not (re-find #"^(skein|clojure|java|jdk)\." place)))))

(defn- from-caller
  "Returns `e` with a stack trace that begins at the code that called Skein, so that a REPL and a script name its line. If no
  caller is on the stack, as on a thread of Skein, all frames stay."
  [^Throwable e]
  (when-some [below (seq (drop-while (complement caller?) (.getStackTrace e)))]
    (.setStackTrace e (into-array StackTraceElement below)))
  e)

(defn untold
  "Returns `message` without the keyword that `told` has added, for a program that shows it to its users."
  [message]
  (str/replace (str message) #" \[:skein/[a-z-]+\]$" ""))

(defn told
  "Returns `message` with the keyword at its end, so that a REPL and a log show what to look up.

      (told :skein/timeout \"Too late.\")
      ;=> \"Too late. [:skein/timeout]\""
  [error message]
  (str (untold message) " [" error "]"))

(defn failure
  "Returns an ex-info with `message` and `data`; see `fail!`. `cause` may be nil."
  ([error message data] (failure error message data nil))
  ([error message data cause]
   (let [[error problem] (if (vector? error) error [error])]
     (ex-info (told error message)
              (cond-> (assoc data :skein/error error) problem (assoc :problem problem))
              cause))))

(defn fail!
  "Throws an ex-info with `message` and `data`, and `error` under :skein/error.

  error    a keyword of the namespace skein, an entry of doc/errors.md, or [keyword problem]; the problem, a keyword
           too, is then in the data under :problem
  message  what happened, why it matters, what to do, in a sentence or two; the keyword is added at its end
  data     map of the offending values, as data

      (try (fail! [:skein/file :missing] \"There is no file a.log.\" {:path \"a.log\"})
           (catch clojure.lang.ExceptionInfo e [(ex-message e) (ex-data e)]))
      ;=> [\"There is no file a.log. [:skein/file]\" {:path \"a.log\", :skein/error :skein/file, :problem :missing}]"
  [error message data]
  (throw (from-caller (failure error message data))))

(defn check-java
  "Throws :skein/java-too-old if `feature`, the version of the Java in the folder `home`, is below 21."
  [feature home]
  (when (< (long feature) 21)
    (fail! :skein/java-too-old
           (str "Skein needs Java 21 or newer, but this is Java " feature " in " home
                ". Start the program with a newer Java: put its bin folder first on the PATH.")
           {:java feature})))

;; This runs before a class of Skein is loaded, because an older Java's own error would say less. So each namespace that
;; imports such a class first requires this one, often through others. After a failure, the next `require` throws the same
;; error.
(try
  (check-java (.feature (Runtime/version)) (System/getProperty "java.home"))
  (catch Exception e
    (internals/unloaded! 'skein.impl.error)
    (throw e)))

(defn timed-out
  "Returns the exception :skein/timeout of something that took longer than it may, a java.util.concurrent.TimeoutException.

  message  what took too long, and what to do
  data     map with :what, a keyword, and :ms, how long it might take

      (ex-data (timed-out \"The scope took longer than 50 ms.\" {:what :scope :ms 50}))
      ;=> {:skein/error :skein/timeout, :what :scope, :ms 50}"
  (^Throwable [message data] (timed-out message data nil))
  (^Throwable [message data cause]
   (skein.base.TimeoutException. (told :skein/timeout message) (merge {:skein/error :skein/timeout} data) cause)))
