// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * What a gzip file unpacks to: all its members, one after the other.
 *
 * <p>Differs from {@link java.util.zip.GZIPInputStream}, for which the file is over at whatever it does not recognize: behind
 * a member there is another one, or the end, or zeros, with which tapes and block devices are filled up. Anything else is an
 * error, so that neither a file that was cut between two members nor a damaged one passes for a shorter one.
 *
 * <p>Source: RFC 1952.
 */
public final class GzipStream extends InputStream {
    private static final int HEADER_CRC = 2;
    private static final int EXTRA = 4;
    private static final int NAME = 8;
    private static final int COMMENT = 16;
    private static final int RESERVED = 0xE0;
    private static final int TRAILER = 8;

    private final InputStream in;
    private final byte[] packed;
    private int from; // packed[from, to) is read, and not yet unpacked or in the inflater
    private int to;
    private long consumed; // bytes of the file before packed[to]
    private final Inflater inflater = new Inflater(true);
    private final CRC32 crc = new CRC32(); // of the header or the contents of the member
    private boolean ended;

    /**
     * Reads the first header.
     *
     * @param in what to unpack; closed by {@link #close}
     * @throws EOFException if it ends there, as an empty one does
     * @throws ZipException if it is no gzip
     */
    public GzipStream(InputStream in, int bufferBytes) throws IOException {
        this.in = in;
        packed = new byte[bufferBytes];
        try {
            crc.reset();
            readHeader(octet());
        } catch (Throwable t) { // thrown again; the inflater has memory of its own
            inflater.end();
            throw t;
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        if (length == 0) return 0;
        while (!ended) {
            int n = inflate(bytes, offset, length);
            if (n > 0) {
                crc.update(bytes, offset, n);
                return n;
            }
            if (inflater.finished()) {
                readTrailer();
                ended = !nextMember();
            } else {
                feed();
            }
        }
        return -1;
    }

    /** More than 0 if there is something to unpack, or to read without waiting. */
    @Override
    public int available() throws IOException {
        if (ended) return 0;
        boolean unpackable = inflater.finished() ? inflater.getRemaining() > TRAILER : !inflater.needsInput();
        return unpackable || from < to ? 1 : in.available();
    }

    private int inflate(byte[] bytes, int offset, int length) throws ZipException {
        try {
            int n = inflater.inflate(bytes, offset, length);
            if (inflater.needsDictionary()) throw damaged("it asks for a dictionary");
            return n;
        } catch (DataFormatException e) {
            throw damaged(e.getMessage());
        }
    }

    /** Gives the inflater, which wants it, all that is read. */
    private void feed() throws IOException {
        if (from == to) fill();
        inflater.setInput(packed, from, to - from);
        from = to;
    }

    /** Compares what was unpacked with the checksum and length behind it. */
    private void readTrailer() throws IOException {
        from = to - inflater.getRemaining();
        long sum = crc.getValue();
        if (int32() != sum) throw damaged("its checksum does not fit");
        if (int32() != (inflater.getBytesWritten() & 0xFFFFFFFFL)) throw damaged("its length does not fit");
    }

    /** Goes on to the next member, and says whether there is one. */
    private boolean nextMember() throws IOException {
        int first;
        do {
            if (from == to && !tryFill()) return false;
            crc.reset();
            first = octet();
        } while (first == 0);
        inflater.reset();
        readHeader(first);
        return true;
    }

    private void readHeader(int first) throws IOException {
        if (first != 0x1F || octet() != 0x8B || octet() != 8) throw damaged("no gzip begins");
        int flags = octet();
        if ((flags & RESERVED) != 0) throw damaged("flags that mean nothing are set");
        for (int i = 0; i < 6; i++) octet(); // time, level, operating system
        if ((flags & EXTRA) != 0) for (int n = octet() | octet() << 8; n > 0; n--) octet();
        if ((flags & NAME) != 0) while (octet() != 0) {}
        if ((flags & COMMENT) != 0) while (octet() != 0) {}
        if ((flags & HEADER_CRC) != 0) {
            long sum = crc.getValue() & 0xFFFF;
            if ((octet() | octet() << 8) != sum) throw damaged("the checksum of a header does not fit");
        }
        crc.reset();
    }

    private long int32() throws IOException {
        return octet() | octet() << 8 | octet() << 16 | (long) octet() << 24;
    }

    private int octet() throws IOException {
        if (from == to) fill();
        byte b = packed[from++];
        crc.update(b);
        return b & 0xFF;
    }

    private void fill() throws IOException {
        if (!tryFill()) throw new EOFException("its compressed data end early, at byte " + consumed);
    }

    private boolean tryFill() throws IOException {
        int n = in.read(packed, 0, packed.length);
        if (n < 0) return false;
        from = 0;
        to = n;
        consumed += n;
        return n > 0 || tryFill();
    }

    private ZipException damaged(String how) {
        long position = consumed - (to - from) - (inflater.finished() ? 0 : inflater.getRemaining());
        return new ZipException(how + ", near byte " + position);
    }

    @Override
    public void close() throws IOException {
        ended = true;
        inflater.end();
        in.close();
    }
}
