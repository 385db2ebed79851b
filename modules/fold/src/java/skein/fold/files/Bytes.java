// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Loads and searches within a {@code byte[]}, eight bytes at a time (SWAR, "SIMD within a register").
 *
 * <p>The first byte of a word is its lowest. {@link #PAD} bytes that can be read must follow the bytes that are searched. A search
 * without an end also needs a match: the caller puts one after the last byte if necessary.
 *
 * <p>Source: Warren, Hacker's Delight, section 6-1, for the test for a zero byte.
 */
public final class Bytes {
    /** How many bytes past a match or an end a search or a caller's load may touch. */
    public static final int PAD = 64;

    /** A one in every byte. Multiplied by a byte, it has that byte in every byte. */
    public static final long ONES = 0x0101010101010101L;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long HIGHS = 0x8080808080808080L;
    private static final long LINE_FEEDS = '\n' * ONES;
    private static final long CARRIAGE_RETURNS = '\r' * ONES;
    /** Subtracting it from a word sets the highest bit of the bytes below 0x20, and of some above 0x7F. */
    private static final long SPACES = 0x20 * ONES;

    private static final long LOW_LIMITS = 0x21 * ONES;

    private Bytes() {}

    /** Returns the eight bytes from {@code at} on. */
    public static long load(byte[] bytes, int at) {
        return (long) LONGS.get(bytes, at);
    }

    /** Returns the {@code n} bytes from {@code at} on, 1 to 8 of them; the other bytes of the word are zero. */
    public static long load(byte[] bytes, int at, int n) {
        return load(bytes, at) & (-1L >>> -(n << 3));
    }

    /**
     * Returns a word that is not zero when one of the eight bytes is a space or a control character (below 0x21). Its
     * lowest set bit is in the first such byte. Bits above that one may be wrong: a borrow runs upwards.
     */
    public static long low(long word) {
        return (word - LOW_LIMITS) & ~word & HIGHS;
    }

    /** Like {@link #low}, for bytes that are zero. */
    public static long zeros(long word) {
        return (word - ONES) & ~word & HIGHS;
    }

    /**
     * Returns the index of the byte with the lowest set bit. Only the highest bits of bytes may be set, and at least one. It multiplies
     * because the first tier of the JIT compiler, under which a short command runs, does not use the instruction for trailing zeros.
     */
    private static int first(long found) {
        return (int) (((found & -found) >>> 7) * 0x0001020304050607L >>> 56);
    }

    /** Returns where the first byte below 0x21 is, from {@code at} on. */
    public static int indexOfLow(byte[] bytes, int at) {
        for (; ; at += 8) {
            long found = low(load(bytes, at));
            if (found != 0) return at + first(found);
        }
    }

    /**
     * Returns where the first line feed is, from {@code at} on. Most bytes are text without control characters, so it skips 32 bytes at
     * a time that have none.
     */
    public static int indexOfLineFeed(byte[] bytes, int at) {
        for (; ; at += 32) {
            long strange = load(bytes, at) - SPACES
                    | load(bytes, at + 8) - SPACES
                    | load(bytes, at + 16) - SPACES
                    | load(bytes, at + 24) - SPACES;
            if ((strange & HIGHS) == 0) continue;
            for (int i = at; i < at + 32; i += 8) {
                long found = zeros(load(bytes, i) ^ LINE_FEEDS);
                if (found != 0) return i + first(found);
            }
        }
    }

    /** Returns where the first line feed or carriage return in [at, end) is, or {@code end}. */
    public static int indexOfLineEnd(byte[] bytes, int at, int end) {
        for (; at < end; at += 8) {
            long word = load(bytes, at);
            long found = zeros(word ^ LINE_FEEDS) | zeros(word ^ CARRIAGE_RETURNS);
            if (found != 0) return Math.min(end, at + first(found));
        }
        return end;
    }

    /** Returns where the first {@code wanted} in [at, end) is, or {@code end}. */
    public static int indexOf(byte[] bytes, int at, int end, byte wanted) {
        long pattern = (wanted & 0xff) * ONES;
        for (; at < end; at += 8) {
            long found = zeros(load(bytes, at) ^ pattern);
            if (found != 0) return Math.min(end, at + first(found));
        }
        return end;
    }

    /** Returns where the first {@code wanted} that lies wholly in [at, end) begins, or {@code end}. */
    public static int indexOf(byte[] bytes, int at, int end, byte[] wanted) {
        int last = end - wanted.length;
        for (int i = at; i <= last; i++) {
            i = indexOf(bytes, i, end, wanted[0]);
            if (i > last) break;
            if (Arrays.equals(bytes, i, i + wanted.length, wanted, 0, wanted.length)) return i;
        }
        return end;
    }
}
