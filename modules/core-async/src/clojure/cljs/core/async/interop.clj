;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.interop
  "core.async's macro for promises, on Skein.")

(set! *warn-on-reflection* true)

(defmacro <p!
  "Takes the value of the promise `exp`, in a block; a rejection is thrown in an ExceptionInfo whose
  data is {:error :promise-error} and whose cause it is."
  {:style/indent 0}
  [exp]
  `(let [v# (cljs.core.async/<! (p->c ~exp))]
     (if (rejection? v#) (throw v#) v#)))
