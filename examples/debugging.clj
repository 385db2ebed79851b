;; SPDX-License-Identifier: Apache-2.0
;; ./skein clojure examples/debugging.clj
(ns examples.debugging
  "A debugging session: which form failed, and on what values; who called whom; which clause of a cond
  fired; who waited for a go block that failed. The output is at the end of the file.

  Source: Eli Bendersky, Notes on debugging Clojure code, 2017, which does the first four with
  tools.trace and macros of its own."
  (:require
   [skein.async :refer [<! <!! go timeout]]
   [skein.errors :as errors]
   [skein.trace :as trace :refer [trace-forms with-traced]]
   [skein.trace.verbose :refer [condv printfv with-verbose]]))

(set! *warn-on-reflection* true)

(defn foo [n]
  (trace-forms {:args? true}
    (condv (> n 40) (+ n 20)
           (> n 20) (- (first n) 20)
           :else 0)))

(defn factorial [n] (if (< n 2) 1 (* n (factorial (dec n)))))

(declare isodd?)
(defn iseven? [n] (if (zero? n) true (isodd? (dec n))))
(defn isodd? [n] (if (zero? n) false (iseven? (dec n))))

(defn parse [s] (Long/parseLong s))
(defn fetch [s] (go (<! (timeout 10)) (parse s)))
(defn handle [s] (go (inc (<! (fetch s)))))

(defn- step [title f]
  (println (str "\n" title))
  (try (println (f)) (catch Exception e (println "threw" (.getSimpleName (class e))))))

(step "Which form fails?" #(foo 24))
(step "And with nil?" #(foo nil))
(step "Who calls whom?" #(with-traced [factorial] (factorial 6)))
(step "As data" #(with-traced {:sink :ring} [iseven? isodd?] (isodd? 7)))
(trace/print-tree)
(step "Which clause fired?" #(with-verbose (printfv "foo of %d" 50) (foo 50)))
(step "Quiet again" #(foo 50))

;; *e knows nothing of a go block that fails, and its taker gets nil. pst shows what was thrown, and who waited.
(Thread/setDefaultUncaughtExceptionHandler (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ _])))
(step "What became of the block?" #(<!! (handle "x1")))
(binding [*err* *out*]
  (errors/pst)
  (errors/pst (:error (first (take-last 2 (errors/exceptions))))))

;;;; Output
;; Which form fails?
;; 14:03:22.118 main       debugging.clj:20:24 (first n) failed: IllegalArgumentException Don't know how to create ISeq from: java.lang.Long   args [24]   in (- (first n) 20)
;; threw IllegalArgumentException
;;
;; And with nil?
;; 14:03:22.118 main       debugging.clj:19:12 (> n 40) failed: NullPointerException Cannot invoke "Object.getClass()" because "x" is null   args [nil 40]   in (condv (> n 40) (+ n 20) (> n 20) (- (first n) 20) :else 0)
;; threw NullPointerException
;;
;; Who calls whom?
;; 14:03:22.118 main       #1  (examples.debugging/factorial 6)
;; 14:03:22.118 main       #2  │ (examples.debugging/factorial 5)
;; 14:03:22.118 main       #3  │ │ (examples.debugging/factorial 4)
;; 14:03:22.118 main       #4  │ │ │ (examples.debugging/factorial 3)
;; 14:03:22.118 main       #5  │ │ │ │ (examples.debugging/factorial 2)
;; 14:03:22.118 main       #6  │ │ │ │ │ (examples.debugging/factorial 1)
;; 14:03:22.118 main       #6  │ │ │ │ │ => 1   69.4µs
;; 14:03:22.118 main       #5  │ │ │ │ => 2   30.2ms
;; 14:03:22.118 main       #4  │ │ │ => 6   30.5ms
;; 14:03:22.118 main       #3  │ │ => 24   30.6ms
;; 14:03:22.118 main       #2  │ => 120   30.8ms
;; 14:03:22.118 main       #1  => 720   32.2ms
;; 720
;;
;; As data
;; true
;; (examples.debugging/isodd? 7) => true   26.3ms
;; │ (examples.debugging/iseven? 6) => true   229.3µs
;; │ │ (examples.debugging/isodd? 5) => true   112.6µs
;; │ │ │ (examples.debugging/iseven? 4) => true   92.8µs
;; │ │ │ │ (examples.debugging/isodd? 3) => true   76.1µs
;; │ │ │ │ │ (examples.debugging/iseven? 2) => true   60.9µs
;; │ │ │ │ │ │ (examples.debugging/isodd? 1) => true   46.3µs
;; │ │ │ │ │ │ │ (examples.debugging/iseven? 0) => true   20.9µs
;;
;; Which clause fired?
;; debugging.clj:42 foo of 50
;; debugging.clj:19 condv (> n 40) fired => 70
;; 70
;;
;; Quiet again
;; 70
;;
;; What became of the block?
;; nil
;; NullPointerException Cannot invoke "Object.getClass()" because "x" is null
;; 	after nil from a block that failed: NumberFormatException For input string: "x1" (debugging.clj:29)
;; 	clojure.lang.Numbers/ops (Numbers.java:1099)
;; 	clojure.lang.Numbers/inc (Numbers.java:139)
;; 	examples.debugging/handle (debugging.clj:31)
;; 	awaited by examples.debugging/eval3930 (debugging.clj:47)
;; 	           examples.debugging/step (debugging.clj:35)
;; 	           examples.debugging/step (debugging.clj:33)
;; 	           examples.debugging/eval3930 (debugging.clj:47)
;; NumberFormatException For input string: "x1"
;; 	java.lang.NumberFormatException/forInputString (NumberFormatException.java:67)
;; 	java.lang.Long/parseLong (Long.java:594)
;; 	java.lang.Long/parseLong (Long.java:698)
;; 	examples.debugging/parse (debugging.clj:29)
;; 	examples.debugging/fetch (debugging.clj:30)
;; 	awaited by examples.debugging/handle (debugging.clj:31)  (<! (fetch s))
;; 	awaited by examples.debugging/eval3930 (debugging.clj:47)
;; 	           examples.debugging/step (debugging.clj:35)
;; 	           examples.debugging/step (debugging.clj:33)
;; 	           examples.debugging/eval3930 (debugging.clj:47)
