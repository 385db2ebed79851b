// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Bytes, eight at a time: loads and searches within a {@code byte[]} (SWAR, "SIMD within a register").
 *
 * <p>The first byte of a word is its lowest. Searches have no upper bound: whoever calls makes sure that a match exists,
 * and that {@link #PAD} readable bytes follow it.
 */
final class Words {
    /** How many bytes past a match a search or a caller's load may touch. */
    static final int PAD = 64;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /** A one in every byte: times a byte, that byte in every byte. */
    static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final long LINE_FEEDS = 0x0A * ONES;
    /** Taken from bytes: the highest bit is then set in those below 0x20 (and in some above 0x7F). */
    private static final long SPACES = 0x20 * ONES;
    private static final long LOW_LIMITS = 0x21 * ONES;

    private Words() { }

    /** The eight bytes from {@code at} on. */
    static long load(byte[] bytes, int at) {
        return (long) LONGS.get(bytes, at);
    }

    /** The {@code n} bytes from {@code at} on, 1 to 8 of them, the rest zero. */
    static long load(byte[] bytes, int at, int n) {
        return load(bytes, at) & (-1L >>> -(n << 3));
    }

    /**
     * Not zero when one of the eight bytes is a space or a control character, that is below 0x21; the lowest set bit
     * is then in the first such byte. (Bits above that one may be wrong: a borrow runs upwards.)
     */
    static long low(long word) {
        return (word - LOW_LIMITS) & ~word & HIGHS;
    }

    /**
     * Which byte the lowest set bit is in, of bits that are each the highest of their byte; not zero. A multiplication,
     * because the quick compiler, under which a command runs, knows no instruction that counts trailing zeros.
     */
    private static int first(long found) {
        return (int) (((found & -found) >>> 7) * 0x0001020304050607L >>> 56);
    }

    /** Where the first byte below 0x21 is, from {@code at} on. */
    static int indexOfLow(byte[] bytes, int at) {
        for (;; at += 8) {
            long found = low(load(bytes, at));
            if (found != 0) return at + first(found);
        }
    }

    /**
     * Where the first line feed is, from {@code at} on. Most of what it looks through is text without control characters,
     * so that is ruled out 32 bytes at a time.
     */
    static int indexOfLineFeed(byte[] bytes, int at) {
        for (;; at += 32) {
            long strange = load(bytes, at) - SPACES | load(bytes, at + 8) - SPACES
                | load(bytes, at + 16) - SPACES | load(bytes, at + 24) - SPACES;
            if ((strange & HIGHS) == 0) continue;
            for (int i = at; i < at + 32; i += 8) {
                long word = load(bytes, i) ^ LINE_FEEDS;
                long found = (word - ONES) & ~word & HIGHS;
                if (found != 0) return i + first(found);
            }
        }
    }

    /** Where the first byte of {@code pattern}, the same byte eight times, is in {@code bytes[at, end)}; -1: nowhere. */
    static int indexOf(byte[] bytes, int at, int end, long pattern) {
        for (; at < end; at += 8) {
            long word = load(bytes, at) ^ pattern;
            long found = (word - ONES) & ~word & HIGHS;
            if (found != 0) {
                at += first(found);
                return at < end ? at : -1;
            }
        }
        return -1;
    }
}
