// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.util.function.IntFunction;
import skein.fold.spi.Span;

/** Whatever gives its elements by index, at once: lists with random access, strings, other people's vectors. */
public final class IndexedSpan implements Span {
  private final int size;
  private final IntFunction<?> elementAt;

  /** @param elementAt the element at an index from 0 to {@code size} - 1 */
  public IndexedSpan(int size, IntFunction<?> elementAt) {
    this.size = size;
    this.elementAt = elementAt;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public Object reduce(IFn step, Object acc, long from, long to) {
    for (int i = (int) from; i < to; i++) {
      acc = step.invoke(acc, elementAt.apply(i));
      if (acc instanceof Reduced) return acc;
    }
    return acc;
  }
}
