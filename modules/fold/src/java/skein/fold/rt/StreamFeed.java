// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import skein.fold.spi.Feed;
import skein.fold.spi.Slice;
import skein.fold.spi.Span;

/**
 * A stream of bytes as records, in blocks of whole ones: unpacking is serial, what is done with the records is not. When the
 * stream would make it wait, it hands out the whole ones that are there.
 */
public final class StreamFeed implements Feed {
  private static final int MIN_BLOCK = 1 << 12;
  private static final int MAX_BLOCK = 1 << 17;
  private static final int MAX_BUFFER = Integer.MAX_VALUE - 16 - Slice.PAD;

  private final String name;
  private final InputStream stream;
  private final Format format;
  private byte[] bytes = {};
  private int have;       // bytes read and not handed out
  private int searched;   // before this one no record begins but at the first
  private long position;  // of the first of them in the stream
  private boolean ended;

  /** @param name what to call the stream in an error */
  public StreamFeed(String name, InputStream stream, Format format) {
    this.name = name;
    this.stream = stream;
    this.format = format;
  }

  /**
   * Whether a file, which must be there, can't be read by position: it is compressed, going by its name, or a pipe or device,
   * or one that has no size but contents, as the system makes them in /proc.
   */
  public static boolean isNeeded(Path path) {
    if (Unpacking.isPacked(path)) return true;
    long size = FileSpan.sizeOf(path);
    return !Files.isRegularFile(path) || size == 0 && !isEmpty(path);
  }

  private static boolean isEmpty(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return in.read() < 0;
    } catch (IOException e) {
      throw FileFault.of(e, path.toString(), 0);
    }
  }

  /** The contents of such a file. */
  public static StreamFeed ofFile(Path path, Format format) {
    FileSpan.sizeOf(path);
    try {
      return new StreamFeed(path.toString(), Unpacking.open(path), format);
    } catch (IOException e) {
      throw FileFault.of(e, path.toString(), 0);
    }
  }

  @Override
  public boolean exhausted() {
    while (have == 0 && !ended) {
      reserve(MIN_BLOCK);
      fill(MIN_BLOCK);
    }
    return have == 0;
  }

  @Override
  public long taken() {
    return position;
  }

  @Override
  public int maxBlock() {
    return MAX_BLOCK;
  }

  @Override
  public String unit() {
    return "bytes";
  }

  @Override
  public Span next(int n) {
    if (exhausted()) return null;
    int end = read(Math.max(have, Math.clamp(n, MIN_BLOCK, MAX_BLOCK)));
    Span block = new BytesSpan(cutOff(end), end, position, format);
    have -= end;
    searched = have;
    position += end;
    return block;
  }

  /** Reads about {@code n} bytes, fewer if it would have to wait, but one whole record; returns where the last one ends. */
  private int read(int n) {
    reserve(n);
    while (!ended) {
      boolean full = have == n;
      if (full || wouldWait()) {
        int start = lastStart();
        if (start > 0) return start;
      }
      if (full) reserve(n = twice(n));
      fill(n);
    }
    return have;
  }

  /** Whether reading may take long. */
  private boolean wouldWait() {
    try {
      return stream.available() == 0;
    } catch (IOException e) {
      return true;  // whoever reads will see what it is
    }
  }

  /** Makes room for {@code n} bytes. */
  private void reserve(int n) {
    if (bytes.length < n + Slice.PAD) bytes = Arrays.copyOf(bytes, n + Slice.PAD);
  }

  private int twice(int n) {
    if (n > MAX_BUFFER / 2) throw FileFault.tooLong(name, position);
    return 2 * n;
  }

  /** Where the last record begins of which more may come; 0 if that is the first one. */
  private int lastStart() {
    int first = Math.max(format.lookBehind(), searched);
    // From the end backwards, in steps that become longer, for the last place where a record begins.
    for (long back = 256; ; back *= 4) {
      int from = (int) Math.max(first, have - back);
      int last = -1;
      for (int at = from; at <= have && (at = format.nextStart(bytes, at, have, false)) >= 0; at++) last = at;
      if (last > 0) return last;
      if (from == first) break;
    }
    searched = have;
    return 0;
  }

  /** Takes the first {@code n} bytes out of the buffer; returns an array that begins with them. */
  private byte[] cutOff(int n) {
    byte[] cut;
    if (n < bytes.length / 4 && bytes.length <= MAX_BLOCK + Slice.PAD) {
      cut = Arrays.copyOf(bytes, n + Slice.PAD);
      System.arraycopy(bytes, n, bytes, 0, have - n);
    } else {
      cut = bytes;
      bytes = Arrays.copyOfRange(bytes, n, have);
    }
    return cut;
  }

  /** Reads what there is until there are {@code n} bytes. */
  private void fill(int n) {
    try {
      int read = stream.read(bytes, have, n - have);
      if (read < 0) ended = true; else have += read;
    } catch (IOException e) {
      throw FileFault.of(e, name, position + have);
    }
  }

  @Override
  public void close() {
    try {
      stream.close();
    } catch (IOException e) {
      throw FileFault.of(e, name, position);
    }
  }

  /** One block. */
  private record BytesSpan(byte[] bytes, int end, long position, Format format) implements Span {
    @Override
    public long size() {
      return end;
    }

    @Override
    public Object reduce(IFn step, Object acc, long from, long to) {
      return format.reduce(step, acc, bytes, 0, end, position);
    }
  }
}
