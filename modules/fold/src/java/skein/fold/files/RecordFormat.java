// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.nio.charset.Charset;
import java.util.Arrays;
import skein.fold.spi.Slice;
import skein.fold.spi.Span;

/**
 * How bytes are divided into records, and what a step gets. A record ends with its delimiter or at the end of the input.
 *
 * <p>The bytes just before a position say whether a record begins there. So a file can be divided anywhere, and each part owns the
 * records that begin in it.
 */
public final class RecordFormat {
    private final byte[] delimiter; // null: lines
    private final Charset charset; // null: byte arrays
    private final boolean inSlices;

    private RecordFormat(byte[] delimiter, Charset charset, boolean inSlices) {
        this.delimiter = delimiter;
        this.charset = charset;
        this.inSlices = inSlices;
    }

    /** Lines, as strings without their ends, which are line feed, carriage return, or both, as for {@code BufferedReader}. */
    public static RecordFormat lines(Charset charset) {
        return new RecordFormat(null, charset, false);
    }

    /** Records that end with {@code delimiter}, as strings without it, or as byte arrays if {@code charset} is null. */
    public static RecordFormat records(byte[] delimiter, Charset charset) {
        return new RecordFormat(delimiter, charset, false);
    }

    /** All records of a part, each of which ends with {@code delimiter}, as one {@link Slice}. */
    public static RecordFormat slices(byte[] delimiter) {
        return new RecordFormat(delimiter, null, true);
    }

    /** Returns how many bytes before a position decide whether a record begins there. */
    int lookBehind() {
        return delimiter == null ? 1 : delimiter.length;
    }

    /**
     * Finds the first record that begins at {@code at} or after it, and has a record before it.
     *
     * @param at {@link #lookBehind()} or more
     * @param last whether the input ends at {@code end}
     * @return the place, {@code end} if it is the input's end, or -1 if more bytes are needed to decide
     */
    int nextStart(byte[] bytes, int at, int end, boolean last) {
        int found = indexOfDelimiter(bytes, at - lookBehind(), end);
        // A line feed may follow a carriage return.
        boolean isKnown = found < end && (delimiter != null || found < end - 1 || bytes[found] == '\n');
        return isKnown ? found + delimiterLength(bytes, found, end) : last ? end : -1;
    }

    /** Like {@link Span#reduce}, for the records in {@code bytes[from, to)} of a file. Leaves the bytes from {@code kept} on as they are. */
    Object reduce(IFn step, Object acc, byte[] bytes, int from, int to, int kept, long position, int file) {
        if (inSlices) return reduceSlice(step, acc, new Slice(bytes, from, to, position, file), kept);
        for (int at = from; at < to; ) {
            int end = indexOfDelimiter(bytes, at, to);
            Object record =
                    charset == null ? Arrays.copyOfRange(bytes, at, end) : new String(bytes, at, end - at, charset);
            acc = step.invoke(acc, record);
            if (acc instanceof Reduced) return acc;
            at = end + delimiterLength(bytes, end, to);
        }
        return acc;
    }

    /** A step may write into its slice and behind it, so the bytes that are read again are restored. */
    private static Object reduceSlice(IFn step, Object acc, Slice slice, int kept) {
        byte[] before = Arrays.copyOfRange(slice.bytes, kept, slice.to + Slice.PAD);
        acc = step.invoke(acc, slice);
        System.arraycopy(before, 0, slice.bytes, kept, before.length);
        return acc;
    }

    private int indexOfDelimiter(byte[] bytes, int at, int end) {
        if (delimiter == null) return Bytes.indexOfLineEnd(bytes, at, end);
        return delimiter.length == 1
                ? Bytes.indexOf(bytes, at, end, delimiter[0])
                : Bytes.indexOf(bytes, at, end, delimiter);
    }

    /** Returns the length of the delimiter at {@code at}. */
    private int delimiterLength(byte[] bytes, int at, int end) {
        if (delimiter != null) return delimiter.length;
        return at + 1 < end && bytes[at] == '\r' && bytes[at + 1] == '\n' ? 2 : 1;
    }
}
