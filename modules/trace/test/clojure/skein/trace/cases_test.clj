;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.cases-test
  "The tests of the cases on which tracers break: forms F1-F24 and vars V1-V20, each of which
  breaks tools.trace 0.8.0, and what is asked of traces T1-T12.
  V10, deftrace with an attribute map, is tested in modules/compat. What concerns speed is in ./skein bench trace."
  (:require
   [clojure.test :refer [deftest is]]))

(set! *warn-on-reflection* true)

(def ^:private cases
  '[[F1 "instance methods" form-test/instance-calls-are-left-alone]
    [F2 "static methods" form-test/static-calls-are-left-alone]
    [F3 "for and doseq" form-test/comprehensions-are-left-alone]
    [F4 "case" form-test/case-is-left-alone]
    [F5 "letfn" form-test/letfn-is-left-alone]
    [F6 "reify" form-test/reify-is-left-alone]
    [F7 "deftype, defrecord, proxy, import, defmulti, with-local-vars" form-test/definitions-are-left-alone]
    [F8 "set! of vars and fields" form-test/assignments-are-left-alone]
    [F9 "a macro that recurs" form-test/a-macro-may-recur]
    [F10 "a failure beside a recur" form-test/a-failure-beside-a-recur-is-named]
    [F11 "exceptions without a constructor of a string" form-test/any-exception-is-named]
    [F12 "cause, suppressed exceptions, stack trace" form-test/exceptions-stay-the-same-objects]
    [F13 "fields of an exception" form-test/exceptions-stay-the-same-objects]
    [F14 "exceptions whose constructor means something else" form-test/exceptions-stay-the-same-objects]
    [F15 "programs that look at messages" form-test/programs-that-look-at-messages-see-the-same]
    [F16 "exceptions without a stack trace" form-test/an-exception-that-is-thrown-again-and-again-is-reported-each-time]
    [F17 "monitor-enter and monitor-exit" form-test/monitors-are-left-alone]
    [F18 "duplicate keys" form-test/duplicate-keys-are-found]
    [F19 "metadata of literals" form-test/literals-keep-what-they-are]
    [F20 "record literals" form-test/literals-keep-what-they-are]
    [F21 "bodies of try, binding, with-open, def" form-test/bodies-of-special-forms-are-traced]
    [F22 "200 nested calls" form-test/the-limit-of-nesting-is-reported]
    [F23 "primitive loops" form-test/primitives-stay-primitive]
    [F24 "lazy sequences that fail later" form-test/lazy-sequences-stay-lazy-and-their-failures-are-named]

    [V1 "primitive functions" vars-test/primitive-functions-are-traced]
    [V2 "multimethods" vars-test/multimethods-stay-multimethods]
    [V3 "inline implementations of a protocol" vars-test/protocol-functions-are-traced-and-missed-calls-are-noted]
    [V4 "a protocol extended while traced" vars-test/protocol-functions-are-traced-and-missed-calls-are-noted]
    [V5 "untraced after that" vars-test/protocol-functions-are-traced-and-missed-calls-are-noted]
    [V6 "a function defined anew" vars-test/a-redefined-function-stays-traced]
    [V7 "data" vars-test/non-functions-are-refused-with-a-reason]
    [V8 "private functions" vars-test/private-functions-are-traced-by-symbol-and-by-var]
    [V8 "macros, unknown names" vars-test/non-functions-are-refused-with-a-reason]
    [V9 "a var that is not dynamic" vars-test/calls-in-a-dynamic-extent-alone-are-traced]
    [V11 "infinite sequences" vars-test/values-are-printed-within-limits-and-unchanged]
    [V12 "lazy sequences" vars-test/a-lazy-error-is-thrown-where-the-sequence-is-used]
    [V13 "values that hold themselves" vars-test/values-are-printed-within-limits-and-unchanged]
    [V14 "a function that print-method calls" vars-test/values-are-printed-within-limits-and-unchanged]
    [V15 "large values" vars-test/values-are-printed-within-limits-and-unchanged]
    [V16 "deep recursion" vars-test/recursion-goes-nearly-as-deep]
    [V17 "a throw" vars-test/a-throw-is-reported-once-for-each-call]
    [V18 "calls past the var, told of" vars-test/direct-linking-is-noted]
    [V18 "inlined calls, Clojure's own" vars-test/calls-that-bypass-the-var-are-noted]
    [V18 "what was taken from the var before" vars-test/a-wrapped-traced-function-is-reported-once-a-call]
    [V19 "the value of a returned block" vars-test/the-end-of-a-returned-block-is-reported]
    [V20 "many threads and blocks" sink-test/lines-are-whole-and-make-up-the-tree-of-each-thread-and-block]

    [T1 "forms do what they do untraced" form-property-test/whole-libraries-work-traced]
    [T2 "file, line, column, form, arguments" form-test/a-report-has-place-form-and-arguments]
    [T3 "ex-info" form-test/any-exception-is-named]
    [T4 "forms in blocks" form-test/blocks-are-traced-across-parks]
    [T5 "nesting" form-test/the-limit-of-nesting-is-reported]
    [T6 "no boxing, no reflection" form-test/primitives-stay-primitive]
    [T7 "2000 generated programs" form-property-test/tracing-changes-nothing]
    [T8 "keyword arguments" vars-test/keyword-arguments-arrive]
    [T9 "tracing outlives redefinition, untracing restores" vars-test/untracing-restores-the-original]
    [T10 "any value in bounds" vars-test/values-are-printed-within-limits-and-unchanged]
    [T11 "whole lines" sink-test/lines-are-whole-and-make-up-the-tree-of-each-thread-and-block]
    [T12 "one exit line for a throw" vars-test/a-throw-is-reported-once-for-each-call]])

(defn- test-var [sym]
  (requiring-resolve (symbol (str "skein.trace." (namespace sym)) (name sym))))

(deftest each-case-has-a-test
  (is (= (concat (map (partial str "F") (range 1 25)) (map (partial str "V") (remove #{10} (range 1 21)))
                 (map (partial str "T") (range 1 13)))
         (distinct (map (comp str first) cases))))
  (doseq [[label what sym] cases]
    (is (some-> (test-var sym) meta :test) (str label ", " what ": there is no test " sym))))
