// SPDX-License-Identifier: Apache-2.0
package skein.fold.spi;

import java.nio.charset.Charset;
import java.util.Arrays;

/**
 * Some complete records of a file in a buffer: {@code bytes[from, to)}. At least {@link #PAD} more bytes can be read after them. The
 * buffer is reused when the step that got the slice has returned, so copy bytes that are needed later.
 */
public final class Slice {
    /** How many bytes can be read after {@link #to}; their contents are undefined. A step may write there, and into the records. */
    public static final int PAD = 64;

    /** The buffer. */
    public final byte[] bytes;
    /** Where the first record begins. */
    public final int from;
    /** Where the last record ends, its delimiter included if it has one. */
    public final int to;
    /** Where the first record begins in the file or stream, in bytes. */
    public final long position;
    /** Which file of the source the records are from, counted from 0. */
    public final int file;

    /** The records in {@code bytes[from, to)}, of which the first begins at {@code position} in the file or stream number {@code file}. */
    public Slice(byte[] bytes, int from, int to, long position, int file) {
        this.bytes = bytes;
        this.from = from;
        this.to = to;
        this.position = position;
        this.file = file;
    }

    /** Returns how many bytes the records have. */
    public int length() {
        return to - from;
    }

    /** Returns a copy of the records' bytes. */
    public byte[] copy() {
        return Arrays.copyOfRange(bytes, from, to);
    }

    /** Returns the records as text. */
    public String text(Charset charset) {
        return new String(bytes, from, to - from, charset);
    }
}
