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
 * What is appended to a file, as slices of whole lines, through rotation and truncation. For one thread.
 *
 * <p>The file is the one that was opened, whatever its name is by now; so a file that is renamed is read to its end, and then the one
 * that has its name. A line that has no end yet waits for it, and counts as it stands once its file is over.
 * A file that is truncated and grows past the old size again between two looks can't be told from one that only grew.
 */
public final class Tail implements Closeable {
    /** What {@link #read} found. */
    public enum Event {
        /** Nothing new. */
        NOTHING,
        /** Lines, in the slice. */
        LINES,
        /** Another file has the name; the slice has the old one's last line, if it had no end. */
        ROTATED,
        /** The file became shorter, and is read from its start; the slice has the last line, if it had no end. */
        TRUNCATED
    }

    private static final int READ_BYTES = 1 << 18;

    private final Path path;
    private final int file;
    private byte[] bytes = new byte[READ_BYTES + Bytes.PAD];
    private Slice slice;                 // what the last read has found
    private FileChannel channel;
    private Object key;
    private long position;               // of the next byte to read
    private final Text carry = new Text(1 << 10);  // the start of a line without its end

    /**
     * Opens a file, and stands at its start.
     *
     * @param file its number, which its slices have
     */
    public Tail(String path, int file) throws IOException {
        this.path = Path.of(path);
        this.file = file;
        open();
    }

    private void open() throws IOException {
        channel = FileChannel.open(path, StandardOpenOption.READ);
        key = keyOf(path);
        position = 0;
    }

    private static Object keyOf(Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        return attributes.fileKey() != null ? attributes.fileKey() : attributes.creationTime();
    }

    /** Whether the name is still that of the file that is read. */
    public boolean isCurrent() throws IOException {
        try {
            return keyOf(path).equals(key);
        } catch (NoSuchFileException e) {
            return true;  // being rotated: the new one is not there yet
        }
    }

    /** Where the last line that has an end ends. */
    public long endOfLines() throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        for (long end = channel.size(); end > 0; ) {
            long start = Math.max(0, end - buffer.capacity());
            buffer.clear().limit((int) (end - start));
            while (buffer.hasRemaining() && channel.read(buffer, start + buffer.position()) > 0) continue;
            for (int i = buffer.position() - 1; i >= 0; i--) if (buffer.get(i) == '\n') return start + i + 1;
            end = start;
        }
        return 0;
    }

    /** Goes on at {@code position}, at which a line must begin. */
    public void seek(long position) {
        this.position = position;
        carry.length = 0;
    }

    /** Returns the lines that the last {@link #read} or {@link #finish} has found, perhaps none. They are gone after the next. */
    public Slice slice() {
        return slice;
    }

    /** Reads the next lines that have an end, if there are any. */
    public Event read() throws IOException {
        setLines(0);
        long size = channel.size();
        if (size < position) {
            endLine();
            position = 0;
            return Event.TRUNCATED;
        }
        if (size > position) return append() ? Event.LINES : Event.NOTHING;
        if (isCurrent() || channel.size() != position) return Event.NOTHING;
        return rotate();
    }

    private void setLines(int to) {
        slice = new Slice(bytes, 0, to, position, file);
    }

    private Event rotate() throws IOException {
        if (!Files.isRegularFile(path)) return Event.NOTHING;  // a folder, say, may make way for a log again
        FileChannel old = channel;
        try {
            open();
        } catch (NoSuchFileException e) {
            return Event.NOTHING;
        }
        old.close();
        endLine();
        return Event.ROTATED;
    }

    /** Reads more. Returns whether that ends a line. */
    private boolean append() throws IOException {
        int have = carry.length;
        reserve(have + READ_BYTES);
        System.arraycopy(carry.bytes, 0, bytes, 0, have);
        int read = channel.read(ByteBuffer.wrap(bytes, have, READ_BYTES), position);
        if (read <= 0) return false;
        position += read;
        int end = have + read;
        int to = end;
        while (to > have && bytes[to - 1] != '\n') to--;
        if (to == have) {
            carry.add(bytes, have, read);
            return false;
        }
        carry.length = 0;
        carry.add(bytes, to, end - to);
        setLines(to);
        return true;
    }

    private void reserve(int n) {
        if (bytes.length < n + Bytes.PAD) bytes = Arrays.copyOf(bytes, n + Bytes.PAD);
    }

    private void endLine() {
        reserve(carry.length);
        System.arraycopy(carry.bytes, 0, bytes, 0, carry.length);
        setLines(carry.length);
        carry.length = 0;
    }

    /** Makes a slice of the line that has no end yet, if there is one; for when nothing will be read any more. */
    public void finish() {
        endLine();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
