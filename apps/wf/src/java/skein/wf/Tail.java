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
    private final int format;
    private FileChannel channel;
    private Object key;
    private long position;               // of the next byte to read
    private final Text carry = new Text(1 << 10);  // the start of a line without its end

    /** Opens a file, and stands at its start. */
    public Tail(String path, int format) throws IOException {
        this.path = Path.of(path);
        this.format = format;
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

    /** Fills {@code slice} with the next lines that have an end, if there are any. */
    public Event read(Slice slice) throws IOException {
        slice.from = slice.to = 0;
        slice.format = format;
        slice.inputBytes = 0;
        long size = channel.size();
        if (size < position) {
            endLine(slice);
            position = 0;
            return Event.TRUNCATED;
        }
        if (size > position) return append(slice) ? Event.LINES : Event.NOTHING;
        if (isCurrent() || channel.size() != position) return Event.NOTHING;
        return rotate(slice);
    }

    private Event rotate(Slice slice) throws IOException {
        if (!Files.isRegularFile(path)) return Event.NOTHING;  // a folder, say, may make way for a log again
        FileChannel old = channel;
        try {
            open();
        } catch (NoSuchFileException e) {
            return Event.NOTHING;
        }
        old.close();
        endLine(slice);
        return Event.ROTATED;
    }

    /** Reads more; false when that ends no line. */
    private boolean append(Slice slice) throws IOException {
        int have = carry.length;
        slice.reserve(have + READ_BYTES, 0);
        System.arraycopy(carry.bytes, 0, slice.bytes, 0, have);
        int read = channel.read(ByteBuffer.wrap(slice.bytes, have, READ_BYTES), position);
        if (read <= 0) return false;
        position += read;
        slice.inputBytes = read;
        int end = have + read;
        int to = end;
        while (to > have && slice.bytes[to - 1] != '\n') to--;
        if (to == have) {
            carry.add(slice.bytes, have, read);
            return false;
        }
        carry.length = 0;
        carry.add(slice.bytes, to, end - to);
        slice.to = to;
        return true;
    }

    private void endLine(Slice slice) {
        if (carry.length == 0) return;
        slice.reserve(carry.length + 1, 0);
        System.arraycopy(carry.bytes, 0, slice.bytes, 0, carry.length);
        slice.bytes[carry.length] = '\n';
        slice.to = carry.length + 1;
        carry.length = 0;
    }

    /** Fills {@code slice} with the line that has no end yet, if there is one; for when nothing will be read any more. */
    public void finish(Slice slice) {
        slice.from = slice.to = 0;
        slice.format = format;
        endLine(slice);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
