// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import clojure.lang.IFn;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * A stream of bytes as records, in blocks of complete ones. Unpacking is serial; the steps on the records run in parallel. When the
 * stream would make it wait, it returns the complete records that it has.
 */
public final class StreamFeed implements Feed {
    private static final int MIN_BLOCK = 1 << 12;
    private static final int MAX_BLOCK = 1 << 17;
    static final int MAX_BUFFER = Integer.MAX_VALUE - 16 - Bytes.PAD;

    private final InputFile file;
    private final RecordFormat format;
    private final int index;
    private InputStream stream; // null: not open yet
    private byte[] bytes = {};
    private int have; // bytes read and not handed out
    private int searched; // before this index no record begins, except at the first byte
    private long position; // in the stream, of the first byte not handed out
    private boolean ended;

    /** The records of {@code file}, which is opened when the first of them is wanted. */
    public StreamFeed(InputFile file, RecordFormat format) {
        this(file, format, 0);
    }

    /** @param index the number of the file in its source */
    StreamFeed(InputFile file, RecordFormat format, int index) {
        this.file = file;
        this.format = format;
        this.index = index;
        position = file.start();
    }

    @Override
    public boolean exhausted() {
        while (have == 0 && !ended) {
            reserve(MIN_BLOCK);
            fill(MIN_BLOCK);
        }
        return have == 0;
    }

    @Override
    public long taken() {
        return position - file.start();
    }

    @Override
    public int maxBlock() {
        return MAX_BLOCK;
    }

    @Override
    public String unit() {
        return "bytes";
    }

    @Override
    public Span next(int n) {
        if (exhausted()) return null;
        int end = read(sizeOf(n));
        Span block = new BytesSpan(bytes, end, position, index, format);
        bytes = Arrays.copyOfRange(bytes, end, have);
        taken(end);
        return block;
    }

    /** Steps on the records where they were read, so that no array is made for them. */
    @Override
    public Object reduce(IFn step, Object acc, int n) {
        if (exhausted()) return acc;
        int end = read(sizeOf(n));
        acc = format.reduce(step, acc, bytes, 0, end, end, position, index);
        // A buffer that a long record has made large is not kept.
        if (bytes.length > MAX_BLOCK + Bytes.PAD) bytes = Arrays.copyOfRange(bytes, end, have);
        else System.arraycopy(bytes, end, bytes, 0, have - end);
        taken(end);
        return acc;
    }

    private int sizeOf(int n) {
        return Math.max(have, Math.clamp(n, MIN_BLOCK, MAX_BLOCK));
    }

    private void taken(int n) {
        have -= n;
        searched = have;
        position += n;
    }

    /** Reads about {@code n} bytes, fewer if it would have to wait, but at least one record. Returns where the last one ends. */
    private int read(int n) {
        reserve(n);
        while (!ended) {
            boolean full = have == n;
            if (full || wouldWait()) {
                int start = lastStart();
                if (start > 0) return start;
            }
            if (full) reserve(n = twice(n));
            fill(n);
        }
        return have;
    }

    /** Returns whether reading may take long. */
    private boolean wouldWait() {
        try {
            return stream == null || stream.available() == 0;
        } catch (IOException e) {
            return true; // the next read will throw it
        }
    }

    /** Makes room for {@code n} bytes. */
    private void reserve(int n) {
        if (bytes.length < n + Bytes.PAD) bytes = Arrays.copyOf(bytes, n + Bytes.PAD);
    }

    private int twice(int n) {
        if (n > MAX_BUFFER / 2) throw file.fail(new OutOfMemoryError(), position);
        return 2 * n;
    }

    /** Returns where the last record begins, which may be incomplete; 0 if it is the first one. */
    private int lastStart() {
        int first = Math.max(format.lookBehind(), searched);
        // From the end backwards, in steps that become longer, for the last place where a record begins.
        for (long back = 256; ; back *= 4) {
            int from = (int) Math.max(first, have - back);
            int last = -1;
            for (int at = from; at <= have && (at = format.nextStart(bytes, at, have, false)) >= 0; at++) last = at;
            if (last > 0) return last;
            if (from == first) break;
        }
        searched = have;
        return 0;
    }

    /** Reads once, so that there are {@code n} bytes at most. */
    private void fill(int n) {
        try {
            if (stream == null) stream = file.open();
            int read = stream.read(bytes, have, n - have);
            if (read < 0) ended = true;
            else have += read;
        } catch (IOException | RuntimeException e) { // a library that unpacks damaged data may throw anything
            throw file.fail(e, position + have);
        }
    }

    @Override
    public void close() {
        try {
            if (stream != null) stream.close();
        } catch (IOException e) {
            throw file.fail(e, position);
        }
    }

    /** One block. */
    private record BytesSpan(byte[] bytes, int end, long position, int index, RecordFormat format) implements Span {
        @Override
        public long size() {
            return end;
        }

        @Override
        public Object reduce(IFn step, Object acc, long from, long to) {
            return format.reduce(step, acc, bytes, 0, end, end, position, index);
        }
    }
}
