// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import skein.fold.spi.Span;

/** A span whose elements are primitive numbers: boxed for a step that wants that, unboxed for one that can. */
abstract class PrimitiveSpan implements Span {
  private final long size;
  final boolean doubles;
  final boolean exact;

  /**
   * @param doubles whether the elements are doubles, else longs
   * @param exact whether they are boxed as doubles or longs, not as some narrower kind
   */
  PrimitiveSpan(long size, boolean doubles, boolean exact) {
    this.size = size;
    this.doubles = doubles;
    this.exact = exact;
  }

  @Override
  public final long size() {
    return size;
  }

  abstract Object boxed(long i);

  abstract Object unboxed(PrimitiveStep step, Object acc, long from, long to);

  @Override
  public final Object reduce(IFn step, Object acc, long from, long to) {
    PrimitiveStep primitive = step instanceof PrimitiveStep p ? p : null;
    for (long i = from; i < to; i++) {
      if (primitive != null && primitive.takes(acc)) return unboxed(primitive, acc, i, to);
      acc = step.invoke(acc, boxed(i));
      if (acc instanceof Reduced) return acc;
    }
    return acc;
  }

  static PrimitiveSpan of(long[] array) {
    return new PrimitiveSpan(array.length, false, true) {
      @Override
      Object boxed(long i) {
        return array[(int) i];
      }

      @Override
      Object unboxed(PrimitiveStep step, Object acc, long from, long to) {
        return step.longs(acc, array, (int) from, (int) to);
      }
    };
  }

  static PrimitiveSpan of(int[] array) {
    return new PrimitiveSpan(array.length, false, false) {
      @Override
      Object boxed(long i) {
        return array[(int) i];
      }

      @Override
      Object unboxed(PrimitiveStep step, Object acc, long from, long to) {
        return step.ints(acc, array, (int) from, (int) to);
      }
    };
  }

  static PrimitiveSpan of(double[] array) {
    return new PrimitiveSpan(array.length, true, true) {
      @Override
      Object boxed(long i) {
        return array[(int) i];
      }

      @Override
      Object unboxed(PrimitiveStep step, Object acc, long from, long to) {
        return step.doubles(acc, array, (int) from, (int) to);
      }
    };
  }

  /** The longs {@code start}, {@code start + distance} and so on, {@code size} of them; the distance is not 0. */
  static PrimitiveSpan range(long start, long distance, long size) {
    return new PrimitiveSpan(size, false, true) {
      @Override
      Object boxed(long i) {
        return start + i * distance;
      }

      @Override
      Object unboxed(PrimitiveStep step, Object acc, long from, long to) {
        return step.range(acc, start + from * distance, distance, to - from);
      }
    };
  }
}
