// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import skein.fold.spi.Span;

/**
 * Several files, one after the other, each divided into records on its own. A compressed file, or a pipe, can't be read from the
 * middle, so it belongs as a whole to whoever has its first byte; several of them are read in parallel.
 */
public final class FilesSpan implements Span {
  private final Path[] paths;
  private final Format format;
  private final long[] starts;     // in all files together, where one of unknown size has one byte; one more than there are files
  private final FileSpan[] spans;  // null for one that is read as a stream
  private final long streams;      // how many of them there are

  /** The files at {@code paths}, which must be there. */
  public FilesSpan(List<Path> paths, Format format) {
    this.paths = paths.toArray(new Path[0]);
    this.format = format;
    starts = new long[paths.size() + 1];
    spans = new FileSpan[paths.size()];
    ConcurrentLinkedQueue<byte[]> buffers = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < spans.length; i++) {
      Path path = this.paths[i];
      if (!StreamFeed.isNeeded(path)) spans[i] = new FileSpan(path, format, buffers);
      starts[i + 1] = starts[i] + (spans[i] == null ? Math.max(1, FileSpan.sizeOf(path)) : spans[i].size());
    }
    streams = Arrays.stream(spans).filter(Objects::isNull).count();
  }

  @Override
  public long size() {
    return starts[spans.length];
  }

  @Override
  public String unit() {
    return "bytes";
  }

  @Override
  public long minBlock() {
    // Of a compressed file the first byte stands for all.
    return isCoarse() ? 1 : FileSpan.MIN_BLOCK;
  }

  @Override
  public boolean isCoarse() {
    return streams > 1;
  }

  @Override
  public Object reduce(IFn step, Object acc, long from, long to) {
    int first = Arrays.binarySearch(starts, from);
    for (int i = first < 0 ? -2 - first : first; i < spans.length && starts[i] < to; i++) {
      long start = Math.max(from, starts[i]) - starts[i];
      long end = Math.min(to, starts[i + 1]) - starts[i];
      if (spans[i] != null) {
        acc = spans[i].reduce(step, acc, start, end);
      } else if (start == 0 && end > 0) {
        acc = readOn(step, acc, paths[i]);
      }
      if (acc instanceof Reduced) return acc;
    }
    return acc;
  }

  private Object readOn(IFn step, Object acc, Path path) {
    try (StreamFeed feed = StreamFeed.ofFile(path, format)) {
      while (!(acc instanceof Reduced) && !feed.exhausted()) {
        if (Thread.interrupted()) throw FileFault.interrupted(path.toString());
        acc = feed.reduce(step, acc, Integer.MAX_VALUE);
      }
      return acc;
    }
  }

  @Override
  public void close() {
    for (FileSpan span : spans) if (span != null) span.close();
  }
}
