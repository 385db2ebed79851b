// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.IFn;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;

/**
 * The bytes of the records that begin in a range of a file, the last one to its end. A record ends with \n or with the file, and
 * a line of text also with \r\n or \r. Wherever a file is cut into ranges, each of its records begins in one.
 */
public final class RangeStream extends InputStream {
    private final IFn open;
    private final String name;
    private final long from;
    private final long to;
    private final long size;
    private final boolean text;
    private final byte[] buffer = new byte[1 << 16]; // of the file, buffer[at, end) from `position` on
    private int at;
    private int end;
    private long position;
    private int previous = -1; // the byte before `position`
    private InputStream in; // null: not open yet
    private boolean ended;

    /**
     * @param open called with a position, returns an InputStream of the file from there on
     * @param name the file's, for messages
     * @param size how much of the file is read: what is appended later is not seen
     * @param text whether \r ends a record too
     */
    public RangeStream(IFn open, String name, long from, long to, long size, boolean text) {
        this.open = open;
        this.name = name;
        this.from = from;
        this.to = to;
        this.size = size;
        this.text = text;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (Thread.interrupted()) throw new InterruptedIOException();
        if (length == 0) return 0;
        if (in == null) start();
        if (ended) return -1;
        int n = position < to
                ? copy(bytes, offset, (int) Math.min(length, to - position))
                : finish(bytes, offset, length);
        ended = n == 0;
        return ended ? -1 : n;
    }

    /** Opens the file, and goes to the first record. */
    private void start() throws IOException {
        // The byte before says whether a record begins at `from`.
        position = Math.max(0, from - 1);
        in = (InputStream) open.invoke(position);
        if (from == 0) return;
        do next();
        while (position < size && !isStart());
        ended = position >= to;
    }

    /** Copies what lies within the range. */
    private int copy(byte[] bytes, int offset, int length) throws IOException {
        if (at == end && length >= buffer.length) {
            int n = readSome(bytes, offset, length);
            position += n;
            previous = bytes[offset + n - 1];
            return n;
        }
        fill();
        int n = Math.min(length, end - at);
        System.arraycopy(buffer, at, bytes, offset, n);
        at += n;
        position += n;
        previous = buffer[at - 1];
        return n;
    }

    /** Copies what the last record has behind the range. */
    private int finish(byte[] bytes, int offset, int length) throws IOException {
        int n = 0;
        while (n < length && position < size && !isStart()) bytes[offset + n++] = next();
        return n;
    }

    /** Returns whether a record begins at {@code position}, which is neither the file's first byte nor its end. */
    private boolean isStart() throws IOException {
        if (previous == '\n') return true;
        if (!text || previous != '\r') return false;
        fill();
        return buffer[at] != '\n';
    }

    private byte next() throws IOException {
        fill();
        byte next = buffer[at++];
        position++;
        previous = next;
        return next;
    }

    private void fill() throws IOException {
        if (at < end) return;
        end = readSome(buffer, 0, (int) Math.min(buffer.length, size - position));
        at = 0;
    }

    private int readSome(byte[] bytes, int offset, int length) throws IOException {
        int n = in.read(bytes, offset, length);
        if (n <= 0) throw FarFailure.truncated(name, size, position);
        return n;
    }

    /** More than 0, so that its reader fills its buffer. */
    @Override
    public int available() {
        return ended ? 0 : 1;
    }

    @Override
    public void close() throws IOException {
        if (in != null) in.close();
    }
}
