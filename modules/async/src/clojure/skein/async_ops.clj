;; SPDX-License-Identifier: Apache-2.0
;; Part of skein.async: values from channel to channel, from collections, into values.
(in-ns 'skein.async)

(set! *warn-on-reflection* true)

;;;; From channel to channel

(defn pipe
  "Moves values from the channel `from` to `to`, which it closes in the end unless `close?`
  is false; stops when `to` closes. Returns `to`. As core.async's."
  ([from to] (pipe from to true))
  ([from to close?] ((Late/var `ops/pipe) from to close?)))

(defn pipeline
  "Moves values from the channel `from` to `to` through the transducer `xf`, up to `n` at a
  time; results come in the order of the values. Returns a channel that closes when it ends.

  xf          applied to each value by itself; gives any number of results
  close?      whether `to` is closed after `from`; by default true
  ex-handler  as for `chan`

  As core.async's. Differs: stops taking when `to` closes. Work is done in blocks, and goes
  on on :compute threads once a value has taken more than 1 ms.

      (<!! (into [] (let [out (chan)] (pipeline 2 out (filter odd?) (to-chan! [1 2 3])) out)))
      ;=> [1 3]"
  ([n to xf from] (pipeline n to xf from true))
  ([n to xf from close?] (pipeline n to xf from close? nil))
  ([n to xf from close? ex-handler]
   ((Late/var `pipeline/pipeline) n to xf from close? ex-handler :compute)))

(defn pipeline-blocking
  "As `pipeline`, for work that blocks: slow work goes to :mixed threads. As core.async's;
  differs as `pipeline` does."
  ([n to xf from] (pipeline-blocking n to xf from true))
  ([n to xf from close?] (pipeline-blocking n to xf from close? nil))
  ([n to xf from close? ex-handler]
   ((Late/var `pipeline/pipeline) n to xf from close? ex-handler :mixed)))

(defn pipeline-async
  "As `pipeline`, with the work started by `af`, a function of a value and a channel on
  which the results are put by and by, and which must be closed then.

  As core.async's. Differs: stops taking when `to` closes; at most `n` values are under way;
  what `af` throws goes to the uncaught-exception handler and ends that value only."
  ([n to af from] (pipeline-async n to af from true))
  ([n to af from close?]
   ((Late/var `pipeline/pipeline-async) n to af from close?)))

(defn split
  "Moves values from `ch` to one of two channels, by the predicate `p`. Returns them as
  [true-channel false-channel]; they close with `ch`.

  As core.async's. Differs: when one of the two closes, so does the other, as nothing is
  taken from `ch` any more."
  ([p ch] (split p ch nil nil))
  ([p ch t-buf-or-n f-buf-or-n] ((Late/var `ops/split) p ch t-buf-or-n f-buf-or-n)))

(defn take
  "Returns a channel that gets the first `n` values of `ch` and closes. As core.async's.
  Differs: nothing is taken any more once the channel is closed."
  ([n ch] (take n ch nil))
  ([n ch buf-or-n] ((Late/var `ops/take) n ch buf-or-n)))

(defn map
  "Returns a channel of the results of `f` on one value from each of the channels `chs`; it
  closes with the first of them.

  As core.async's. Differs: a result of nil is reported to the uncaught-exception handler
  as :skein/nil-value, and the channel closes; nothing is taken once it is closed.

      (<!! (into [] (map + [(to-chan! [1 2]) (to-chan! [10 20])])))
      ;=> [11 22]"
  ([f chs] (map f chs nil))
  ([f chs buf-or-n] ((Late/var `ops/map) f chs buf-or-n)))

(defn merge
  "Returns a channel of the values of all channels `chs`; closes when all have. As
  core.async's. Differs: nothing is taken any more once it is closed."
  ([chs] (merge chs nil))
  ([chs buf-or-n] ((Late/var `ops/merge) chs buf-or-n)))

;;;; From a collection

(defn onto-chan!
  "Puts the values of `coll` on `ch` and then closes it, unless `close?` is false. Returns a
  channel that closes when that is done, or when `ch` has been closed.

  As core.async's. Differs: nil in `coll` is reported to the uncaught-exception handler as
  :skein/nil-value and ends it, as does an exception from a lazy `coll`."
  ([ch coll] (onto-chan! ch coll true))
  ([ch coll close?] ((Late/var `ops/onto-chan!) ch coll close?)))

(defn onto-chan!!
  "As `onto-chan!`, on a thread, for a `coll` whose reading blocks long. As core.async's;
  differs as `onto-chan!` does."
  ([ch coll] (onto-chan!! ch coll true))
  ([ch coll close?] ((Late/var `ops/onto-chan!!) ch coll close?)))

(defn to-chan!
  "Returns a channel of the values of `coll`, which closes after them. As core.async's;
  differs as `onto-chan!` does.

      (<!! (into #{} (to-chan! [1 2 1])))
      ;=> #{1 2}"
  [coll]
  ((Late/var `ops/to-chan) onto-chan! coll))

(defn to-chan!!
  "As `to-chan!`, on a thread, for a `coll` whose reading blocks long. As core.async's;
  differs as `onto-chan!` does."
  [coll]
  ((Late/var `ops/to-chan) onto-chan!! coll))

;;;; Into a value

(defn reduce
  "Returns a channel of one value: the reduction of the values of `ch` by `f` from `init`.
  As core.async's.

      (<!! (reduce + 0 (to-chan! [1 2 3])))
      ;=> 6"
  [f init ch]
  ((Late/var `ops/reduce) f init ch))

(defn transduce
  "Returns a channel of one value: the reduction of the values of `ch` by `f` from `init`,
  through the transducer `xform`. As core.async's."
  [xform f init ch]
  ((Late/var `ops/transduce) xform f init ch))

(defn into
  "Returns a channel of one value: `coll` with the values of `ch` added. As core.async's."
  [coll ch]
  (reduce conj coll ch))
