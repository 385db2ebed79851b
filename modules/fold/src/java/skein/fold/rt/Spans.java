// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Range;
import java.util.List;
import skein.fold.spi.Span;

/** Spans of what gives its elements by index: arrays, ranges, lists, text. */
public final class Spans {
  private Spans() { }

  /** The elements of an array of any type, boxed as Clojure does, or null if {@code array} is none. */
  public static Span ofArray(Object array) {
    return switch (array) {
      case Object[] a -> new ArraySpan(a, a.length);
      case long[] a -> PrimitiveSpan.of(a);
      case double[] a -> PrimitiveSpan.of(a);
      case int[] a -> PrimitiveSpan.of(a);
      case float[] a -> new IndexedSpan(a.length, i -> a[i]);
      case byte[] a -> new IndexedSpan(a.length, i -> a[i]);
      case short[] a -> new IndexedSpan(a.length, i -> a[i]);
      case char[] a -> new IndexedSpan(a.length, i -> a[i]);
      case boolean[] a -> new IndexedSpan(a.length, i -> a[i]);
      default -> null;
    };
  }

  /** The longs {@code start}, {@code start + distance} and so on, {@code size} of them; the distance is not 0. */
  public static Span ofRange(long start, long distance, long size) {
    return PrimitiveSpan.range(start, distance, size);
  }

  /**
   * The longs of a range that has more of them than {@code clojure.lang.LongRange} takes; null if they are numbers of other
   * kinds, or more than a long can tell.
   */
  public static Span ofRange(Range range) {
    if (!(Stages.closedOver(range, "start") instanceof Long start)
        || !(Stages.closedOver(range, "end") instanceof Long end)
        || !(Stages.closedOver(range, "step") instanceof Long step)) {
      return null;
    }
    // Unsigned, since the two ends may be further apart than the greatest long.
    long length = step > 0 ? end - start : start - end;
    long size = Long.divideUnsigned(length - 1, Math.abs(step)) + 1;
    return size > 0 ? ofRange(start, step, size) : null;
  }

  /** The elements of a list with random access. */
  public static Span ofList(List<?> list) {
    return new IndexedSpan(list.size(), list::get);
  }

  /** The characters of {@code text}. */
  public static Span ofText(CharSequence text) {
    return new IndexedSpan(text.length(), text::charAt);
  }
}
