// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import skein.fold.spi.Span;

/** The first elements of an array of objects. */
public final class ArraySpan implements Span {
  private final Object[] array;
  private final int size;

  /** @param size how many elements of {@code array}, from the first one on */
  public ArraySpan(Object[] array, int size) {
    this.array = array;
    this.size = size;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public Object reduce(IFn step, Object acc, long from, long to) {
    return reduce(step, acc, array, (int) from, (int) to);
  }

  static Object reduce(IFn step, Object acc, Object[] array, int from, int to) {
    for (int i = from; i < to; i++) {
      acc = step.invoke(acc, array[i]);
      if (acc instanceof Reduced) return acc;
    }
    return acc;
  }
}
