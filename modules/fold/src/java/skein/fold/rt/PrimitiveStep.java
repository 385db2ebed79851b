// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.AFn;
import clojure.lang.IFn;

/** A strand's step that can also take elements which are not boxed, a block at a time. */
final class PrimitiveStep extends AFn {
  private final IFn boxed;
  private final Sink sink;
  private final PrimitiveLoop loop;
  private final Class<?> accType;  // of an accumulator that the sink takes; null: any

  PrimitiveStep(IFn boxed, Sink sink, PrimitiveLoop loop, Class<?> accType) {
    this.boxed = boxed;
    this.sink = sink;
    this.loop = loop;
    this.accType = accType;
  }

  @Override
  public Object invoke(Object acc) {
    return boxed.invoke(acc);
  }

  @Override
  public Object invoke(Object acc, Object x) {
    return boxed.invoke(acc, x);
  }

  /** Whether {@code acc} can be held unboxed: the identity of a sum of doubles is a long, until the first is added. */
  boolean takes(Object acc) {
    return accType == null || accType.isInstance(acc);
  }

  Object longs(Object acc, long[] array, int from, int to) {
    sink.set(acc);
    loop.longs(sink, array, from, to);
    return sink.get();
  }

  Object ints(Object acc, int[] array, int from, int to) {
    sink.set(acc);
    loop.ints(sink, array, from, to);
    return sink.get();
  }

  Object doubles(Object acc, double[] array, int from, int to) {
    sink.set(acc);
    loop.doubles(sink, array, from, to);
    return sink.get();
  }

  Object range(Object acc, long x, long distance, long n) {
    sink.set(acc);
    loop.range(sink, x, distance, n);
    return sink.get();
  }
}
