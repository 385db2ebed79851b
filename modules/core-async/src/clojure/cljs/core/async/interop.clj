;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.interop
  "core.async's macro for promises, on Skein.")

(set! *warn-on-reflection* true)

(defmacro <p!
  "Takes the value of the promise `exp`, in a block. If the promise is rejected, throws an
  ExceptionInfo with the data {:error :promise-error} and the rejection as its cause."
  {:style/indent 0}
  [exp]
  `(let [v# (cljs.core.async/<! (p->c ~exp))]
     (if (rejection? v#) (throw v#) v#)))
