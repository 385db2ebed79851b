// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.io.BufferedInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;

/**
 * A file, a pipe or an open stream: its size when this object was made, whether it can be read by position, and its unpacked
 * contents. Its first bytes say whether it is compressed, not its name.
 */
public final class InputFile {
    private static final int BUFFER_BYTES = 1 << 17;

    private final String name;
    private final Path path; // null: given as an open stream
    private final boolean regular;
    private final boolean serial;
    private final String packing;
    private final long start;
    private final long size;
    private InputStream stream; // guarded by this; what can't be opened again, until it is handed out
    private boolean unpacked; // guarded by this; whether the stream is
    private boolean leavesOutRests; // guarded by this
    private volatile long leftOut;

    private InputFile(
            String name,
            Path path,
            boolean regular,
            String packing,
            boolean serial,
            long start,
            long size,
            InputStream stream) {
        this.name = name;
        this.path = path;
        this.regular = regular;
        this.packing = packing;
        this.serial = serial;
        this.start = start;
        this.size = size;
        this.stream = stream;
    }

    /** The file at {@code path}, which must be there and no directory. A pipe is not opened yet. */
    public static InputFile of(Path path) {
        String name = path.toString();
        if (name.isEmpty()) throw FileFault.missing("\"\"");
        try {
            BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
            if (found.isDirectory()) throw FileFault.directory(name);
            if (!Files.isReadable(path)) throw new AccessDeniedException(name);
            if (!found.isRegularFile()) return new InputFile(name, path, false, null, true, 0, found.size(), null);
            byte[] head;
            try (InputStream in = Files.newInputStream(path)) {
                head = in.readNBytes(Unpacking.MAGIC_BYTES);
            }
            String packing = Unpacking.packing(head);
            // The system's files in /proc have contents but no size.
            boolean sizeless = found.size() == 0 && head.length > 0;
            return new InputFile(name, path, true, packing, packing != null || sizeless, 0, found.size(), null);
        } catch (IOException e) {
            throw FileFault.of(e, name, 0);
        }
    }

    /** The contents of {@code in}, which is called {@code name} in errors. They can be read once. */
    public static InputFile of(String name, InputStream in) {
        return new InputFile(name, null, false, null, true, 0, 0, in);
    }

    /** As {@link #of(String, InputStream)}, for contents that are not to be unpacked, whatever their first bytes are. */
    public static InputFile ofPlain(String name, InputStream in) {
        InputFile file = of(name, in);
        file.unpacked = true;
        return file;
    }

    /** Returns how a file that begins with {@code head} is compressed, such as "gzip", or null. Six bytes are enough. */
    public static String packingOf(byte[] head) {
        return Unpacking.packing(head);
    }

    /** The standard input of the process, which is called "-". */
    public static InputFile standardInput() {
        return of("-", new FileInputStream(FileDescriptor.in));
    }

    /** This file, of which only the bytes [from, to) are read. It must be one that is read by position. */
    public InputFile between(long from, long to) {
        return new InputFile(name, path, true, null, false, from, Math.min(size, to) - from, null);
    }

    /** This file without the first {@code n} of the bytes that it unpacks to. It must be one that can be read more than once. */
    public InputFile without(long n) {
        return serial ? new InputFile(name, path, true, packing, true, n, size, null) : between(n, size);
    }

    /** Returns how many unpacked bytes are skipped at the beginning. */
    public long start() {
        return start;
    }

    /** Returns what the file is called in errors. */
    public String name() {
        return name;
    }

    /**
     * Allows other bytes after the file's last gzip member, which are an error otherwise. They are left out, and {@link #leftOut} returns
     * their number. Returns this file.
     */
    public synchronized InputFile leavingOutRests() {
        leavesOutRests = true;
        return this;
    }

    /** Returns how many bytes were left out when the file was read to its end, 0 if none. */
    public long leftOut() {
        return leftOut;
    }

    /** Returns how many bytes were there to be read when this object was made; compressed ones if it is compressed. */
    public long size() {
        return size;
    }

    /** Returns whether the file can only be read from its beginning to its end: it is compressed, a pipe or a device. */
    public boolean isSerial() {
        return serial;
    }

    /** Returns whether the file can be read more than once. */
    public boolean isRepeatable() {
        return regular;
    }

    /** Returns how the file is compressed, such as "gzip", or null if it isn't or is a pipe. */
    public String packing() {
        return packing;
    }

    /** Returns the first {@code n} bytes, unpacked, or all if there are fewer. What they belong to can still be read. */
    public synchronized byte[] head(int n) {
        try {
            if (regular) {
                try (InputStream in = openAnew()) {
                    return in.readNBytes(n);
                }
            }
            BufferedInputStream in = new BufferedInputStream(open(), Math.max(n, BUFFER_BYTES));
            in.mark(n);
            byte[] head = in.readNBytes(n);
            in.reset();
            stream = in;
            unpacked = true;
            return head;
        } catch (IOException | RuntimeException e) {
            throw FileFault.of(e, name, 0);
        }
    }

    /** Returns the {@code n} bytes at {@code position}, or fewer at the end, of a file that is read by position. */
    public byte[] bytesAt(long position, int n) {
        try (FileChannel channel = channel()) {
            ByteBuffer bytes = ByteBuffer.allocate(n);
            while (bytes.hasRemaining() && channel.read(bytes, position + bytes.position()) > 0) {}
            return Arrays.copyOf(bytes.array(), bytes.position());
        } catch (IOException e) {
            throw FileFault.of(e, name, position);
        }
    }

    /** Opens the unpacked contents. The caller closes the stream. May wait for the first bytes of a pipe. */
    synchronized InputStream open() throws IOException {
        if (path != null && stream == null) return openAnew();
        if (stream == null) throw new IOException("a stream can't be read twice");
        InputStream in = stream;
        stream = null;
        return unpacked ? in : unpacked(in);
    }

    private InputStream openAnew() throws IOException {
        InputStream raw = regular ? Files.newInputStream(path) : openPipe();
        try {
            InputStream in = unpacked(raw);
            in.skipNBytes(start);
            return in;
        } catch (Throwable t) { // thrown again; the file must not stay open
            raw.close();
            throw t;
        }
    }

    private InputStream unpacked(InputStream in) throws IOException {
        return Unpacking.unpacked(
                name, new BufferedInputStream(in, BUFFER_BYTES), leavesOutRests ? n -> leftOut = n : null);
    }

    /** Opens a channel for reads by position. */
    FileChannel channel() throws IOException {
        return FileChannel.open(path);
    }

    /** Opens a file that may make its reader wait for ever, so that an interrupt ends the wait. */
    private InputStream openPipe() throws IOException {
        return new FilterInputStream(Channels.newInputStream(FileChannel.open(path))) {
            // On JDK 21 a channel's stream would look for its position, which a pipe has not.
            @Override
            public int available() {
                return 0;
            }
        };
    }
}
