;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-compiler-test
  "The messages and the output of the compiler of blocks. Tests in JavaScript check what the blocks do."
  (:require
   [cljs.analyzer :as ana]
   [cljs.analyzer.api :as analyzer]
   [cljs.compiler.api :as compiler]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.kind :refer [kind-of]]))

(set! *warn-on-reflection* true)

(defn- analyzed
  "Returns `state`, a state of the analyzer, after it has analyzed `namespaces`."
  [state & namespaces]
  (analyzer/with-state state
    (doseq [n namespaces]
      (analyzer/analyze-file (str (str/replace (str/replace (name n) "." "/") "-" "_") ".cljs"))))
  state)

(def ^:private state (delay (analyzed (analyzer/empty-state) 'cljs.core 'skein.async)))

(def ^:private place
  "A namespace that uses skein.async, as text."
  (str "(ns a.place (:require-macros [skein.cljs-compiler-test :refer [changing]])"
       " (:require [skein.async :as a :refer [<! >! alts! chan go]]))\n"))

(defn- emitted
  "Returns the JavaScript of the namespace `place` with `text` in it."
  [text]
  (analyzer/with-state @state
    (swap! @state update ::ana/namespaces dissoc 'a.place)
    (binding [ana/*cljs-ns* 'cljs.user
              ana/*cljs-file* "a/place.cljs"]
      (str/join (for [form (doall (ana/forms-seq* (java.io.StringReader. (str place text)) "a/place.cljs"))]
                  (compiler/emit (ana/analyze (analyzer/empty-env) form)))))))

(defn- error-of
  "Returns the message and data of the exception that stops the compiler at `text`."
  [text]
  (try
    (emitted text)
    nil
    (catch Exception e
      (let [cause (last (take-while some? (iterate ex-cause e)))]
        (assoc (ex-data cause) :message (ex-message cause))))))

;;;; Errors

(deftest a-park-in-a-function-is-refused-with-its-place-and-a-remedy
  (let [{:keys [line message] :as refused} (error-of "(def x\n  (go (map (fn [c]\n (<! c)) [])))")]
    (is (= [:skein/bad-block :park-in-function] (kind-of refused)))
    (is (= 4 line))
    (is (str/includes? message "(<! c)"))
    (is (str/includes? message "doseq")))
  (is (= [:skein/bad-block :park-in-function] (kind-of (error-of "(go (for [c []] (<! c)))"))))
  (is (= [:skein/bad-block :park-in-function] (kind-of (error-of "(go (reify Object (toString [_] (<! 1))))")))))

(deftest a-block-in-a-function-in-a-block-may-park
  (is (nil? (error-of "(go (mapv (fn [c] (go (<! c))) []))"))))

(deftest a-wrong-number-of-arguments-is-refused
  (doseq [text ["(go (<!))" "(go (<! 1 2))" "(go (>! 1))" "(go (alts!))"]]
    (is (= [:skein/bad-block :bad-arity] (kind-of (error-of text))) text))
  (is (str/includes? (:message (error-of "(go (>! 1))")) "the number of arguments is 1, but >! takes 2.")))

(deftest a-local-shadows-an-operation
  (is (nil? (error-of "(defn f [<!] (go (<! 1 2 3)))")))
  (is (not (str/includes? (emitted "(defn f [<!] (go (<! 1)))") "yield"))))

;;;; What is emitted

(defn- site [text]
  (re-find #"skein\$[a-z0-9]+" (emitted text)))

(deftest builds-are-the-same
  (let [text "(defn f [c d] (go (loop [n 0] (if-let [x (<! c)] (do (>! d [x n]) (recur (inc n))) n))))"]
    (is (= (site text) (site text)))
    (is (not= (site text) (site (str/replace text "inc n" "+ n 2")))
        "code that differs has another site")))

(def ^:dynamic *value* 1)

(defmacro changing [] *value*)

(deftest a-block-that-uses-what-has-changed-has-another-site
  (let [block "(go (g (<! (chan))))"]
    (doseq [[before after] [["(def ^:const g 1)" "(def ^:const g 2)"] ; in the code of the block
                            ["(defn g [x] x)" "(def g {})"]           ; called in another way
                            ["(defn g [x] x)" "(defn g [x & more] x)"]
                            ["(defn g [x] x)" "(defn ^boolean g [x] x)"]]]
      (is (not= (site (str before block)) (site (str after block))) after)
      (is (= (site (str after block)) (site (str after block))) after)))
  (let [block "(go (go (g (<! (chan)))))"] ; what the block inside uses, the outer one depends on
    (is (not= (site (str "(def ^:const g 1)" block)) (site (str "(def ^:const g 2)" block))))
    (is (not= (site "(go (go (inc 1)))") (site "(go (go (inc 2)))"))))
  (let [block "(go (<! (chan)) (map (fn [x] (changing)) []))"]
    (is (not= (site block) (binding [*value* 2] (site block))))))

(deftest the-compiler-loads-without-warnings
  (let [warnings (java.io.StringWriter.)]
    (binding [*err* warnings *warn-on-reflection* true]
      (run! (fn [n] (load-file (str "modules/cljs/src/clojure/skein/impl/" n ".clj")))
            ["cljs/ops" "cljs/expand" "cljs/lift" "cljs/emit" "cljs"]))
    (is (= "" (str warnings)))))

;;;; The same names as core.async

(def ^:private theirs (delay (analyzed @state 'cljs.core.async))) ; with ours: cljs.core takes long

(defn- public
  "Returns {name arglists} of the public names of `namespace`, without types and their constructors."
  [state namespace]
  (into {}
        (for [[sym {:keys [private type arglists]}] (get-in @state [::ana/namespaces namespace :defs])
              :when (not (or private type (str/starts-with? (name sym) "->")))]
          [sym (if (= 'quote (first arglists)) (second arglists) arglists)])))

(defn- arities [arglists]
  (set (map (fn [args] (mapv (fn [arg] (if (= '& arg) '& '_)) args)) arglists)))

(def ^:private bridge-only
  "What only the bridge has, or skein.async.spi: what is deprecated, the protocols of hubs, and what state machines call."
  '#{onto-chan to-chan map< map> filter< filter> remove< remove> mapcat< mapcat> unique partition partition-by
     Mux muxch* Mult tap* untap* untap-all* Mix admix* unmix* unmix-all* toggle* solo-mode* Pub sub* unsub* unsub-all*
     ioc-alts! do-alts fn-handler unblocking-buffer?})

(deftest names-that-core-async-has-too-have-its-arguments
  (let [theirs (public @theirs 'cljs.core.async)
        ours (public @state 'skein.async)]
    (is (<= 70 (count theirs)))
    (is (= [] (remove (fn [sym] (or (contains? ours sym) (bridge-only sym))) (keys theirs))))
    (doseq [[sym arglists] theirs :when (not (bridge-only sym))]
      (is (= (arities arglists) (arities (ours sym))) sym))))

(deftest the-macros-and-their-arguments-are-those-of-core-async
  @theirs ; loads them
  (let [macros (into {} (filter (comp :macro meta val)) (ns-publics 'cljs.core.async))]
    (is (= '#{alt! go go-loop} (set (keys macros))))
    (doseq [[sym v] macros]
      (is (= (:arglists (meta v)) (:arglists (meta (ns-resolve 'skein.async sym)))) sym))))
