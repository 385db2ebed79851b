// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.PersistentVector;
import clojure.lang.Reduced;
import skein.fold.spi.Span;

/** A part of a persistent vector, leaf by leaf. */
public final class VectorSpan implements Span {
  private static final int LEAF_MASK = 31;

  private final PersistentVector vector;
  private final int start;
  private final int size;

  /** The elements of {@code vector} from {@code start} (inclusive) to {@code end} (exclusive). */
  public VectorSpan(PersistentVector vector, int start, int end) {
    this.vector = vector;
    this.start = start;
    size = end - start;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public Object reduce(IFn step, Object acc, long from, long to) {
    int end = start + (int) to;
    for (int i = start + (int) from; i < end; ) {
      Object[] leaf = vector.arrayFor(i);
      int first = i & LEAF_MASK;
      int last = Math.min(leaf.length, first + end - i);
      acc = ArraySpan.reduce(step, acc, leaf, first, last);
      if (acc instanceof Reduced) return acc;
      i += last - first;
    }
    return acc;
  }
}
