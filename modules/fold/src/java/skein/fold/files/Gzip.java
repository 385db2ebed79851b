// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * The members of a gzip file. {@link GZIPInputStream} ignores bytes after a member that are not another member. Here the rest may be
 * zeros, the padding of tapes. Other bytes are counted, or are an error.
 */
public final class Gzip extends GZIPInputStream {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int HEADER = 10;
    private static final int TRAILER = 8;

    private final InputStream packed;
    private final AtomicLong leftOut;
    private boolean ended;

    /** @param leftOut set to the number of other bytes after the last member; null: they are an error */
    public Gzip(InputStream packed, AtomicLong leftOut) throws IOException {
        super(neverEmpty(packed), BUFFER_BYTES);
        this.packed = packed;
        this.leftOut = leftOut;
    }

    /** Up to JDK 22 a gzip stream looks for another member only if the stream says that bytes can be read at once. */
    private static InputStream neverEmpty(InputStream in) {
        return new FilterInputStream(in) {
            @Override
            public int available() {
                return 1;
            }
        };
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int n = super.read(bytes, offset, length);
        if (n < 0 && !ended) {
            ended = true;
            checkRest(len - inf.getRemaining() + TRAILER);
        }
        return n;
    }

    /** Checks the bytes after the last complete member, which begin at {@code from} in the buffer. */
    private void checkRest(int from) throws IOException {
        if (from < len && len - from < HEADER && buf[from] == 0x1F) throw new EOFException("a member is cut off");
        long rest = Math.max(0, len - from);
        boolean zeros = true;
        for (int i = from; i < len; i++) zeros &= buf[i] == 0;
        for (int b; (b = packed.read()) >= 0; rest++) zeros &= b == 0;
        if (zeros) return;
        if (leftOut == null) throw new ZipException("other bytes follow its last complete member");
        leftOut.set(rest);
    }

    /** Returns more than 0 if there are bytes to unpack, or to read without waiting. */
    @Override
    public int available() throws IOException {
        boolean unpackable = inf.finished() ? inf.getRemaining() > TRAILER : !inf.needsInput();
        return ended ? 0 : unpackable ? 1 : packed.available();
    }
}
