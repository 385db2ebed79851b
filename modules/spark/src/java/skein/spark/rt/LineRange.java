// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.IFn;
import clojure.lang.IReduceInit;
import clojure.lang.Reduced;
import clojure.lang.Util;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.util.Arrays;

/**
 * The lines that begin in a range of a file's bytes, as strings without their ends. A line ends with \n, \r\n or \r, or with the
 * file. Wherever a file is cut into ranges, each of its lines begins in one.
 */
public final class LineRange implements IReduceInit {
    private static final int BLOCK = 1 << 18;
    private static final int MAX_LINE = Integer.MAX_VALUE - 64;

    private final IFn open;
    private final String name;
    private final long from;
    private final long to;
    private final Charset charset;

    /**
     * @param open called with a position, returns an InputStream from there on
     * @param name the file's, for messages
     * @param to Long.MAX_VALUE for all that the stream has; else the file must not end before
     */
    public LineRange(IFn open, String name, long from, long to, Charset charset) {
        this.open = open;
        this.name = name;
        this.from = from;
        this.to = to;
        this.charset = charset;
    }

    @Override
    public Object reduce(IFn step, Object init) {
        // The byte before says whether a line begins at `from`.
        long first = Math.max(0, from - 1);
        try (InputStream in = (InputStream) open.invoke(first)) {
            return new Reader(in, first).reduce(step, init);
        } catch (IOException e) {
            throw Util.sneakyThrow(e);
        }
    }

    /** One pass over the range. The bytes that are still needed are bytes[at, end). */
    private final class Reader {
        private final InputStream in;
        /** The position in the file of bytes[0]. */
        private long base;

        private byte[] bytes = new byte[BLOCK];
        private int at;
        private int end;
        private boolean ended;

        Reader(InputStream in, long base) {
            this.in = in;
            this.base = base;
        }

        Object reduce(IFn step, Object init) throws IOException {
            Object acc = init;
            if (from > 0) skipEnd(lineLength());
            while (base + at < to && hasMore()) {
                int length = lineLength();
                acc = step.invoke(acc, new String(bytes, at, length, charset));
                if (acc instanceof Reduced reduced) return reduced.deref();
                skipEnd(length);
            }
            return acc;
        }

        private boolean hasMore() throws IOException {
            if (at < end || fill()) return true;
            if (to != Long.MAX_VALUE) throw FarFailure.truncated(name, to, base + end);
            return false;
        }

        /** Returns how many bytes there are from {@code at} to the end of the line. */
        private int lineLength() throws IOException {
            int length = 0;
            do {
                for (; at + length < end; length++) {
                    byte b = bytes[at + length];
                    if (b == '\n' || b == '\r') return length;
                }
            } while (fill());
            return length;
        }

        /** Moves behind the line of this length and what ends it. */
        private void skipEnd(int length) throws IOException {
            at += length;
            if (at == end) return;
            boolean carriageReturn = bytes[at++] == '\r';
            if (carriageReturn && (at < end || fill()) && bytes[at] == '\n') at++;
        }

        /** Reads more behind what is needed. Returns whether there was more. */
        private boolean fill() throws IOException {
            if (ended) return false;
            if (Thread.interrupted()) throw Util.sneakyThrow(new InterruptedException());
            if (at > 0) {
                System.arraycopy(bytes, at, bytes, 0, end - at);
                base += at;
                end -= at;
                at = 0;
            }
            if (end == bytes.length) {
                if (end >= MAX_LINE) throw FarFailure.tooLong(name, base);
                bytes = Arrays.copyOf(bytes, (int) Math.min(MAX_LINE, 2L * end));
            }
            int read = in.read(bytes, end, bytes.length - end);
            ended = read < 0;
            end += Math.max(0, read);
            return !ended;
        }
    }
}
