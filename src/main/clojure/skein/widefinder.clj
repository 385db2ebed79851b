;; SPDX-License-Identifier: Apache-2.0
(ns skein.widefinder
  "Counts web-server logs by the rules of Wide Finder 2, on all cores.

  - `report`  files -> tallies, as data

  A line is bytes up to a line feed, and its fields lie between single spaces; nothing is decoded. Only lines of
  the combined format (11 fields or more) count, and of those only GETs answered with 200, 304 or 404.

      (report [\"examples/access.log\"] {:top 3})

  `skein.widefinder.report` prints a report; `skein.wf` (Java) does the counting."
  (:require [skein.impl.error :as error])
  (:import (java.io File)
           (java.util List)
           (skein.wf Ranking Ranking$Entry ReadFailure ReadFailure$Kind SliceQueue Wf2 WideFinder)))

(set! *warn-on-reflection* true)

(def ^:const default-top
  "How many entries of each tally a report shows."
  10)

(def ^:private default-slice-bytes SliceQueue/DEFAULT_SLICE_BYTES)

;;;; Inputs that can't be read

(defn- failure [keyword input message]
  {:skein/error keyword, :input input, :message message})

(defn- check-input
  "Returns what is wrong with an input, or nil."
  [^String input]
  (let [file (File. input)]
    (cond
      (= input "-") nil
      (= input "") (failure :skein/file-missing input "\"\": no such file")
      (not (.exists file)) (failure :skein/file-missing input (str input ": no such file"))
      (.isDirectory file) (failure :skein/file-is-directory input
                                   (str input ": is a directory; name the files in it, as in " input "/*.log"))
      (not (.canRead file)) (failure :skein/file-unreadable input (str input ": no permission to read it")))))

(defn- read-failure [^ReadFailure e]
  (let [input (.-input e)
        position (.-position e)]
    (condp identical? (.-kind e)
      ReadFailure$Kind/TRUNCATED
      (failure :skein/file-truncated input
               (str input ": became shorter while it was read, at byte " position "; try again when nobody writes to it"))
      ReadFailure$Kind/LINE_TOO_LONG
      (failure :skein/line-too-long input
               (str input ": the line at byte " position " is longer than memory allows; is it a text file?"))
      (failure :skein/file-unreadable input (str input ": can't be read: " (some-> (.getCause e) .getMessage))))))

(defn- fail-inputs! [failures]
  (let [{:keys [message] :as worst} (first failures)]
    (error/fail! (:skein/error worst) message {:input (:input worst), :failures (vec failures)})))

;;;; Counting

(defn- total-bytes
  "Returns the size of all inputs together, or nil when one of them is a stream."
  [inputs]
  (reduce (fn add [^long total ^String input]
            (let [file (File. input)]
              (if (.isFile file) (+ total (.length file)) (reduced nil))))
          0
          inputs))

(defn- count-lines
  "Returns `[tally bytes-read]`, or a failure map when an input can't be read to its end."
  [inputs {:keys [workers slice-bytes on-start]}]
  (try
    (with-open [queue (SliceQueue. ^List inputs (int (or slice-bytes default-slice-bytes)))]
      (when on-start
        (on-start {:total-bytes (total-bytes inputs), :bytes-read (fn bytes-read [] (.inputBytes queue))}))
      [(WideFinder/run queue (int (or workers (.availableProcessors (Runtime/getRuntime))))) (.inputBytes queue)])
    (catch ReadFailure e (read-failure e))
    (catch ArithmeticException _
      (error/fail! :skein/count-overflow "The bytes add up to more than 2^63 - 1; are the sizes in the log real?" {}))))

(defn- count-readable
  "Counts the inputs, without those that fail. An input that fails half-way has been counted in part, so the others
  are counted anew. Returns `[tally bytes-read failures]`."
  [inputs failures {:keys [keep-going?] :as options}]
  (when (and (seq failures) (not keep-going?)) (fail-inputs! failures))
  (let [counted (count-lines inputs options)]
    (if (map? counted)
      (recur (filterv #(not= % (:input counted)) inputs) (conj failures counted) options)
      (conj counted failures))))

;;;; The report

(defn- entry->pair [^Ranking$Entry entry]
  [(.key entry) (.value entry)])

(defn- ranking->data [^Ranking ranking ^long top checksums?]
  (let [checksum (when checksums? (.checksum ranking))]
    (cond-> {:distinct (.distinct ranking)
             :total (.total ranking)
             :top (mapv entry->pair (.top ranking top))}
      checksum (assoc :checksum checksum))))

(defn- tally->data [^Wf2 tally top checksums?]
  (let [malformed (.malformed tally)
        ignored (.ignored tally)
        counted (.counted tally)
        data (fn data [ranking] (ranking->data ranking top checksums?))]
    {:lines (+ malformed ignored counted)
     :malformed malformed
     :ignored ignored
     :counted counted
     :url-hits (data (.urlHits tally))
     :url-bytes (data (.urlBytes tally))
     :s404s (data (.misses tally))
     :clients (data (.clients tally))
     :refs (data (.referrers tally))}))

(defn report
  "Returns the Wide Finder 2 report over `inputs`, as data:

      {:lines n, :malformed n, :ignored n, :counted n    ; lines = malformed + ignored + counted
       :bytes-read n, :elapsed-ns n, :failures []
       :url-hits  {:distinct n, :total n, :checksum text, :top [[key value] ...]}
       :url-bytes {...}, :s404s {...}, :clients {...}, :refs {...}}

  inputs   seq of paths; \"-\" is standard input. Each is split into lines on its own.
  options  :top          how many entries of each tally, default `default-top`
           :checksums?   whether tallies have a :checksum, default true; without, less is sorted
           :keep-going?  leave out inputs that fail, and list them in :failures, instead of throwing
           :workers      threads, default one per core
           :slice-bytes  bytes read at a time, default 256 KiB
           :on-start     called once or more with {:total-bytes n-or-nil, :bytes-read (fn [] n)} as reading begins

  A key's bytes are the characters U+0000 to U+00FF, so nothing is lost. Entries are in order of value, descending,
  then key, ascending. :checksum is the SHA-256 of `VALUE TAB KEY LF` over all entries in that order. Gzip files are
  not unpacked. A failure in :failures is {:skein/error keyword, :input path, :message text}.

  Throws :skein/file-missing, :skein/file-is-directory, :skein/file-unreadable, :skein/file-truncated,
  :skein/line-too-long, each with :failures, and :skein/count-overflow."
  ([inputs] (report inputs {}))
  ([inputs {:keys [top checksums?] :or {top default-top, checksums? true} :as options}]
   (let [start (System/nanoTime)
         failures (into [] (keep check-input) inputs)
         failed? (into #{} (map :input) failures)
         [tally bytes-read failures] (count-readable (into [] (remove failed?) inputs) failures options)]
     (assoc (tally->data tally top checksums?)
            :bytes-read bytes-read
            :failures failures
            :elapsed-ns (- (System/nanoTime) start)))))
