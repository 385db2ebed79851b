// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

/**
 * Chooses how many units one thread takes at a time. A block should take as long as all blocks before together, between {@link
 * #FIRST_BLOCK_NANOS} and {@link #BLOCK_NANOS}, at the last measured cost. One thread uses a pace; others may read the cost.
 *
 * <p>The first block is the smallest that the source allows, since the cost is unknown. The second has at most {@link #SECOND} times
 * as many units, since the first may be cheaper than most. Later blocks grow {@link #GROWTH}-fold at most. Towards the end they
 * shrink, so that the rest can be shared.
 */
final class Pace {
    /** How long a block should take at first. */
    static final long FIRST_BLOCK_NANOS = 25_000;
    /** How long a block should take at most: much longer than filling a cache, much shorter than a person notices. */
    static final long BLOCK_NANOS = 200_000;
    /** How long a block should take at least: much longer than taking it costs. */
    static final long MIN_BLOCK_NANOS = 5_000;

    static final int GROWTH = 128;
    static final int SECOND = 8;
    /** A block takes at most one in this many of the remaining units. */
    private static final int SHARE = 8;

    private final long grain; // units in a block; 0: by measurement
    private final long minBlock;
    private double nanosPerUnit;
    private long last; // units in the last block
    private long spent; // nanoseconds in all blocks

    Pace(long grain, long minBlock) {
        this.grain = grain;
        this.minBlock = minBlock;
    }

    /** Returns a pace that begins with what this one has measured. */
    Pace copy() {
        Pace copy = new Pace(grain, minBlock);
        copy.nanosPerUnit = nanosPerUnit;
        copy.last = last;
        copy.spent = spent;
        return copy;
    }

    /** Returns whether the caller of the fold has said how many units are in a block. */
    boolean isFixed() {
        return grain > 0;
    }

    /** Returns how many units to take of {@code remaining}, which is at least 1. */
    long next(long remaining) {
        if (grain > 0) return Math.min(grain, remaining);
        if (last == 0) return Math.min(minBlock, remaining);
        double perUnit = Math.max(nanosPerUnit, 0.01);
        double nanos = Math.max(FIRST_BLOCK_NANOS, Math.min(spent, BLOCK_NANOS));
        double byTime = Math.min(nanos / perUnit, (last == minBlock ? SECOND : GROWTH) * (double) last);
        double byShare = Math.max((double) remaining / SHARE, MIN_BLOCK_NANOS / perUnit);
        long n = Math.max(minBlock, (long) Math.min(byTime, byShare));
        boolean restIsSmall = n + minBlock >= remaining || (remaining - n) * perUnit < MIN_BLOCK_NANOS / 4.0;
        return restIsSmall ? remaining : n;
    }

    /** Returns how many units the caller takes at a time until its first helper starts. */
    int nextAlone() {
        return isFixed() || last == 0 ? 1 : (int) Math.max(1, MIN_BLOCK_NANOS / Math.max(nanosPerUnit, 1));
    }

    /** Records that the last block of {@code units} units has taken {@code nanos}. */
    void took(long units, long nanos) {
        last = units;
        spent += nanos;
        nanosPerUnit = (double) nanos / units;
    }

    double nanosPerUnit() {
        return nanosPerUnit;
    }
}
