// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import skein.fold.spi.Span;

/**
 * Files as records, one file after the other, each divided on its own. A part of a file owns the records whose first byte lies
 * in it: it reads the bytes just before it to find where the first one begins, and reads past its end to finish the last one. A
 * file that can only be read in order belongs as a whole to the part with its first byte; several of those are read in parallel.
 *
 * <p>A file that becomes shorter is an error; appended bytes are not read. Reads go into a {@code byte[]} and not through a memory map,
 * so that this error is an exception and not a crash of the process. A file is opened when it is first read, and closed when all of it
 * has been read.
 */
public final class FilesSpan implements Span {
    private static final int MIN_BLOCK = 4096;
    /** The most bytes asked for in one read, because the JDK copies through a buffer of that size. */
    private static final long MAX_READ_BYTES = 1 << 20;

    private final RecordFormat format;
    private final Part[] parts;
    /** Where each file begins in all of them together, and where the last one ends. A serial file counts as one byte at least. */
    private final long[] starts;

    private final long serial; // how many files can only be read in order
    private final ConcurrentLinkedQueue<Block> blocks = new ConcurrentLinkedQueue<>(); // not in use

    /** The records of {@code files}. */
    public FilesSpan(List<InputFile> files, RecordFormat format) {
        this.format = format;
        parts = new Part[files.size()];
        starts = new long[files.size() + 1];
        for (int i = 0; i < parts.length; i++) {
            InputFile file = files.get(i);
            parts[i] = new Part(file, i);
            starts[i + 1] = starts[i] + (file.isSerial() ? Math.max(1, file.length()) : file.length());
        }
        serial = files.stream().filter(InputFile::isSerial).count();
    }

    @Override
    public long size() {
        return starts[parts.length];
    }

    @Override
    public String unit() {
        return "bytes";
    }

    @Override
    public long minBlock() {
        // For a file that can only be read in order, the first byte stands for all.
        return isCoarse() ? 1 : MIN_BLOCK;
    }

    @Override
    public boolean isCoarse() {
        return serial > 1;
    }

    @Override
    public Object reduce(IFn step, Object acc, long from, long to) {
        int first = Arrays.binarySearch(starts, from);
        for (int i = first < 0 ? -2 - first : first; i < parts.length && starts[i] < to; i++) {
            long start = Math.max(from, starts[i]) - starts[i];
            long end = Math.min(to, starts[i + 1]) - starts[i];
            if (start >= end) continue;
            if (!parts[i].file.isSerial()) {
                acc = parts[i].reduce(step, acc, start, end);
            } else if (start == 0) {
                acc = parts[i].readOn(step, acc);
            }
            if (acc instanceof Reduced) return acc;
        }
        return acc;
    }

    @Override
    public void close() {
        for (Part part : parts) part.close();
    }

    /** One file. */
    private final class Part {
        final InputFile file;
        private final int index;
        private final AtomicLong done = new AtomicLong();
        private PositionChannel channel; // guarded by this; null: not open

        Part(InputFile file, int index) {
            this.file = file;
            this.index = index;
        }

        Object reduce(IFn step, Object acc, long from, long to) {
            Block spare = blocks.poll();
            Block block = spare == null ? new Block() : spare;
            try {
                if (block.read(this, from, to)) {
                    long position = file.start() + block.base + block.first;
                    int kept = Math.max(block.first, (int) (to - block.base) - format.lookBehind());
                    acc = format.reduce(step, acc, block.bytes, block.first, block.end, kept, position, index);
                }
            } finally {
                blocks.add(block);
            }
            if (done.addAndGet(to - from) == file.length()) close();
            return acc;
        }

        Object readOn(IFn step, Object acc) {
            try (StreamFeed feed = new StreamFeed(file, format, index)) {
                while (!(acc instanceof Reduced) && !feed.exhausted()) {
                    if (Thread.interrupted()) throw file.fail(new InterruptedIOException(), 0);
                    acc = feed.reduce(step, acc, Integer.MAX_VALUE);
                }
                return acc;
            }
        }

        synchronized PositionChannel open() throws IOException {
            if (channel == null || !channel.isOpen()) channel = file.channel();
            return channel;
        }

        synchronized void close() {
            try {
                if (channel != null) channel.close();
            } catch (IOException e) {
                throw file.fail(e, file.length());
            } finally {
                channel = null;
            }
        }
    }

    /** Bytes of a file in a buffer. If the next block in it follows in the file, the bytes of it that are read already are kept. */
    private final class Block {
        private Part part; // null: no bytes yet
        private long size;
        byte[] bytes = {}; // of the file from base on
        long base;
        int have;
        int first;
        int end;

        /** Reads the records that begin in [from, to) to bytes[first, end). Returns whether there are any. */
        boolean read(Part part, long from, long to) {
            int behind = format.lookBehind();
            begin(part, Math.max(0, from - behind));
            fill(to - base + MIN_BLOCK);
            int owned = (int) (to - base);
            // One more byte, since a carriage return in the last place may belong to a line feed after it.
            int known = Math.min(have, owned + 1);
            // Near the start of the file there may be fewer bytes before it than a delimiter has.
            int at = Math.max((int) (from - base), behind);
            first = from == 0 ? 0 : format.nextStart(bytes, at, known, base + known == size);
            if (first < 0 || first >= owned) return false;
            at = Math.max(owned, behind);
            while ((end = format.nextStart(bytes, at, have, base + have == size)) < 0) fill(2L * have);
            return true;
        }

        /** Begins at {@code position} of a file. Keeps the bytes that have been read from there on. */
        private void begin(Part part, long position) {
            long skipped = position - base;
            boolean follows = part == this.part && skipped >= 0 && skipped <= have;
            have = follows ? have - (int) skipped : 0;
            if (have > 0) System.arraycopy(bytes, (int) skipped, bytes, 0, have);
            this.part = part;
            size = part.file.length();
            base = position;
        }

        /** Reads on until there are {@code wanted} bytes, or all of the file. */
        private void fill(long wanted) {
            wanted = Math.min(wanted, size - base);
            try {
                if (wanted > StreamFeed.MAX_BUFFER) throw new OutOfMemoryError("it does not fit in an array");
                if (bytes.length < wanted + Bytes.PAD)
                    bytes = Arrays.copyOf(have == 0 ? new byte[0] : bytes, (int) wanted + Bytes.PAD);
            } catch (OutOfMemoryError e) {
                throw part.file.fail(e, base + first);
            }
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (have < wanted) {
                buffer.limit((int) Math.min(wanted, have + MAX_READ_BYTES)).position(have);
                have += readAt(buffer, base + have);
            }
        }

        private int readAt(ByteBuffer buffer, long position) {
            for (; ; ) {
                PositionChannel channel = null;
                try {
                    channel = part.open();
                    int n = channel.read(buffer, part.file.start() + position);
                    if (n <= 0) throw new EOFException();
                    return n;
                } catch (IOException e) {
                    // An interrupt of one reader closes the channel for all; the others open it again.
                    boolean closed = channel != null && !channel.isOpen();
                    if (!closed || e instanceof ClosedByInterruptException) throw part.file.fail(e, position);
                }
            }
        }
    }
}
