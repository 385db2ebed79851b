// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * The bytes of a Zstandard file as they are, but that an end in the midst of a frame, or before the first one, is an error.
 *
 * <p>To whom unpacks them such an end may look like that of the file: zstd-jni 1.5.7 does not find out if the frame before ended
 * in the same read.
 *
 * <p>Invariant Z1: what is left of a frame is {@code skip} bytes and then, unless that is a magic number, {@code field}.
 *
 * <p>Source: RFC 8878. What begins with another magic number is left to the unpacker.
 */
public final class ZstdFrames extends FilterInputStream {
    /** What a file consists of, besides what is skipped, and how many bytes each has, the lowest first. */
    private enum Field {
        MAGIC(4),
        DESCRIPTOR(1),
        BLOCK(3),
        SIZE(4),
        UNKNOWN(0);

        final int bytes;

        Field(int bytes) {
            this.bytes = bytes;
        }
    }

    private static final int FRAME = 0xFD2FB528;
    private static final int SKIPPABLE = 0x184D2A50;
    private static final int CHECKSUM = 4;
    private static final int SINGLE_SEGMENT = 0x20;
    private static final int RUN_LENGTH = 1;

    private Field field = Field.MAGIC; // what comes when skip bytes have gone by
    private int have; // how many bytes of it are in value
    private int value;
    private long skip;
    private boolean checked; // whether a checksum stands behind the last block
    private long consumed;

    /** @param in what a file holds; closed by {@link #close} */
    public ZstdFrames(InputStream in) {
        super(in);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int n = in.read(bytes, offset, length);
        if (n < 0 && isWithin()) throw new EOFException("its compressed data end early, at byte " + consumed);
        for (int i = offset; i < offset + n; ) i += pass(bytes, i, offset + n);
        consumed += Math.max(0, n);
        return n;
    }

    private boolean isWithin() {
        return field != Field.UNKNOWN && (field != Field.MAGIC || have > 0 || skip > 0 || consumed == 0);
    }

    /** Goes over some of bytes[at, end); returns how many. */
    private int pass(byte[] bytes, int at, int end) {
        if (field == Field.UNKNOWN) return end - at;
        if (skip > 0) {
            int n = (int) Math.min(skip, end - at);
            skip -= n;
            return n;
        }
        value |= (bytes[at] & 0xFF) << 8 * have++;
        if (have == field.bytes) {
            int read = value;
            have = 0;
            value = 0;
            field = next(read);
        }
        return 1;
    }

    /** What follows the present field, whose value is {@code read}, and the bytes to skip. */
    private Field next(int read) {
        switch (field) {
            case MAGIC:
                return read == FRAME ? Field.DESCRIPTOR : (read & ~0xF) == SKIPPABLE ? Field.SIZE : Field.UNKNOWN;
            case DESCRIPTOR:
                checked = (read & CHECKSUM) != 0;
                skip = headerBytes(read);
                return Field.BLOCK;
            case BLOCK:
                boolean last = (read & 1) != 0;
                skip = (read >> 1 & 3) == RUN_LENGTH ? 1 : read >> 3;
                if (last && checked) skip += 4;
                return last ? Field.MAGIC : Field.BLOCK;
            default:
                skip = read & 0xFFFFFFFFL;
                return Field.MAGIC;
        }
    }

    /** How many bytes stand between the descriptor of a frame and its first block. */
    private static int headerBytes(int descriptor) {
        boolean single = (descriptor & SINGLE_SEGMENT) != 0;
        int window = single ? 0 : 1;
        int dictionary = 1 << (descriptor & 3) >> 1;
        int size = descriptor >> 6 == 0 ? (single ? 1 : 0) : 1 << (descriptor >> 6);
        return window + dictionary + size;
    }

    @Override
    public long skip(long n) throws IOException {
        return n <= 0 || read() < 0 ? 0 : 1;
    }

    @Override
    public boolean markSupported() {
        return false;
    }
}
