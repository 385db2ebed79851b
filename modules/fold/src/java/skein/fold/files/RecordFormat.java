// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.nio.charset.Charset;
import java.util.Arrays;
import skein.fold.spi.Slice;
import skein.fold.spi.Span;

/**
 * How bytes are divided into records, and what a step gets. A record ends with its delimiter, or with the input.
 *
 * <p>The bytes just before a position say whether a record begins there. So a file can be divided anywhere, and each part owns the
 * records that begin in it.
 */
public abstract class RecordFormat {
    /** How many bytes before a position say whether a record begins there. */
    abstract int lookBehind();

    /**
     * Where the first record begins that begins at {@code at} or behind it, with a record before it.
     *
     * @param at {@link #lookBehind()} or more
     * @param last whether the input ends at {@code end}
     * @return the place, {@code end} if it is the input's end, or -1 if more bytes are needed to decide
     */
    abstract int nextStart(byte[] bytes, int at, int end, boolean last);

    /** Steps on the records in {@code bytes[from, to)} of the file with the number {@code file}; as {@link Span#reduce}. */
    abstract Object reduce(IFn step, Object acc, byte[] bytes, int from, int to, long position, int file);

    /** Lines, as strings without their ends, which are line feed, carriage return, or both, as for {@code BufferedReader}. */
    public static RecordFormat lines(Charset charset) {
        return new Lines(charset);
    }

    /** Records that end with {@code delimiter}, as strings without it, or as byte arrays if {@code charset} is null. */
    public static RecordFormat records(byte[] delimiter, Charset charset) {
        return new Records(delimiter, charset);
    }

    /** All records of a part, each of which ends with {@code delimiter}, as one {@link Slice}. */
    public static RecordFormat slices(byte[] delimiter) {
        return new Slices(delimiter);
    }

    /** Text lines, which end with \n, \r\n or \r. */
    private static final class Lines extends RecordFormat {
        private final Charset charset;

        Lines(Charset charset) {
            this.charset = charset;
        }

        @Override
        int lookBehind() {
            return 1;
        }

        @Override
        int nextStart(byte[] bytes, int at, int end, boolean last) {
            int found = Bytes.indexOfLineEnd(bytes, at - 1, end);
            if (found < end && bytes[found] == '\n') return found + 1;
            if (found >= end - 1) return last ? end : -1;
            return found + (bytes[found + 1] == '\n' ? 2 : 1);
        }

        @Override
        Object reduce(IFn step, Object acc, byte[] bytes, int from, int to, long position, int file) {
            for (int at = from; at < to; ) {
                int lineEnd = Bytes.indexOfLineEnd(bytes, at, to);
                acc = step.invoke(acc, new String(bytes, at, lineEnd - at, charset));
                if (acc instanceof Reduced) return acc;
                at = lineEnd + (lineEnd + 1 < to && bytes[lineEnd] == '\r' && bytes[lineEnd + 1] == '\n' ? 2 : 1);
            }
            return acc;
        }
    }

    /** The base of both formats with a delimiter. */
    private abstract static class Delimited extends RecordFormat {
        final byte[] delimiter;

        Delimited(byte[] delimiter) {
            this.delimiter = delimiter;
        }

        @Override
        int lookBehind() {
            return delimiter.length;
        }

        final int indexOfDelimiter(byte[] bytes, int at, int end) {
            return delimiter.length == 1
                    ? Bytes.indexOf(bytes, at, end, delimiter[0])
                    : Bytes.indexOf(bytes, at, end, delimiter);
        }

        @Override
        int nextStart(byte[] bytes, int at, int end, boolean last) {
            int found = indexOfDelimiter(bytes, at - delimiter.length, end);
            return found < end ? found + delimiter.length : last ? end : -1;
        }
    }

    /** Records between delimiters, as strings or, without a charset, byte arrays. */
    private static final class Records extends Delimited {
        private final Charset charset;

        Records(byte[] delimiter, Charset charset) {
            super(delimiter);
            this.charset = charset;
        }

        @Override
        Object reduce(IFn step, Object acc, byte[] bytes, int from, int to, long position, int file) {
            for (int at = from; at < to; ) {
                int end = indexOfDelimiter(bytes, at, to);
                Object record =
                        charset == null ? Arrays.copyOfRange(bytes, at, end) : new String(bytes, at, end - at, charset);
                acc = step.invoke(acc, record);
                if (acc instanceof Reduced) return acc;
                at = end + delimiter.length;
            }
            return acc;
        }
    }

    /** All complete records of a part, as one slice. */
    private static final class Slices extends Delimited {
        Slices(byte[] delimiter) {
            super(delimiter);
        }

        @Override
        Object reduce(IFn step, Object acc, byte[] bytes, int from, int to, long position, int file) {
            return from == to ? acc : step.invoke(acc, new Slice(bytes, from, to, position, file));
        }
    }
}
