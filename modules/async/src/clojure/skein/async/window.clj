;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.window
  "A sliding window of blocking calls between two channels: `wmap`. skein.virtual has a `wmap`
  for collections.

      (let [to (a/chan)]
        (wmap 2 inc (a/to-chan! [1 2 3]) to)
        (a/<!! (a/into [] to)))
      ;=> [2 3 4]

  Unlike skein.async's `pipeline` and skein.async.parallel's `parallel-map` it starts further
  calls while it waits for a slow one, and interrupts calls whose results nobody will take.
  doc/in-parallel.md compares them."
  (:require
   [skein.async :as a]
   [skein.impl.check :as check]
   [skein.impl.port :as port]
   [skein.impl.protocols :as impl]
   [skein.impl.threads :as threads])
  (:import
   (java.util Iterator)
   (skein.rt.block Failures)
   (skein.rt.scope Window)))

(set! *warn-on-reflection* true)

(Failures/addMachinery "skein.async.window$") ; its frames are left out of stack traces

(def ^:private defaults {:ordered? true :on-error :throw :close? true})

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:n [any? "a whole number"]
   :ordered? [boolean? "true or false"]
   :close? [boolean? "true or false"]
   :on-error [#{:throw :collect} ":throw or :collect"]})

(defn- values-of
  "Returns an Iterator of the values taken from `from`. Any thread may use it, one at a time."
  ^Iterator [from]
  (let [taken (volatile! nil)]
    (reify Iterator
      (hasNext [_]
        (when (nil? (vreset! taken (a/<!! from)))
          (when-some [cause (impl/failure from)] (throw cause)))
        (some? @taken))
      (next [_] @taken))))

(defn- collecting [f]
  (fn collected [x] (try {:value (f x)} (catch Throwable t {:error t}))))

(defn- transfer
  "Puts the results of the window on `to` until either ends. Returns how many were put."
  [^Window window to]
  (loop [n 0]
    (let [x (.read window)]
      (cond
        (identical? Window/END x) n
        (nil? x) (recur n)
        (a/>!! to x) (recur (inc n))
        :else n))))

(defn- carry
  "Moves all results to `to`. Returns {:count n} or {:error throwable}."
  [^Window window to]
  (try
    {:count (transfer window to)}
    (catch Throwable t {:error t})
    (finally (.cancel window))))

(defn- closing
  "Closes `to`. Returns `outcome`, or {:error throwable} if `to` is a foreign port that throws."
  [to outcome]
  (try
    (a/close! to)
    outcome
    (catch Throwable t {:error t})))

(defn wmap
  "Takes values from the channel `from`, calls `f` with each, and puts the results on the channel
  `to`. `f` is called on virtual threads and may block. At most `n` calls run at once, and exactly
  `n` while values are available and results are taken. Returns a port of the number of results
  that were put. If an exception ended the window early, `<?` and `<??` throw it there.

  - n  a number from 1 to 2147483647, or a map of options:
    - :n         the number
    - :ordered?  true, the default: results come in the order of their values; false: in the order
                 in which calls end
    - :on-error  :throw, the default: the first exception ends all calls, as in skein.virtual's
                 `wmap`; :collect: each result is {:value x} or {:error exception}
    - :close?    true, the default: `to` is closed at the end, with the exception if there was
                 one

  A nil result is left out. If `from` was closed with a cause, the window ends with that cause
  after the results. If `to` is closed, the next put fails; then no value is taken, and calls
  are interrupted. At most n values are taken and not yet put, or 4n while the window waits for
  a slow call. A virtual thread waits for the next value until `from` closes, even if no other
  code has `from`. Throws :skein/bad-number, :skein/not-a-function, :skein/not-a-port,
  :skein/bad-option.

      (let [to (a/chan 3)
            n (wmap {:n 2 :on-error :collect} (fn [x] (/ 6 x)) (a/to-chan! [1 0 3]) to)]
        [(a/<?? n) (:value (a/<!! to)) (ex-message (:error (a/<!! to)))])
      ;=> [3 6 \"Divide by zero\"]"
  [n-or-options f from to]
  (let [{:keys [n ordered? on-error close?]} (merge defaults (check/leading "wmap" :n n-or-options known))
        n (check/whole "n of wmap" n 1 Integer/MAX_VALUE)
        _ (check/function "f of wmap" f)
        _ (port/source "from of wmap" from)
        _ (port/target "to of wmap" to)
        window (Window. (if (= :collect on-error) (collecting f) f) (values-of from)
                        (int n) (int (min Integer/MAX_VALUE (* 4 (long n)))) (boolean ordered?))
        caller (Throwable.)
        done (a/promise-chan)
        port (a/async (let [outcome (a/<! done)]
                        (if-some [error (:error outcome)]
                          (throw error)
                          (:count outcome))))]
    ;; `port` and `to` share an exception: it is not reported if code takes it from either of them.
    (when close? (port/failing port to))
    (threads/exec (bound-fn run []
                    (let [{:keys [error] :as outcome} (carry window to)]
                      (when error (Failures/begunBy error caller))
                      (a/>!! done (if (and close? (not error)) (closing to outcome) outcome))))
                  (fn unbegun [_]) ; the scope ends the block of the port too
                  :io)
    port))
