// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.nio.charset.Charset;
import java.util.Arrays;

/**
 * Some whole records of a file in a buffer: {@code bytes[from, to)}. At least {@link #PAD} more bytes can be read behind them.
 * The buffer is used again once the step that got the slice has returned; what is wanted for longer must be copied.
 */
public final class Slice {
  /** How many bytes behind {@link #to} there are, with anything in them. */
  public static final int PAD = 32;

  /** The buffer. */
  public final byte[] bytes;
  /** Where the first record begins. */
  public final int from;
  /** Where the last record ends, its delimiter included if it has one. */
  public final int to;
  /** Where the first record begins in the file or stream, in bytes. */
  public final long position;

  Slice(byte[] bytes, int from, int to, long position) {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
    this.position = position;
  }

  /** How many bytes the records have. */
  public int length() {
    return to - from;
  }

  /** The records' bytes, copied. */
  public byte[] copy() {
    return Arrays.copyOfRange(bytes, from, to);
  }

  /** The records as text. */
  public String text(Charset charset) {
    return new String(bytes, from, to - from, charset);
  }
}
