// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;

/** A stream of bytes as records, in blocks of whole ones: unpacking is serial, what is done with the records is not. */
public final class StreamFeed implements Feed {
  private static final int MIN_BLOCK = 1 << 12;
  private static final int MAX_BLOCK = 1 << 17;
  private static final int MAX_BUFFER = Integer.MAX_VALUE - 16 - Slice.PAD;

  private final String name;
  private final InputStream stream;
  private final Format format;
  private byte[] bytes = {};
  private int have;        // bytes read and not handed out
  private long position;   // of the first of them in the stream
  private boolean ended;

  /** @param name what to call the stream in an error */
  public StreamFeed(String name, InputStream stream, Format format) {
    this.name = name;
    this.stream = stream;
    this.format = format;
  }

  /** Whether a file is compressed, going by its name. */
  public static boolean isCompressed(Path path) {
    return Unpacking.isPacked(path);
  }

  /** The contents of a compressed file. */
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
    if (have == 0 && !ended) {
      reserve(MIN_BLOCK);
      fill();
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
    reserve(Math.clamp(n, MIN_BLOCK, MAX_BLOCK));
    int end;
    while ((end = lastStart()) <= 0) grow();
    byte[] full = bytes;
    Span block = new BytesSpan(full, end, position, format);
    bytes = Arrays.copyOfRange(full, end, have);
    have -= end;
    position += end;
    return block;
  }

  /** Makes room for {@code n} bytes, or for those there are. */
  private void reserve(int n) {
    int length = Math.max(n, have) + Slice.PAD;
    if (bytes.length < length) bytes = Arrays.copyOf(bytes, length);
  }

  /** Where the last record begins of which more may come, or the end of the stream; 0 if that is the only one. */
  private int lastStart() {
    while (have < bytes.length - Slice.PAD && !ended) fill();
    if (ended) return have;
    // From the end backwards, in steps that double, for the last place where a record begins.
    for (int back = 256; ; back *= 4) {
      int from = Math.max(format.lookBehind(), have - back);
      int last = -1;
      for (int at = from; at <= have && (at = format.nextStart(bytes, at, have, false)) >= 0; at++) last = at;
      if (last > 0) return last;
      if (from == format.lookBehind()) return 0;
    }
  }

  private void grow() {
    if (bytes.length > MAX_BUFFER / 2) throw FileFault.tooLong(name, position);
    bytes = Arrays.copyOf(bytes, 2 * bytes.length);
  }

  private void fill() {
    try {
      int n = stream.read(bytes, have, bytes.length - Slice.PAD - have);
      if (n < 0) ended = true; else have += n;
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
