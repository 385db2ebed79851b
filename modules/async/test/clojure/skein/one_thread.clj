;; SPDX-License-Identifier: Apache-2.0
(ns skein.one-thread
  "A small simulation on the calling thread, for tests of what the runtime asks of one. Blocks and
  callbacks run in the order of a seed, on a clock that jumps to the next timer."
  (:import
   (java.util ArrayList PriorityQueue Random)
   (skein.rt Uncaught World World$Stepper)
   (skein.rt.block Hooks)
   (skein.rt.schedule Timeout)))

(set! *warn-on-reflection* true)

(defn within
  "Calls `f` with this thread in `world`."
  [^World world f]
  (let [stepper (World$Stepper. world)]
    (Hooks/simulations 1)
    (.begin stepper)
    (try
      (f stepper)
      (finally
        (.end stepper)
        (Hooks/simulations -1)))))

(defn world
  "Returns a World of functions: `ready` of a frame or callback, `now`, and `at` of a timeout."
  [{:keys [ready now at]}]
  (proxy [World] []
    (ready [work] (ready work))
    (nanoTime [] (long (now)))
    (at [timeout] (at timeout))
    (choose [n] (rand-int n))
    (random [] (double (rand)))
    (spawned [_] nil)
    (point [_ _] false)
    (withdrawn [_])
    (ended [_ _])
    (uncaught [thrown] (Uncaught/keep thrown))
    (kept [_ _])
    (start [task] (Thread/startVirtualThread task))
    (checkThreads [])
    (await [_])
    (hold [_])
    (strayed [_])))

(defn simulated
  "Calls `f`, then runs everything that it starts, in an order drawn by `seed`, until nothing is
  left or `done?` returns true. Time stands still while anything is ready. Returns the ns passed."
  ([seed f] (simulated seed f (constantly false)))
  ([seed f done?]
   (let [random (Random. seed)
         ready (ArrayList.)
         clock (long-array 1)
         later (PriorityQueue. 11 (comparator (fn [[^long d1 ^long i] [^long d2 ^long j]]
                                                (or (< d1 d2) (and (= d1 d2) (< i j))))))
         w (world {:ready #(.add ready %)
                   :now #(aget clock 0)
                   :at (fn [^Timeout t] (.add later [(.deadlineNanos t) (.size later) t]))})]
     (within w
             (fn [^World$Stepper stepper]
               (f)
               (loop []
                 (cond
                   (done?) nil
                   (pos? (.size ready))
                   (do (.step stepper (.remove ready (int (.nextInt random (.size ready)))))
                       (recur))
                   (pos? (.size later))
                   (let [[deadline _ ^Timeout t] (.poll later)]
                     (aset clock 0 (max (aget clock 0) (long deadline)))
                     (.close (.channel t))
                     (recur))))
               (aget clock 0))))))

(defmacro with-prompt-timers
  "Evaluates the body. Timeouts that it makes on this thread fire at once, before any code can wait
  for them."
  [& body]
  `(within (world {:ready (fn [work#] (Thread/startVirtualThread work#))
                   :now (fn [] (System/nanoTime))
                   :at (fn [timeout#] (.close (.channel ^Timeout timeout#)))})
           (fn [_#] ~@body)))
