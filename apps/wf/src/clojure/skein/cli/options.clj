;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.options
  "Command-line options, as data.

  - `parse`                            specs and arguments -> options and the other arguments
  - `text`, `one-of`, `whole-number`   parsers for an option's value
  - `with-file`                        options -> options with those of a file
  - `fail!`                            throws :skein/bad-option"
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.spelling :as spelling])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io IOException)))

(set! *warn-on-reflection* true)

(defn fail!
  "Throws :skein/bad-option with `message`."
  [message]
  (error/fail! :skein/bad-option message {}))

(defn text
  "Returns `text` as it is: the parser of an option with any value."
  [text _option]
  text)

(defn one-of
  "Returns a parser that accepts only `choices`, a seq of strings."
  [choices]
  (fn parse-choice [text option]
    (if (some #{text} choices)
      text
      (fail! (str option " must be " (apply str (interpose " or " choices)) ", not " (error/preview text))))))

(defn whole-number
  "Returns a parser for whole numbers from `least` to `most`."
  [least most]
  (fn parse-number [text option]
    (let [n (parse-long text)]
      (if (and n (<= least n most))
        n
        (fail! (str option " must be a whole number"
                    (when-not (neg? least) (str " from " least " to " most)) ", not " (error/preview text)))))))

(defn- split-option
  "Returns `[option value-or-nil]` for an argument such as --top or --top=5."
  [^String argument]
  (let [at (.indexOf argument "=")]
    (if (and (pos? at) (.startsWith argument "--"))
      [(.substring argument 0 at) (.substring argument (inc at))]
      [argument nil])))

(defn- take-option
  "Returns `[option spec value rest]` for the option that `arguments` begin with."
  [specs [argument & more]]
  (let [[option value] (split-option argument)
        {:keys [parse] :as spec} (specs option)]
    (cond
      (nil? spec) (fail! (str "unknown option " option (when-let [known (spelling/nearest (keys specs) option)] (str "; did you mean " known "?"))))
      (and value (nil? parse)) (fail! (str option " takes no value"))
      (nil? parse) [option spec true more]
      value [option spec (parse value option) more]
      (empty? more) (fail! (str option " needs a value"))
      :else [option spec (parse (first more) option) (rest more)])))

(defn- add-option
  "Adds an option of `spec` to `options`. Throws if an option that takes one value gets two different ones."
  [options {:keys [key parse many? list?]} option value]
  (let [before (options key)]
    (assoc options key (cond
                         many? (conj (or before []) value)
                         (and list? before) (str before "," value)
                         (and before parse (not= before value))
                         (fail! (str option " is given twice, as " (error/preview before) " and " (error/preview value)))
                         :else value))))

(defn parse
  "Returns `[options others]`: a map of the options found, and the other arguments, in order.

  specs      map of option, such as \"--top\", to {:key :top, :parse (fn [text option])}; without :parse the option takes no value;
             with :many? true it may be given several times, and its values come in a vector; with :list? true their
             texts are joined with commas
  arguments  seq of strings; options and others in any order, `--top 5` or `--top=5`; `--` ends the options

  A single `-` is not an option. Throws :skein/bad-option.

      (parse {\"--top\" {:key :top, :parse (whole-number 1 99)}} [\"a.log\" \"--top=5\"])
      ;=> [{:top 5} [\"a.log\"]]"
  [specs arguments]
  (loop [options {}, others [], [^String argument & more :as arguments] (seq arguments)]
    (cond
      (nil? argument) [options others]
      (= argument "--") [options (into others more)]
      (and (.startsWith argument "-") (not= argument "-"))
      (let [[option spec value more] (take-option specs arguments)]
        (recur (add-option options spec option value) others (seq more)))
      :else (recur options (conj others argument) more))))

(defn- line-arguments
  "Returns the arguments in a line of a file of options. Throws if they are not an option."
  [specs place line]
  (when-not (re-matches #"\s*(?:#.*)?" line)
    (let [[_ option value] (re-matches #"\s*(--?[^\s=]+)(?:(?:\s*=\s*|\s+)(.*?))?\s*" line)
          arguments (cond-> [option] (not (str/blank? value)) (conj value))]
      (when-not option (fail! (str place ": expected an option, such as --top 20, not " (error/preview line))))
      (try (let [[options others] (parse specs arguments)]
             (when (seq others) (fail! (str option " takes no value")))
             (when (:config options) (fail! "--config can't be in a file of options")))
           (catch ExceptionInfo e (fail! (str place ": " (ex-message e)))))
      arguments)))

(defn from-file
  "Returns the options in the file at `path`: one on each line, as on the command line but without quotes; a line may be empty
  or begin with #. Throws :skein/bad-option."
  [specs path]
  (let [lines (try (str/split-lines (slurp path))
                   (catch IOException e (fail! (str path " can't be read: " (ex-message e)))))
        arguments (map-indexed (fn arguments [i line] (line-arguments specs (str path ", line " (inc (long i))) line)) lines)]
    (first (parse specs (into [] cat arguments)))))

(defn with-file
  "Returns `options`, completed by the options of the file that its :config names."
  [specs {:keys [config] :as options}]
  (if config (merge (from-file specs config) options) options))
