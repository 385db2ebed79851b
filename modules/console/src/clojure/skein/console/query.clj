;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.query
  "The filter of the page, a line such as `state:parked op:put age>5s -site:orders.clj:31 \"free text\"`.

  * `predicate` turns it into a function

  | term | chooses |
  | --- | --- |
  | state:parked | new, ready, running or parked |
  | op:put | take or put |
  | site:orders.clj:31 | a file, or a line of it |
  | ns:demo.* | namespaces; * stands for anything |
  | chan:orders | the name of a channel in which it waits |
  | parent:42 | the block that made it |
  | age>5s, since<200ms | how long ago it was made, or began to wait; ms, s, m or h |
  | >! | anything else: text in its name, place or waits |

  A block is shown if all terms hold. A minus before a term negates it."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.inspect.words :as words])
  (:import
   (java.util.regex Matcher Pattern)))

(set! *warn-on-reflection* true)

(defn- bad! [text at why]
  (error/fail! :skein/bad-argument (str "The filter can't be read at \"" (subs text at) "\": " why) {:filter text :at at}))

(defn- terms
  "Returns the terms of `text` as {:at :not? :key :value}; :key is nil for free text."
  [text]
  (let [m (re-matcher #"(-)?(?:([a-z]+)([:<>]))?(\"[^\"]*\"?|\S+)" text)]
    (loop [found []]
      (if (.find m)
        (let [[_ minus key sign value] (re-groups m)]
          (recur (conj found {:at (.start ^Matcher m) :not? (some? minus) :key (when key (str key sign)) :value (str/replace value "\"" "")})))
        found))))

(defn- milliseconds
  "Returns a time such as \"5s\" in ms, or nil."
  [value]
  (when-some [[_ n unit] (re-matches #"(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?" value)]
    (long (* (parse-double n) (double ({"ms" 1 "s" 1000 "m" 60000 "h" 3600000} unit 1000))))))

(defn- holds
  "Returns a function that returns whether a text contains `value`, in upper or lower case."
  [value]
  (let [pattern (Pattern/compile (Pattern/quote value) (bit-or Pattern/CASE_INSENSITIVE Pattern/UNICODE_CASE))]
    (fn holds? [text] (.find (.matcher pattern ^String text)))))

(defn namespace-of
  "Returns the namespace of a file, by its path.

      (namespace-of \"demo/order_book.clj\")
      ;=> \"demo.order-book\""
  [file]
  (-> (str file) (str/replace #"\.\w+$" "") (str/replace #"[/\\]" ".") (str/replace "_" "-")))

(defn- like [pattern]
  (re-pattern (str/join ".*" (map #(Pattern/quote %) (str/split pattern #"\*" -1)))))

(defn- site? [value]
  (let [[_ path line-wanted] (re-matches #"(.*?)(?::(\d+))?" value)]
    (fn site? [{:keys [file line]}]
      (and (str/ends-with? (str file) path) (or (nil? line-wanted) (= line-wanted (str line)))))))

(defn- called?
  "Returns a function that returns whether a block waits in a channel whose name contains the value."
  [{:keys [channels]} holds?]
  (fn called? [{:keys [waits]}]
    (some (fn in? [{:keys [channel foreign latch]}]
            (holds? (if channel
                      (words/channel-label (channels channel {:id channel}))
                      (str foreign latch))))
          waits)))

(defn- free
  "Returns a function that finds text in a block's name, place or waits. Places are few, and each is searched once."
  [value ix]
  (let [holds? (holds value)
        at? (memoize (fn at? [site] (holds? (str (:file site) " " (words/place site)))))
        called? (called? ix holds?)]
    (fn free? [{:keys [id site] :as block}]
      (or (at? site) (called? block) (holds? (words/who block))))))

(defn- longer [text {:keys [at key value]}]
  (let [k ({"age" :age-ms "since" :since-ms} (subs key 0 (dec (count key))))
        ms (milliseconds value)]
    (when-not k (bad! text at "only age and since can be compared."))
    (when-not ms (bad! text at "a time is a number with ms, s, m or h."))
    (if (str/ends-with? key ">")
      (fn longer? [b] (< (long ms) (long (k b 0))))
      (fn shorter? [b] (< (long (k b 0)) (long ms))))))

(defn- one-of [text {:keys [at value]} wanted]
  (or (wanted (keyword value))
      (bad! text at (str "the value must be one of " (str/join ", " (sort (map name wanted))) "."))))

(defn- at
  "Returns a function that returns whether the place of a block satisfies `of-site?`, which is called once for each place."
  [of-site?]
  (comp (memoize of-site?) :site))

(defn- matcher
  "Returns a function that returns whether a term holds for a block."
  [text ix {:keys [key value] :as term}]
  (case key
    nil (free value ix)
    "state:" (let [state (one-of text term #{:new :ready :running :parked})] (fn state? [b] (= state (:state b))))
    "op:" (let [op (one-of text term #{:take :put})] (fn op? [b] (some (comp #{op} :op) (:waits b))))
    "site:" (at (site? value))
    "ns:" (let [pattern (like value)] (at (fn in? [{:keys [file]}] (re-matches pattern (namespace-of file)))))
    "chan:" (called? ix (holds value))
    "parent:" (let [parent (str/replace value "go-" "")] (fn child? [b] (= parent (str (:parent b)))))
    (if (re-find #"[<>]$" key)
      (longer text term)
      (bad! text (:at term) "there is no such term; the terms are state, op, site, ns, chan, parent, age and since. Put quotes around a text that has a colon."))))

(defn predicate
  "Returns a function of a block that returns whether the filter `text` chooses the block. `ix` is the index of its snapshot, see
  `skein.inspect.shape/index`. Throws :skein/bad-argument."
  [text ix]
  (let [matchers (mapv (fn each [{:keys [not?] :as term}]
                         (let [f (matcher text ix term)] (if not? (complement f) f)))
                       (terms text))]
    (fn chosen? [block]
      (every? (fn holds [f] (f block)) matchers))))
