;; SPDX-License-Identifier: Apache-2.0
(ns lab.e10-debugging
  "Finds the form that failed, the calls that were made, and the clause that fired. After Eli Bendersky, 2017.

  (foo 24) and (foo nil) fail in different branches of a cond; factorial, iseven? and isodd? call each other.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e10-debugging"
  (:require
   [clojure.string :as str]
   [lab.measure :as measure]))

(set! *warn-on-reflection* true)

(def ^:private sizes {:full {:budget-ms 1000}, :quick {:budget-ms 60}, :tiny {:budget-ms 0}})

(measure/when-on "skein" (require '[skein.tools-trace :as t] '[skein.trace.verbose :as verbose]))
(measure/when-on "tools.trace-0.8.0" (require '[clojure.tools.trace :as t]))

(defn- foo [n]
  (t/trace-forms
    (cond (> n 40) (+ n 20)
          (> n 20) (- (first n) 20)
          :else 0)))

(t/deftrace factorial "n!" [n] (if (< (long n) 2) 1 (* (long n) (long (factorial (dec (long n)))))))

(declare isodd?)
(t/deftrace iseven? "Whether n is even." [n] (if (zero? (long n)) true (isodd? (dec (long n)))))
(t/deftrace isodd? "Whether n is odd." [n] (if (zero? (long n)) false (iseven? (dec (long n)))))

(defn- said-of
  "Returns the report on the failure of (foo n): the printed text, or the exception's message."
  [n]
  (let [message (volatile! nil)
        printed (with-out-str (try (foo n) (catch Exception e (vreset! message (ex-message e)))))
        said (str printed @message)]
    {:text (or (second (re-find #"\d+:\d+ (.*?) failed:" said))
               (second (re-find #"Form failed: (.*)" said))
               said)
     :example (str/trim said)}))

(defn- tree-of
  "Returns the printed call tree, a line a call and a line a return."
  [f]
  (let [lines (str/split-lines (with-out-str (f)))]
    {:text (str (count lines) " lines"), :lines (count lines)
     :example (str/join "\n" (map #(str/replace % #"^.*?(?=#\d|TRACE)" "") lines))}))

(measure/when-on "skein"
  (defn- grade [n] (verbose/condv (> n 40) :high, (> n 20) :middle, :else :low))
  (defn- speak [n] (verbose/printfv "n is %d" n))

  (defn- only-here []
    (measure/note! {:row "which clause of a cond fired"}
                   (fn [] {:text (str/trim (re-find #"condv .*" (with-out-str (verbose/with-verbose (grade 24)))))}))
    (measure/note! {:row "verbose printing, one extent"}
                   (fn [] {:text (str (pr-str (with-out-str (speak 1))) " outside, "
                                      (count (str/split-lines (with-out-str (verbose/with-verbose (speak 2) (speak 3)))))
                                      " lines inside")}))
    (let [plain (fn factorial [n] (if (< (long n) 2) 1 (* (long n) (long (factorial (dec (long n)))))))]
      (measure/measure! {:row "a call", :column "untraced", :per 6, :expected 720} #(plain 6)))))

(defn- run [_]
  (measure/note! {:row "(foo 24): the form that failed"} #(said-of 24))
  (measure/note! {:row "(foo nil): the form that failed"} #(said-of nil))
  (measure/note! {:row "call tree of (factorial 6)"} (fn [] (tree-of #(factorial 6))))
  (measure/note! {:row "call tree of (iseven? 7)"} (fn [] (tree-of #(iseven? 7))))
  (measure/when-on "skein" (only-here))
  (measure/measure! {:row "a call", :per 6, :expected 720} #(let [n (volatile! nil)]
                                                              (with-out-str (vreset! n (factorial 6)))
                                                              @n)))

(defn -main "Runs the experiment." [] (measure/main sizes run))
