// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import skein.fold.files.Bytes;
import skein.fold.spi.Slice;

/**
 * Reads the lines that are appended to a file, as slices of whole lines, through rotation and truncation. For one thread.
 *
 * <p>The tail stays at the file that it has opened, even if that is renamed. When another file gets the name, the tail reads the old one to
 * its end, and continues there for some time, because its writers may not have noticed yet. A line without an end is kept until the end
 * comes. When its file is over, the line counts as it is. A file is known by its first bytes, so one that is truncated and grows past its old
 * size between two looks is read from its start.
 */
public final class Tail implements Closeable {
    /** The results of {@link #read}. */
    public enum Event {
        /** Nothing new. */
        NOTHING,
        /** More bytes; the whole lines among them are in the slice. */
        LINES,
        /** Another file has the name. */
        ROTATED,
        /** The file has other contents, and is read from its start; the slice has the last line, if it had no end. */
        TRUNCATED
    }

    private static final int READ_BYTES = 1 << 18;
    private static final int BEGINNING_BYTES = 256;

    private final Path path;
    private final int file;
    private final long lingerNanos;
    private byte[] bytes = new byte[READ_BYTES + Bytes.PAD];
    private Slice slice; // what the last read has found
    private Source current;
    private Source old; // the file that had the name before, while it is still read; or null
    private long oldUntil; // the System.nanoTime() until when it is

    /**
     * Opens a file, at its start.
     *
     * @param file its number, which its slices have
     * @param lingerMillis how long the old file is still read when another one has got its name
     */
    public Tail(String path, int file, long lingerMillis) throws IOException {
        this.path = Path.of(path);
        this.file = file;
        lingerNanos = lingerMillis * 1_000_000;
        current = new Source(this.path);
    }

    private static Object keyOf(Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        return attributes.fileKey() != null ? attributes.fileKey() : attributes.creationTime();
    }

    /** Returns whether the name is still that of the file that is read. */
    public boolean isCurrent() throws IOException {
        try {
            return keyOf(path).equals(current.key);
        } catch (NoSuchFileException e) {
            return true; // the file is being rotated: the new one does not exist yet
        }
    }

    /** Returns the end of the last complete line within the first {@code limit} bytes. */
    public long endOfLines(long limit) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        for (long end = Math.min(limit, current.channel.size()); end > 0; ) {
            long start = Math.max(0, end - buffer.capacity());
            buffer.clear().limit((int) (end - start));
            while (buffer.hasRemaining() && current.channel.read(buffer, start + buffer.position()) > 0) continue;
            for (int i = buffer.position() - 1; i >= 0; i--) if (buffer.get(i) == '\n') return start + i + 1;
            end = start;
        }
        return 0;
    }

    /** Continues at {@code position}, where a line must begin. */
    public void seek(long position) throws IOException {
        current.restart(position);
    }

    /** Returns the lines that the last {@link #read} or {@link #finish} has found, perhaps none. They are valid until the next call. */
    public Slice slice() {
        return slice;
    }

    /** Reads the next complete lines, if there are any. */
    public Event read() throws IOException {
        setLines(0, current.position);
        if (old != null) {
            if (append(old)) return Event.LINES;
            if (System.nanoTime() - oldUntil >= 0) {
                retire();
                return Event.LINES;
            }
        }
        if (current.hasChanged()) {
            endLine(current);
            current.restart(0);
            return Event.TRUNCATED;
        }
        if (append(current)) return Event.LINES;
        return isCurrent() || current.hasMore() ? Event.NOTHING : rotate();
    }

    private void setLines(int to, long position) {
        slice = new Slice(bytes, 0, to, position, file);
    }

    private Event rotate() throws IOException {
        if (!Files.isRegularFile(path)) return Event.NOTHING; // a folder with this name, for example, may go away again
        if (old != null) {
            retire();
            return Event.LINES; // the next read continues here
        }
        try {
            Source next = new Source(path);
            old = current;
            oldUntil = System.nanoTime() + lingerNanos;
            current = next;
            return Event.ROTATED;
        } catch (NoSuchFileException e) {
            return Event.NOTHING;
        }
    }

    /** Ends the old file: its last line counts as it is. */
    private void retire() throws IOException {
        Source over = old;
        old = null;
        endLine(over);
        over.channel.close();
    }

    /** Reads more of a file. Returns whether there was any. */
    private boolean append(Source source) throws IOException {
        int have = source.carry.length;
        reserve(have + READ_BYTES);
        System.arraycopy(source.carry.bytes, 0, bytes, 0, have);
        int read = source.channel.read(ByteBuffer.wrap(bytes, have, READ_BYTES), source.position);
        if (read <= 0) return false;
        source.moveBy(read);
        int end = have + read;
        int to = end;
        while (to > have && bytes[to - 1] != '\n') to--;
        if (to == have) {
            source.carry.add(bytes, have, read);
        } else {
            source.carry.length = 0;
            source.carry.add(bytes, to, end - to);
            setLines(to, source.position - end);
        }
        return true;
    }

    private void reserve(int n) {
        if (bytes.length < n + Bytes.PAD) bytes = Arrays.copyOf(bytes, n + Bytes.PAD);
    }

    private void endLine(Source source) {
        Text carry = source.carry;
        reserve(carry.length);
        System.arraycopy(carry.bytes, 0, bytes, 0, carry.length);
        setLines(carry.length, source.position - carry.length);
        carry.length = 0;
    }

    /** Makes a slice of a line that has no end yet. Returns false if there is none. Called when no more will be read. */
    public boolean finish() throws IOException {
        if (old != null) {
            retire();
            return true;
        }
        endLine(current);
        return slice.length() > 0;
    }

    @Override
    public void close() throws IOException {
        try {
            if (old != null) old.channel.close();
        } finally {
            current.channel.close();
        }
    }

    /** An open file and the position in it. */
    private static final class Source {
        final FileChannel channel;
        final Object key;
        final Text carry = new Text(1 << 10); // the start of a line without its end
        long position; // of the next byte to read
        private byte[] beginning = {}; // the first bytes that were read

        Source(Path path) throws IOException {
            channel = FileChannel.open(path, StandardOpenOption.READ);
            key = keyOf(path);
        }

        void restart(long at) throws IOException {
            carry.length = 0;
            beginning = new byte[0];
            position = 0;
            moveBy(at);
        }

        void moveBy(long n) throws IOException {
            position += n;
            if (beginning.length < Math.min(BEGINNING_BYTES, position))
                beginning = first((int) Math.min(BEGINNING_BYTES, position));
        }

        private byte[] first(int n) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocate(n);
            while (buffer.hasRemaining() && channel.read(buffer, buffer.position()) > 0) continue;
            return Arrays.copyOf(buffer.array(), buffer.position());
        }

        boolean hasMore() throws IOException {
            return channel.size() > position;
        }

        /** Returns whether the contents of the file were replaced: it is shorter, or has grown and begins differently. */
        boolean hasChanged() throws IOException {
            long size = channel.size();
            return size < position || size > position && !Arrays.equals(beginning, first(beginning.length));
        }
    }
}
