;; SPDX-License-Identifier: Apache-2.0
(ns skein.reload-test
  "Objects from before Skein is loaded again continue to work, as after `:reload-all` at a REPL."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.fresh-jvm :as fresh-jvm]))

(set! *warn-on-reflection* true)

(def ^:private program
  '(do
     (require '[skein.async :as a] '[skein.scope :as s] '[skein.async.channels :as channels])
     (let [source (a/chan) m (a/mult source), topics (a/chan) p (a/pub topics :topic)
           out (a/chan 10) mix (a/mix out), slow (a/chan 1) gate (channels/gate :drop slow)
           forks (promise) stuck (promise)
           opened (future (s/scope [sc]
                            (deliver forks (fn [f] (s/fork sc (f))))
                            @stuck))
           cancelled (promise)
           long-lived (future (s/scope [sc]
                                (let [child (s/fork sc @(promise))]
                                  (deliver cancelled sc)
                                  (try @child (catch Throwable _ :cancelled)))))]
       @forks @cancelled
       (require 'skein.scope 'skein.async 'skein.async.channels :reload-all)
       (let [tap (a/tap m (a/chan 1)) sub (a/sub p :a (a/chan 1)) in (a/chan 1)]
         (a/admix mix in)
         (a/>!! in :mixed)
         (a/>!! source :tapped)
         (a/>!! topics {:topic :a})
         (println (pr-str [(a/<!! tap) (a/<!! sub) (a/<!! out) (a/>!! gate :through) (a/<!! slow)
                           @(@forks (fn [] :forked))
                           (do (deliver stuck :body) @opened)
                           (do (s/cancel! @cancelled) @long-lived)
                           (a/<!! (a/go (s/scope [sc] @(s/fork sc :new))))])))
       (System/exit 0))))

(deftest objects-from-before-a-reload-work
  (is (= [:tapped {:topic :a} :mixed true :through :forked :body :cancelled :new]
         (read-string (fresh-jvm/output ["-Xmx400m"] ["-e" (pr-str program)])))))
