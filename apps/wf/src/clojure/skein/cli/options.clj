;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.options
  "Command-line options: tools.cli, with errors that are thrown.

  - `parse`                      specs and arguments -> options and the other arguments
  - `whole-number`, `several`    specs of an option; `one-of` the check of one
  - `given`                      specs and options -> names of options
  - `with-file`                  options -> options with those of a file
  - `fail!`                      throws :skein/bad-argument"
  (:require
   [clojure.string :as str]
   [clojure.tools.cli :as cli]
   [skein.impl.error :as error]
   [skein.wf.spelling :as spelling])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io IOException)))

(set! *warn-on-reflection* true)

(defn fail!
  "Throws :skein/bad-argument with `message`."
  [message]
  (error/fail! [:skein/bad-argument :usage] message {}))

(defn one-of
  "Returns the check of an option that accepts only `choices`, a seq of strings."
  [choices]
  [(set choices) (str "must be " (str/join " or " choices))])

(defn whole-number
  "Returns an option whose value is a whole number from `least` to `most`."
  [option least most]
  [nil option
   :parse-fn parse-long
   :validate [(fn within [n] (and n (<= least n most)))
              (str "must be a whole number" (when-not (neg? least) (str " from " least " to " most)))]])

(defn several
  "Returns an option that may be given several times. `update-fn` returns its value from the one so far,
  or nil, and a further one."
  [option id update-fn]
  [nil option :id id, :multi true, :update-fn update-fn])

(defn- once
  "Returns the spec of an option that is not `several` such that two different values of it are refused."
  [[_ option & {:keys [multi]} :as spec]]
  (if multi
    spec
    (conj (vec spec) :assoc-fn
          (fn put [options id value]
            (when (and (contains? options id) (not= value (options id)))
              (fail! (str (re-find #"^\S+" option) " is given twice, as " (error/preview (options id)) " and "
                          (error/preview value))))
            (assoc options id value)))))

(defn- refuse-value!
  "Throws if one of the arguments gives a value to an option that takes none. tools.cli would ignore it."
  [specs arguments]
  (let [flags (into #{} (comp (remove :required) (map :long-opt)) specs)]
    (doseq [argument (take-while (complement #{"--"}) arguments)
            :let [[option value] (str/split argument #"=" 2)]]
      (when (and value (flags option)) (fail! (str option " takes no value"))))))

(defn- explained
  "Returns an error of tools.cli, with the option that was probably meant."
  [specs error]
  (let [[_ unknown] (re-matches #"Unknown option: \"(.*)\"" error)
        near (some->> unknown (spelling/nearest (keep :long-opt specs)))]
    (str error (when near (str "; did you mean " near "?")))))

(defn parse
  "Returns `[options others]`: a map of the options found, and the other arguments, in order.

  specs      the options, as tools.cli takes them; of an option that is not `several`, two different values are refused
  arguments  seq of strings; options and others in any order, `--top 5` or `--top=5`; `--` ends the options

  A single `-` is not an option. Throws :skein/bad-argument.

      (parse [(whole-number \"--top N\" 1 99)] [\"a.log\" \"--top=5\"])
      ;=> [{:top 5} [\"a.log\"]]"
  [specs arguments]
  (let [{:keys [options errors summary] others :arguments}
        (cli/parse-opts arguments (map once specs) :summary-fn identity)]
    (refuse-value! summary arguments)
    (when errors (fail! (explained summary (first errors))))
    [options others]))

(defn given
  "Returns those of `specs` that are in `options`, each as its name, such as --top."
  [specs options]
  (for [{:keys [id long-opt short-opt]} (:summary (cli/parse-opts nil specs :summary-fn identity))
        :when (contains? options id)]
    (or long-opt short-opt)))

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
           (catch ExceptionInfo e (fail! (str place ": " (error/untold (ex-message e))))))
      arguments)))

(defn from-file
  "Returns the options in the file at `path`: one on each line, as on the command line but without quotes; a
  line may be empty or begin with #. Throws :skein/bad-argument."
  [specs path]
  (let [lines (try (str/split-lines (slurp path))
                   (catch IOException e (fail! (str path " can't be read: " (ex-message e)))))
        arguments (map-indexed (fn arguments [i line] (line-arguments specs (str path ", line " (inc (long i))) line)) lines)]
    (first (parse specs (into [] cat arguments)))))

(defn with-file
  "Returns `options`, completed by the options of the file that its :config names."
  [specs {:keys [config] :as options}]
  (if config (merge (from-file specs config) options) options))
