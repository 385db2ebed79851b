;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.options-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cli.options :as options]
   [skein.impl.error :as error])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)))

(set! *warn-on-reflection* true)

(def ^:private specs
  [(options/whole-number "--top N" 1 9)
   [nil "--kind KIND" :validate (options/one-of ["a" "b"])]
   ["-o" "--output FILE"]
   [nil "--all" :id :all?]])

(deftest options-and-arguments-come-in-any-order
  (is (= [{} []] (options/parse specs nil)))
  (is (= [{:top 3, :all? true, :output "x=y"} ["f" "-" "g"]]
         (options/parse specs ["f" "--top" "3" "-" "--all" "-o" "x=y" "g"])))
  (is (= [{:top 4} ["a=b"]] (options/parse specs ["--top=4" "a=b" "--top=4"])) "the same value may be given twice")
  (is (= [{:all? true} ["--top" "-x"]] (options/parse specs ["--all" "--" "--top" "-x"]))))

(defn- failure [& arguments]
  (try (options/parse specs arguments)
       (catch ExceptionInfo e
         (assert (= {:skein/error :skein/bad-argument :problem :usage} (ex-data e)))
         (error/untold (ex-message e)))))

(deftest bad-options-are-named
  (is (= "Unknown option: \"--tpo\"; did you mean --top?" (failure "--tpo=3")))
  (is (= "Unknown option: \"--ki\"; did you mean --kind?" (failure "--ki")))
  (is (= "Unknown option: \"--other\"" (failure "--other")))
  (is (= "Unknown option: \"-x\"" (failure "-x")))
  (is (= "Missing required argument for \"--top N\"" (failure "--top")))
  (is (= "--all takes no value" (failure "--all=1")))
  (is (= "--top is given twice, as 3 and 4" (failure "--top" "3" "--top=4")))
  (is (= "Failed to validate \"--top \": must be a whole number from 1 to 9" (failure "--top=")))
  (is (= "Failed to validate \"--top 10\": must be a whole number from 1 to 9" (failure "--top" "10")))
  (is (= "Failed to validate \"--kind c\": must be a or b" (failure "--kind" "c"))))

(deftest options-come-from-a-file
  (let [file (File/createTempFile "options" ".conf")
        specs (conj specs
                    [nil "--config FILE"]
                    (options/several "--by NAME" :by (fn join [before more] (if before (str before "," more) more))))
        with-file (fn [text & arguments]
                    (spit file text)
                    (try (options/with-file specs (first (options/parse specs (into ["--config" (str file)] arguments))))
                         (catch ExceptionInfo e (str/replace (error/untold (ex-message e)) (str file) "FILE"))))]
    (is (= {:top 3, :output "a b#c", :all? true, :by "x,y"}
           (dissoc (with-file "# ours\n\n--top=3\r\n  -o  a b#c \n--all\n--by x\n--by = y") :config)))
    (is (= {:top 4, :by "z"} (dissoc (with-file "--top 3\n--by x" "--top" "4" "--by" "z") :config)) "the command line replaces")
    (is (= "FILE, line 2: Unknown option: \"--tpo\"; did you mean --top?" (with-file "--all\n--tpo 3")))
    (is (= "FILE, line 1: Missing required argument for \"--top N\"" (with-file "--top")))
    (doseq [line ["--all false" "--all=false" "--all  yes"]]
      (is (= "FILE, line 2: --all takes no value" (with-file (str "--top 3\n" line)))))
    (is (= "FILE, line 1: expected an option, such as --top 20, not \"top 3\"" (with-file "top 3")))
    (is (= "FILE, line 2: --config can't be in a file of options" (with-file "--all\n--config more.conf")))
    (.delete file)
    (is (re-find #"^FILE can't be read: " (try (options/from-file specs (str file)) (catch ExceptionInfo e (str/replace (error/untold (ex-message e)) (str file) "FILE")))))))
