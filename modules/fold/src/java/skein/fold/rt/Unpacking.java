// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** Compressed files, known by their names: gzip by Java itself, Zstandard by a library that the user's program may have. */
final class Unpacking {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final String ZSTD = "com.github.luben.zstd.ZstdInputStream";

  private Unpacking() { }

  static boolean isPacked(Path path) {
    String name = path.toString();
    return name.endsWith(".gz") || name.endsWith(".zst");
  }

  /** What the file at {@code path} unpacks to, which is itself if it isn't compressed. */
  static InputStream open(Path path) throws IOException {
    InputStream raw = Files.isRegularFile(path) ? Files.newInputStream(path) : openPipe(path);
    if (!isPacked(path)) return raw;
    try {
      return path.toString().endsWith(".gz") ? new GzipStream(raw, BUFFER_BYTES) : unzstd(path, raw);
    } catch (Throwable t) {  // thrown again; the file must not stay open
      raw.close();
      throw t;
    }
  }

  /** Opens what may make its reader wait for ever, so that an interrupt ends that. */
  private static InputStream openPipe(Path path) throws IOException {
    return new FilterInputStream(Channels.newInputStream(FileChannel.open(path))) {
      // On JDK 21 a channel's stream would look for its position, which a pipe has not.
      @Override
      public int available() {
        return 0;
      }
    };
  }

  private static InputStream unzstd(Path path, InputStream raw) throws IOException {
    try {
      return (InputStream) Class.forName(ZSTD).getConstructor(InputStream.class).newInstance(new ZstdFrames(raw));
    } catch (ClassNotFoundException e) {
      throw FileFault.noUnpacker(path.toString(), "com.github.luben/zstd-jni");
    } catch (ReflectiveOperationException e) {
      throw new IOException(e);
    }
  }
}
