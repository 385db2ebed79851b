// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;

/**
 * Some whole lines in a buffer that is used again and again; each worker owns one.
 *
 * <p>Invariants, once a {@link SliceSource} has filled it:
 * <ul>
 * <li>S1: {@code bytes[from, to)} is empty, or whole lines, each with its line feed. The last line of an input that ends
 *     without one has got one.</li>
 * <li>S2: at least {@link Words#PAD} bytes of {@code bytes} follow {@code to}; what is in them is undefined.</li>
 * </ul>
 * Not safe for use by two threads at once.
 */
public final class Slice {
    /** The longest line that fits, in bytes; past it an array would not. */
    static final int MAX_BYTES = Integer.MAX_VALUE - 16 - Words.PAD;

    byte[] bytes = new byte[Words.PAD];
    int from;
    int to;
    /** How many bytes of the input this slice stands for; over all slices they add up to the input's size. */
    long inputBytes;
    /** The number of the format that the lines are in, as the input's was given. */
    int format;

    /** An empty slice. */
    public Slice() { }

    /** Makes room for {@code n} bytes and the padding, keeping the first {@code kept} bytes. */
    void reserve(int n, int kept) {
        if (bytes.length - Words.PAD >= n) return;
        byte[] larger = new byte[n + Words.PAD];
        System.arraycopy(bytes, 0, larger, 0, kept);
        bytes = larger;
    }

    /** Makes room for twice {@code kept} bytes, if an array can hold them; returns for how many there is room then. */
    int grow(int kept) {
        int n = (int) Math.min(MAX_BYTES, Math.max(64, 2L * kept));
        reserve(n, kept);
        return n;
    }

    /** Where the first line feed in {@code [at, end)} is, or {@code end}, whose byte is overwritten with one. */
    int indexOfLineFeed(int at, int end) {
        bytes[end] = '\n';
        return Words.indexOfLineFeed(bytes, at);
    }

    /** How many bytes of the input this slice stands for. */
    public long inputBytes() {
        return inputBytes;
    }

    /** The lines' bytes, as a copy, for tests and slow consumers. */
    public byte[] lines() {
        return Arrays.copyOfRange(bytes, from, to);
    }
}
