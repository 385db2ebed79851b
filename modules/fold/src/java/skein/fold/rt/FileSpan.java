// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import skein.fold.spi.Slice;
import skein.fold.spi.Span;

/**
 * A regular file as records, read by position. A part of it owns the records whose first byte lies in it: it looks at the bytes
 * just before it to know where the first one begins, and reads past its end to finish the last one.
 *
 * <p>The size is taken when the fold begins: what is appended later is not seen, and a file that becomes shorter is an
 * error. Reads go into a {@code byte[]} rather than through a mapping, so that this error is an exception and not a fault of the
 * process. The file is opened when it is first read, and closed when all of it has been.
 */
public final class FileSpan implements Span {
  static final int MIN_BLOCK = 4096;
  private static final int MAX_READ_BYTES = 1 << 18;
  private static final int MAX_BUFFER = Integer.MAX_VALUE - 16 - Slice.PAD;

  private final Path path;
  private final Format format;
  private final long size;
  private final AtomicLong done = new AtomicLong();
  private final ConcurrentLinkedQueue<byte[]> buffers;
  private FileChannel channel;  // guarded by this; null: not open

  /** The file at {@code path}, which must be there and no directory. */
  public FileSpan(Path path, Format format) {
    this(path, format, new ConcurrentLinkedQueue<>());
  }

  FileSpan(Path path, Format format, ConcurrentLinkedQueue<byte[]> buffers) {
    this.path = path;
    this.format = format;
    this.buffers = buffers;
    size = sizeOf(path);
  }

  static long sizeOf(Path path) {
    try {
      BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
      if (found.isDirectory()) throw FileFault.directory(path.toString());
      if (!Files.isReadable(path)) throw new AccessDeniedException(path.toString());
      return found.size();
    } catch (IOException e) {
      throw FileFault.of(e, path.toString(), 0);
    }
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public String unit() {
    return "bytes";
  }

  @Override
  public long minBlock() {
    return MIN_BLOCK;
  }

  @Override
  public Object reduce(IFn step, Object acc, long from, long to) {
    if (from >= to) return acc;
    byte[] spare = buffers.poll();
    Block block = new Block(spare == null ? new byte[0] : spare);
    try {
      if (block.read(from, to)) {
        acc = format.reduce(step, acc, block.bytes, block.first, block.end, block.base + block.first);
      }
    } finally {
      buffers.add(block.bytes);
    }
    if (done.addAndGet(to - from) == size) close();
    return acc;
  }

  @Override
  public synchronized void close() {
    if (channel == null) return;
    try {
      channel.close();
    } catch (IOException e) {
      throw FileFault.of(e, path.toString(), size);
    } finally {
      channel = null;
    }
  }

  private synchronized FileChannel open() throws IOException {
    if (channel == null || !channel.isOpen()) channel = FileChannel.open(path, StandardOpenOption.READ);
    return channel;
  }

  /** A part of the file in a buffer. */
  private final class Block {
    byte[] bytes;  // of the file from base on
    long base;
    int have;
    int first;
    int end;

    Block(byte[] bytes) {
      this.bytes = bytes;
    }

    /** Reads the records that begin in [from, to) to bytes[first, end); whether there are any. */
    boolean read(long from, long to) {
      int behind = format.lookBehind();
      base = Math.max(0, from - behind);
      int owned = index(to);
      fill((int) Math.min(owned + (long) MIN_BLOCK, size - base), 0);
      first = from == 0 ? 0 : firstStart(index(from), owned);
      if (first < 0 || first >= owned) return false;
      if (to == size) {
        end = owned;
        return true;
      }
      int at = Math.max(owned, format.lookBehind());
      while ((end = format.nextStart(bytes, at, have, base + have == size)) < 0) grow();
      return true;
    }

    /** Where in the buffer {@code position} of the file lies. */
    private int index(long position) {
      long index = position - base;
      if (index > MAX_BUFFER) throw FileFault.tooLong(path.toString(), base);
      return (int) index;
    }

    /** Where the first record begins at {@code at} or behind, if that is before {@code owned}; else something else. */
    private int firstStart(int at, int owned) {
      // Near the start of the file there may be fewer bytes before it than a delimiter has.
      int from = Math.max(at, format.lookBehind());
      // A byte more, since a carriage return in the last place may belong to a line feed behind it.
      int known = Math.min(have, owned + 1);
      return format.nextStart(bytes, from, known, base + known == size);
    }

    private void grow() {
      long wanted = Math.min(2L * have, size - base);
      if (wanted > MAX_BUFFER) throw FileFault.tooLong(path.toString(), base + first);
      fill((int) wanted, have);
    }

    private void fill(int wanted, int kept) {
      try {
        if (bytes.length < wanted + Slice.PAD) bytes = Arrays.copyOf(kept == 0 ? new byte[0] : bytes, wanted + Slice.PAD);
      } catch (OutOfMemoryError e) {
        throw FileFault.tooLong(path.toString(), base + first);
      }
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      for (int at = kept; at < wanted; ) {
        buffer.limit(Math.min(wanted, at + MAX_READ_BYTES)).position(at);
        at += readAt(buffer, base + at);
      }
      have = wanted;
    }

    private int readAt(ByteBuffer buffer, long position) {
      for (;;) {
        try {
          int n = open().read(buffer, position);
          if (n <= 0) throw FileFault.truncated(path.toString(), position);
          return n;
        } catch (ClosedByInterruptException e) {
          throw FileFault.of(e, path.toString(), position);
        } catch (ClosedChannelException e) {
          // An interrupt of one reader closes the channel for all; the others open it again.
        } catch (IOException e) {
          throw FileFault.of(e, path.toString(), position);
        }
      }
    }
  }
}
