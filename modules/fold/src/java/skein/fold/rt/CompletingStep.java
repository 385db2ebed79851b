// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.AFn;
import clojure.lang.IFn;

/** A step of two arguments, given the arity of one that transducers call in the end. */
final class CompletingStep extends AFn {
  final IFn step;

  CompletingStep(IFn step) {
    this.step = step;
  }

  @Override
  public Object invoke(Object acc) {
    return acc;
  }

  @Override
  public Object invoke(Object acc, Object x) {
    return step.invoke(acc, x);
  }
}
