// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * Numbers from 0 on, rounded to buckets that are at most 1/64 of their numbers wide, for percentiles. A bucket stands for its
 * middle, so a percentile is off by less than 0.8 %; numbers below 128 are exact.
 *
 * <p>Source: the buckets of HdrHistogram (G. Tene), with 7 significant bits.
 */
final class Buckets {
    /** Buckets are less than this. */
    static final int COUNT = 1 << 12;

    private static final int BITS = 7;

    private Buckets() {}

    /** Returns the bucket of a number. */
    static int of(long number) {
        int shift = Math.max(0, 64 - BITS - Long.numberOfLeadingZeros(number));
        return (shift << BITS - 1) + (int) (number >>> shift);
    }

    /** Returns the number in the middle of a bucket. */
    static long middle(int bucket) {
        if (bucket < 1 << BITS) return bucket;
        int shift = (bucket >>> BITS - 1) - 1;
        long least = (long) (bucket - (shift << BITS - 1)) << shift;
        return least + ((1L << shift) >>> 1);
    }
}
