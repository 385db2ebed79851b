// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

/**
 * How many units one thread takes at a time: as many as take as long as all before together, between {@link #FIRST_BLOCK_NANOS}
 * and {@link #BLOCK_NANOS}, at the cost measured so far. For use by one thread, except that others may look at the cost.
 *
 * <p>The first block is one unit, since its cost is unknown, and the second at most {@link #SECOND}, since the first may have been
 * cheaper than most; later ones grow at most {@link #GROWTH}-fold. Towards the
 * end blocks become smaller, so that what is left can be shared, down to {@link #MIN_BLOCK_NANOS}.
 */
final class Pace {
  /** How long a block should take when the fold is short still. */
  static final long FIRST_BLOCK_NANOS = 25_000;
  /** How long a block should take at most: much longer than it takes caches to warm up, much shorter than a person notices. */
  static final long BLOCK_NANOS = 200_000;
  /** How long a block takes at least, where there is enough left: much longer than taking it. */
  static final long MIN_BLOCK_NANOS = 5_000;
  static final int GROWTH = 128;
  static final int SECOND = 8;
  private static final int SHARE = 8;

  private final long grain;  // 0: by measurement
  private final long minBlock;
  private double nanosPerUnit;
  private long last;
  private long spent;

  Pace(long grain, long minBlock) {
    this.grain = grain;
    this.minBlock = minBlock;
  }

  /** A pace that begins with what this one has measured. */
  Pace copy() {
    Pace copy = new Pace(grain, minBlock);
    copy.nanosPerUnit = nanosPerUnit;
    copy.last = last;
    copy.spent = spent;
    return copy;
  }

  boolean fixed() {
    return grain > 0;
  }

  /** How many units to take next of {@code remaining} (1 or more) units. */
  long next(long remaining) {
    if (grain > 0) return Math.min(grain, remaining);
    if (last == 0) return Math.min(minBlock, remaining);
    double perUnit = Math.max(nanosPerUnit, 0.01);
    double nanos = Math.clamp(spent, FIRST_BLOCK_NANOS, BLOCK_NANOS);
    double byTime = Math.min(nanos / perUnit, (last == minBlock ? SECOND : GROWTH) * (double) last);
    double byShare = Math.max((double) remaining / SHARE, MIN_BLOCK_NANOS / perUnit);
    long n = Math.max(minBlock, (long) Math.min(byTime, byShare));
    // A rest that is not worth a block of its own is taken along.
    return n + minBlock >= remaining || (remaining - n) * perUnit < MIN_BLOCK_NANOS / 4.0 ? remaining : n;
  }

  /** How many units to take next while nobody helps: so few that whoever comes to help need not wait for them. */
  int nextAlone() {
    return fixed() || last == 0 ? 1 : (int) Math.clamp(MIN_BLOCK_NANOS / Math.max(nanosPerUnit, 1), 1, Integer.MAX_VALUE);
  }

  void took(long units, long nanos) {
    last = units;
    spent += nanos;
    nanosPerUnit = (double) nanos / units;
  }

  double nanosPerUnit() {
    return nanosPerUnit;
  }
}
