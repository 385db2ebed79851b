;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.sample-log
  "Writes web-server logs to try things on: realistic, of any size, the same for the same seed.

  - `write!`       a log, to a stream

  Most lines are in Apache's combined format, about 220 bytes long: URLs, clients and referrers by Zipf's law, times
  that advance with the hours of the day, statuses 200, 304, 404 and a few others. About one line in 250 is odd: cut short,
  empty, with CR LF, two spaces, a bad or no size, bytes that are not UTF-8, very long, and so on."
  (:require
   [skein.impl.error :as error])
  (:import
   (java.io OutputStream)
   (skein.wf SampleLog)))

(set! *warn-on-reflection* true)

(def ^:const default-seed
  "The seed of a log when none is given."
  1)

(def ^:private max-workers
  "The most workers: more would only wait for each other to write."
  4)

(defn write!
  "Writes a log to `out`, and returns how many bytes it has.

  out      java.io.OutputStream; gets about a megabyte at a time, and is neither flushed nor closed
  options  :size-bytes      whole lines are written until there are so many bytes, required
           :seed            long, default `default-seed`
           :odd?            whether odd lines are mixed in, default true
           :final-newline?  whether the last line has its line feed, default true
           :workers         threads, default one per core, at most 4

  The same seed and size give the same bytes, whatever the machine and the number of threads; a smaller log is the
  beginning of a larger one. Exceptions of `out` are thrown on."
  [^OutputStream out {:keys [size-bytes seed odd? final-newline? workers]
                      :or {seed default-seed, odd? true, final-newline? true}}]
  (let [cores (.availableProcessors (Runtime/getRuntime))]
    (.write (SampleLog. out (long seed) (long size-bytes) (boolean odd?) (boolean final-newline?))
            (int (or workers (min (long max-workers) cores))))))
