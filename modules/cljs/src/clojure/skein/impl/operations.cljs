;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.operations
  "Operations on channels, for skein.async, where they are documented, and for the blocks behind
  it. In a block the compiler replaces calls of `<!`, `>!` and `alts!`."
  {:no-doc true}
  (:require-macros
   [skein.impl.cljs.error :refer [fail!]])
  (:require
   [skein.impl.error :as error]
   [skein.rt.alts :as alts]
   [skein.rt.buffers :as buffers]
   [skein.rt.callback :as callback]
   [skein.rt.channel :as channel :refer [Channel]]
   [skein.rt.frame] ; compiled blocks call it
   [skein.rt.port :as port]
   [skein.rt.ring :as ring]
   [skein.rt.scheduler :as scheduler]
   [skein.rt.transduced :as transduced]))

(defn buffer [n]
  (assert (and (number? n) (pos? n)) "fixed buffers must have size > 0")
  (buffers/fixed n))

(defn dropping-buffer [n] (buffers/Dropping. (ring/ring n)))
(defn sliding-buffer [n] (buffers/Sliding. (ring/ring n)))

(defn- buffer-of [buf-or-n]
  (cond
    (or (nil? buf-or-n) (identical? 0 buf-or-n)) nil
    (number? buf-or-n) (buffer buf-or-n)
    :else (or (buffers/own buf-or-n)
              (fail! :skein/bad-argument
                (str "buf-or-n of chan must be a number, a buffer or nil, but is "
                     (error/preview buf-or-n) ".")
                {:value (error/preview buf-or-n)}))))

(defn chan
  ([] (channel/channel nil))
  ([buf-or-n] (channel/channel (buffer-of buf-or-n)))
  ([buf-or-n xform ex-handler]
   (let [b (buffer-of buf-or-n)]
     (when xform (assert b "buffer must be supplied when transducer is"))
     (channel/channel (if (and (some? b) (or xform ex-handler))
                        (transduced/transduced b xform ex-handler)
                        b)))))

(defn promise-chan [xform ex-handler]
  (chan (buffers/Promise. nil) xform ex-handler))

(defn close! [port]
  (.close (port/source port))
  nil)

(defn closed? [port]
  (boolean (.isClosed (port/source port))))

(defn cause [port]
  (.failure (port/source port)))

(defn close-with! [port cause]
  (when-not (instance? Channel port)
    (fail! :skein/bad-argument
      (str "port of close-with! must be a channel of Skein's, which keeps a cause, but is " (error/preview port) ".")
      {:value (error/preview port)}))
  (if ^boolean (.isClosed port)
    false
    (do (set! (.-thrown port) cause)
        (.close port)
        true)))

(defn within [limit default [value chosen]]
  (if (identical? chosen limit)
    default
    (do (.close limit) value)))

(defn take! [port f on-caller?]
  (let [w (callback/callback f)
        p (port/source port)]
    (if ^boolean (.takeNow p w)
      (if on-caller? (f (.-v w)) (scheduler/submit w))
      (.takeLater p w))
    nil))

(defn put! [port value f on-caller?]
  (let [w (callback/callback f)
        p (port/target port)]
    (if ^boolean (.putNow p w value)
      (let [accepted (.-v w)]
        (when (some? f)
          (if on-caller? (f accepted) (scheduler/submit w)))
        accepted)
      (do (.putLater p w value)
          true))))

(defn offer! [port value]
  (when ^boolean (.putNow (port/target port) callback/scratch value)
    (.-v callback/scratch)))

(defn poll! [port]
  (when ^boolean (.takeNow (port/source port) callback/scratch)
    (let [v (.-v callback/scratch)]
      (set! (.-v callback/scratch) nil)
      v)))

(defn do-alts [f ports opts]
  (let [w (callback/callback f)]
    (when ^boolean (alts/alts w ports opts)
      (volatile! (.-v w)))))

;;;; Outside of blocks

(defn no-block! [operation]
  (throw (js/Error. (str "Assert failed: " operation " used not in (go ...) block"))))

(defn <! [_port] (no-block! "<!"))
(defn <? [_port] (no-block! "<?"))
(defn <!within [_port _ms _default] (no-block! "<!within"))
(defn >! [_port _value] (no-block! ">!"))
(defn alts! [_ports & _opts] (no-block! "alts!"))

(defn no-state-machine! [_state _cont-block _ports _opts]
  (fail! :skein/bad-argument
    (str "ioc-alts! is a step of core.async's compiler. Skein's blocks are generators: there is no"
         " state machine to continue with. Use alts! in a block, or do-alts with a callback.")
    {}))
