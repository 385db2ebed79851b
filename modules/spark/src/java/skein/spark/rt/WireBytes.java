// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import java.util.Arrays;

/** An array of bytes that grows up to a bound. */
final class WireBytes {
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    private final long max;
    private byte[] bytes = new byte[128];
    private int size;

    WireBytes(long max) {
        this.max = Math.min(max, MAX_ARRAY);
    }

    /** Returns how many more bytes fit. */
    long room() {
        return max - size;
    }

    byte[] toArray() {
        return Arrays.copyOf(bytes, size);
    }

    private void reserve(long more) {
        long wanted = size + more;
        if (wanted > max) throw FarFailure.tooLarge(max);
        if (wanted > bytes.length)
            bytes = Arrays.copyOf(bytes, (int) Math.min(MAX_ARRAY, Math.max(wanted, 2L * bytes.length)));
    }

    WireBytes tag(int b) {
        reserve(1);
        bytes[size++] = (byte) b;
        return this;
    }

    /** Writes a number from 0 on in groups of seven bits, the lowest first; a group that another follows has its eighth bit set. */
    WireBytes number(long n) {
        reserve(10);
        for (; (n & ~0x7FL) != 0; n >>>= 7) bytes[size++] = (byte) (n | 0x80);
        bytes[size++] = (byte) n;
        return this;
    }

    /** Writes any number, small ones of either sign in few bytes. */
    WireBytes zigzag(long n) {
        return number(n << 1 ^ n >> 63);
    }

    WireBytes fixed(long n, int width) {
        reserve(width);
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) bytes[size++] = (byte) (n >> shift);
        return this;
    }

    WireBytes bytes(byte[] more) {
        number(more.length);
        reserve(more.length);
        System.arraycopy(more, 0, bytes, size, more.length);
        size += more.length;
        return this;
    }

    WireBytes text(String text) {
        int length = text.length();
        int ascii = 0;
        while (ascii < length && text.charAt(ascii) < 128) ascii++;
        tag(ascii == length ? Tag.ASCII : Tag.TEXT).number(length);
        reserve(ascii == length ? length : 2L * length);
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (ascii < length) bytes[size++] = (byte) (c >> 8);
            bytes[size++] = (byte) c;
        }
        return this;
    }
}
