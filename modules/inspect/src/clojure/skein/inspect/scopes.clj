;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.scopes
  "The scopes that are open, as a tree. They are found from the blocks and waiting threads inside them: each knows its regions,
  and a region its scope. So an open scope costs nothing. But a scope is not seen if it has no blocks and none of its
  threads waits in a channel.

  * `scopes`: all of them
  * `innermost` of a block or thread"
  {:no-doc true}
  (:import
   (skein.inspect.rt ChannelNames)
   (skein.rt Cancellable Labels Region Region$Owner)))

(set! *warn-on-reflection* true)

(defn- scope-of
  "Returns the description of the owner of a region, or nil if it is not a scope."
  [^Region region]
  (some-> ^Region$Owner (.owner region) .describe))

(defn- id-of [scope]
  (ChannelNames/id (:done scope)))

(defn in-region?
  "Returns whether a scope or a timeout could cancel the block or thread of `cancellable`, which may be nil."
  [^Cancellable cancellable]
  (boolean (some (fn of-others? [^Region region] (or (.owner region) (zero? (.number region)))) ; not the region of a future
                 (some-> cancellable .regions))))

(defn innermost
  "Returns the number of the innermost scope, or nil."
  [^Cancellable cancellable]
  (some-> (some scope-of (.regions cancellable)) id-of))

(defn- around
  "Returns the scope around the one whose body is `region`, or nil."
  [^Region region]
  (some scope-of (rest (drop-while (fn inside? [r] (not (identical? r region))) (.regions (.cancellable region))))))

(defn- found
  "Returns {id scope} for all scopes that can be found from `cancellables`, also nested ones."
  [cancellables]
  (loop [todo (set cancellables), seen #{}, known {}]
    (if-some [^Cancellable c (first todo)]
      (let [new (into {} (comp (keep scope-of) (map (juxt id-of identity)) (remove (comp known first))) (.regions c))
            more (for [{:keys [region live]} (vals new), ^Region r (cons region live) :when r] (.cancellable r))]
        (recur (into (disj todo c) (remove (conj seen c)) more) (conj seen c) (into known new)))
      known)))

(defn- millis [nanos] (quot (long nanos) 1000000))

(defn- view [party-of id {:keys [^Region region live deadline-ns cancelled? reason failures] :as scope}]
  (let [outer (some-> region around)
        cancelled? (boolean cancelled?)
        label (Labels/of (:scope scope))
        party (fn party [^Region r] (if-some [p (.party (.cancellable r))] (party-of p cancelled?) {:begun? false}))
        now (System/nanoTime)]
    (cond-> {:id id :body (some-> region party) :children (into [] (keep party) (sort-by (fn number [^Region r] (.number r)) live))
             :cancelled? cancelled? :failures (count failures)}
      label (assoc :label label)
      (and outer (not= id (id-of outer))) (assoc :parent (id-of outer))
      deadline-ns (assoc :remaining-ms (max 0 (long (millis (- (long deadline-ns) now)))))
      reason (assoc :reason reason)
      (and region (.isCancelled region)) (assoc :cancelled-ms (millis (.nanosSinceCancelled region))))))

(defn scopes
  "Returns the scopes in which something of `cancellables` is, as `skein.inspect/snapshot` describes them. `party-of` makes data of
  a frame or thread, with the thread's place if its second argument is true, or returns nil for a block that has ended."
  [party-of cancellables]
  (mapv (fn shown [[id scope]] (view party-of id scope)) (sort-by key (found cancellables))))
