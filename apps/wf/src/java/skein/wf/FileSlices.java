// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A regular file as slices, read by position, so that workers need no lock and no common order.
 *
 * <p>The file is cut every {@code sliceBytes} bytes. A slice owns the lines whose first byte lies within it: it skips the end
 * of the line before, and reads past its own end to finish its last line. To know whether its first byte begins a line
 * it also reads the byte before. A line may be longer than a slice; slices in which no line begins own nothing.
 *
 * <p>The size is taken once, when the file is opened: what is appended later is not seen, and a line that the cut
 * leaves unfinished counts as it stands. A file that becomes shorter is an error.
 *
 * <p>Reads go into a reused {@code byte[]} rather than through a mapping: faster for one pass over one file, and a
 * truncated file gives an exception instead of a fault.
 */
final class FileSlices implements InputSlices {
    /** The most bytes of a line's tail that are read along with a slice, to spare most slices a second read. */
    private static final int MAX_TAIL_BYTES = 4096;
    /** The most bytes asked for in one read, because the JDK copies through a buffer of that size. */
    private static final int MAX_READ_BYTES = 1 << 20;

    private final String input;
    private final int format;
    private final FileChannel channel;
    private final long fileBytes;
    private final int sliceBytes;
    private final long sliceCount;
    private final AtomicLong cursor = new AtomicLong();
    private final AtomicLong finished = new AtomicLong();

    FileSlices(Input source, int sliceBytes) throws ReadFailure {
        input = source.name();
        format = source.format();
        this.sliceBytes = sliceBytes;
        try {
            channel = FileChannel.open(Path.of(input), StandardOpenOption.READ);
            fileBytes = Math.min(channel.size(), source.limit());
        } catch (IOException | InvalidPathException e) {
            throw new ReadFailure(ReadFailure.Kind.UNREADABLE, input, 0, e);
        }
        sliceCount = Math.ceilDiv(fileBytes, (long) sliceBytes);
    }

    @Override
    public Answer tryNext(Slice slice) throws IOException {
        return next(slice) ? Answer.FILLED : Answer.NOTHING_LEFT;
    }

    @Override
    public boolean next(Slice slice) throws IOException {
        long n = cursor.getAndIncrement();
        if (n >= sliceCount) return false;
        read(slice, n * sliceBytes);
        // Whoever finishes last closes, so that a thousand files never need a thousand descriptors.
        if (finished.incrementAndGet() == sliceCount) close();
        return true;
    }

    /** Fills {@code slice} with the lines that begin in the {@code sliceBytes} bytes from {@code start} on. */
    private void read(Slice slice, long start) throws ReadFailure {
        long end = Math.min(start + sliceBytes, fileBytes);
        long base = Math.max(0, start - 1);
        int owned = (int) (end - base);
        int wanted = (int) Math.min(owned + (long) Math.min(sliceBytes, MAX_TAIL_BYTES), fileBytes - base);
        slice.inputBytes = end - start;
        slice.format = format;
        slice.reserve(wanted + 1, 0);
        fill(slice, 0, base, wanted);
        int lineFeed = start == 0 ? -1 : Math.min(slice.indexOfLineFeed(0, wanted), owned - 1);
        if (lineFeed == owned - 1) {
            slice.from = slice.to = 0;
        } else {
            slice.from = lineFeed + 1;
            slice.to = finishLastLine(slice, base, owned - 1, wanted);
        }
    }

    /** Reads on until the line that holds the byte at {@code at} is whole; returns where the next one would begin. */
    private int finishLastLine(Slice slice, long base, int at, int have) throws ReadFailure {
        for (;;) {
            int lineFeed = slice.indexOfLineFeed(at, have);
            // At the end of the file the sentinel that indexOfLineFeed left becomes the missing line feed.
            if (lineFeed < have || base + have == fileBytes) return lineFeed + 1;
            int wanted = (int) Math.min(growLine(slice, base, have) - 1, fileBytes - base);
            fill(slice, have, base + have, wanted - have);
            at = have;
            have = wanted;
        }
    }

    /** Makes room for more of a line than the {@code have} bytes there are; returns for how many bytes there is room. */
    private int growLine(Slice slice, long base, int have) throws ReadFailure {
        OutOfMemoryError cause = null;
        try {
            int room = slice.grow(have + 1);
            if (room > have + 1) return room;
        } catch (OutOfMemoryError e) {
            cause = e;
        }
        throw new ReadFailure(ReadFailure.Kind.LINE_TOO_LONG, input, base + slice.from, cause);
    }

    /** Reads exactly {@code n} bytes from {@code position} into the slice's buffer at {@code at}. */
    private void fill(Slice slice, int at, long position, int n) throws ReadFailure {
        ByteBuffer buffer = ByteBuffer.wrap(slice.bytes);
        for (int end = at + n; at < end; ) {
            buffer.limit(at + Math.min(end - at, MAX_READ_BYTES)).position(at);
            int read;
            try {
                read = channel.read(buffer, position);
            } catch (IOException e) {
                throw new ReadFailure(ReadFailure.Kind.UNREADABLE, input, position, e);
            }
            if (read <= 0) throw new ReadFailure(ReadFailure.Kind.TRUNCATED, input, position, null);
            at += read;
            position += read;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
