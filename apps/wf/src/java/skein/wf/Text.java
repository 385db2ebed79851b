// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes under construction, in a buffer that grows. Not safe for use by two threads at once. */
final class Text {
    byte[] bytes;
    int length;

    Text(int capacity) {
        bytes = new byte[capacity];
    }

    /** ISO-8859-1 bytes of a literal. */
    static byte[] literal(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns the literals' bytes, one array each. */
    static byte[][] literals(String... texts) {
        byte[][] literals = new byte[texts.length][];
        for (int i = 0; i < texts.length; i++) literals[i] = literal(texts[i]);
        return literals;
    }

    /** Makes sure that {@code n} more bytes fit. */
    void reserve(int n) {
        if (length + n > bytes.length) bytes = Arrays.copyOf(bytes, Math.max(length + n, 2 * bytes.length));
    }

    Text add(byte[] more) {
        return add(more, 0, more.length);
    }

    Text add(byte[] more, int from, int n) {
        reserve(n);
        System.arraycopy(more, from, bytes, length, n);
        length += n;
        return this;
    }

    Text add(char one) {
        reserve(1);
        bytes[length++] = (byte) one;
        return this;
    }

    /** Adds a number, 0 or more, in decimal, with leading zeros up to {@code width} digits. */
    Text add(long number, int width) {
        int digits = 1;
        for (long rest = number; rest >= 10; rest /= 10) digits++;
        int n = Math.max(digits, width);
        reserve(n);
        for (int i = length + n - 1; i >= length; i--, number /= 10) bytes[i] = (byte) ('0' + number % 10);
        length += n;
        return this;
    }
}
