// SPDX-License-Identifier: Apache-2.0
package skein.inspect.heap;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The mapped bytes of a file of any size. Numbers are big-endian. {@link #need} checks that bytes exist; reads do not. */
final class MappedFile {
    /** Thrown when the file ends too early. */
    static final class CutShort extends RuntimeException {
        private static final long serialVersionUID = 1;

        CutShort(long at) {
            super("it is cut short at byte " + at + ".");
        }
    }

    private static final int SHIFT = 30;
    private static final int MASK = (1 << SHIFT) - 1;

    final long size;
    private final MappedByteBuffer[] parts; // each reaches a few bytes into the next, so no number is cut in two

    MappedFile(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            size = file.size();
            parts = new MappedByteBuffer[(int) (size >> SHIFT) + 1];
            for (int i = 0; i < parts.length; i++) {
                long from = (long) i << SHIFT;
                parts[i] = file.map(FileChannel.MapMode.READ_ONLY, from, Math.min(size - from, (1L << SHIFT) + 8));
            }
        }
    }

    /** Throws {@link CutShort} unless {@code n} bytes from {@code at} on exist. */
    void need(long at, long n) {
        if (at < 0 || n < 0 || size - at < n) throw new CutShort(size);
    }

    private MappedByteBuffer part(long at) {
        return parts[(int) (at >> SHIFT)];
    }

    int u1(long at) {
        return part(at).get((int) at & MASK) & 0xff;
    }

    int u2(long at) {
        return part(at).getShort((int) at & MASK) & 0xffff;
    }

    int i4(long at) {
        return part(at).getInt((int) at & MASK);
    }

    long u4(long at) {
        return i4(at) & 0xffffffffL;
    }

    long i8(long at) {
        return part(at).getLong((int) at & MASK);
    }

    byte[] copy(long at, int n) {
        byte[] copy = new byte[n];
        for (int i = 0; i < n; i++) copy[i] = (byte) u1(at + i);
        return copy;
    }
}
