// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

/** The loops over elements that are not boxed. */
abstract class PrimitiveLoop {
  abstract void longs(Sink sink, long[] array, int from, int to);

  abstract void ints(Sink sink, int[] array, int from, int to);

  abstract void doubles(Sink sink, double[] array, int from, int to);

  /** The {@code n} longs {@code x}, {@code x + distance} and so on; the distance is not 0. */
  abstract void range(Sink sink, long x, long distance, long n);

  /** What there is a copy of for each kind of chain, as {@link Sink} explains. */
  static final class Template extends PrimitiveLoop {
    Template() { }

    @Override
    void longs(Sink sink, long[] array, int from, int to) {
      for (int i = from; i < to; i++) if (!sink.accept(array[i])) return;
    }

    @Override
    void ints(Sink sink, int[] array, int from, int to) {
      for (int i = from; i < to; i++) if (!sink.accept((long) array[i])) return;
    }

    @Override
    void doubles(Sink sink, double[] array, int from, int to) {
      for (int i = from; i < to; i++) if (!sink.accept(array[i])) return;
    }

    @Override
    void range(Sink sink, long x, long distance, long n) {
      for (long end = x + n * distance; x != end; x += distance) if (!sink.accept(x)) return;
    }
  }
}
