// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.reflect.InvocationTargetException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.function.LongConsumer;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Compressed data, recognised by their first bytes. Java itself unpacks gzip. For the others the program needs a library on its
 * class path, which is looked up by name.
 */
final class Unpacking {
    /** How many bytes are needed to recognise the compression. */
    static final int MAGIC_BYTES = 6;

    private static final int BUFFER_BYTES = 1 << 16;
    private static final String COMMONS = "org.apache.commons/commons-compress";

    /** A skippable Zstandard frame without contents. After the magic number of another frame its first byte is an error. */
    private static final byte[] NO_FRAME = {0x58, 0x2A, 0x4D, 0x18, 0, 0, 0, 0};

    /**
     * The members of a gzip file. {@link GZIPInputStream} ignores bytes after a member that are not another member. Here the rest may be
     * zeros, as tapes are padded. Other bytes are passed to {@code onRest}, or are an error if that is null.
     */
    private static final class Gzip extends GZIPInputStream {
        private static final int HEADER = 10;
        private static final int TRAILER = 8;

        private final InputStream packed;
        private final LongConsumer onRest; // or null
        private boolean ended;

        Gzip(InputStream packed, LongConsumer onRest) throws IOException {
            super(neverEmpty(packed), BUFFER_BYTES);
            this.packed = packed;
            this.onRest = onRest;
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
            if (onRest == null) throw new ZipException("what follows its last whole member is none");
            onRest.accept(rest);
        }

        /** Returns more than 0 if there are bytes to unpack, or to read without waiting. */
        @Override
        public int available() throws IOException {
            boolean unpackable = inf.finished() ? inf.getRemaining() > TRAILER : !inf.needsInput();
            return ended ? 0 : unpackable ? 1 : packed.available();
        }
    }

    /** A kind of compression. In its magic, FF stands for any byte from 50 to 5F. */
    private enum Kind {
        GZIP("1F8B", null, null),
        BZIP2("425A68", COMMONS, "org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream"),
        ZSTD("28B52FFD", "com.github.luben/zstd-jni", "com.github.luben.zstd.ZstdInputStream"),
        /** Zstandard that begins with a skippable frame, as pzstd writes it. */
        SKIPPABLE("FF2A4D18", ZSTD.library, ZSTD.type),
        XZ("FD377A585A00", "org.tukaani/xz", "org.tukaani.xz.XZInputStream"),
        LZ4("04224D18", COMMONS, "org.apache.commons.compress.compressors.lz4.FramedLZ4CompressorInputStream");

        final byte[] magic;
        final String library;
        final String type;

        Kind(String magic, String library, String type) {
            this.magic = HexFormat.of().parseHex(magic);
            this.library = library;
            this.type = type;
        }

        /** Returns whether the first {@code n} bytes are as they are in data of this kind. */
        boolean mayBegin(byte[] head, int n) {
            for (int i = 0; i < Math.min(n, magic.length); i++) {
                if (magic[i] == -1 ? head[i] >> 4 != 5 : head[i] != magic[i]) return false;
            }
            return true;
        }
    }

    private Unpacking() {}

    /** Returns the kind of data that begin with the first {@code n} bytes, or null. */
    private static Kind kind(byte[] head, int n) {
        for (Kind kind : Kind.values()) if (n >= kind.magic.length && kind.mayBegin(head, n)) return kind;
        return null;
    }

    /** Returns how data that begin with {@code head} are compressed, such as "gzip", or null. */
    static String packing(byte[] head) {
        Kind kind = kind(head, head.length);
        if (kind == null) return null;
        return (kind == Kind.SKIPPABLE ? Kind.ZSTD : kind).name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the unpacked contents of {@code in}, or {@code in} itself. Waits for no more bytes than it needs to recognise the format.
     *
     * @param onRest gets the number of other bytes after the last member of a gzip file; null: they are an error
     */
    static InputStream unpacked(String name, BufferedInputStream in, LongConsumer onRest) throws IOException {
        byte[] head = new byte[MAGIC_BYTES];
        int n = 0;
        in.mark(MAGIC_BYTES);
        while (kind(head, n) == null && mayBegin(head, n)) {
            int b = in.read();
            if (b < 0) break;
            head[n++] = (byte) b;
        }
        in.reset();
        Kind kind = kind(head, n);
        if (kind == null) return in;
        return switch (kind) {
            case GZIP -> new Gzip(in, onRest);
            // zstd-jni takes a frame that is cut off for the end, if the one before ended in the same read; so there is
            // one more.
            case ZSTD, SKIPPABLE -> {
                InputStream whole = new SequenceInputStream(in, new ByteArrayInputStream(NO_FRAME));
                yield construct(name, kind, new Class<?>[] {InputStream.class}, whole);
            }
            case XZ -> construct(name, kind, new Class<?>[] {InputStream.class}, in);
            case BZIP2, LZ4 -> construct(name, kind, new Class<?>[] {InputStream.class, boolean.class}, in, true);
        };
    }

    private static boolean mayBegin(byte[] head, int n) {
        for (Kind kind : Kind.values()) if (kind.mayBegin(head, n)) return true;
        return false;
    }

    private static InputStream construct(String name, Kind kind, Class<?>[] types, Object... arguments)
            throws IOException {
        try {
            return (InputStream) Class.forName(kind.type).getConstructor(types).newInstance(arguments);
        } catch (ClassNotFoundException e) {
            throw FileFault.noUnpacker(name, kind.library);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IOException(e);
        }
    }
}
