// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Searching bytes, eight at a time. */
final class Bytes {
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOW = 0x0101010101010101L;
  private static final long HIGH = 0x8080808080808080L;
  private static final long LINE_FEEDS = LOW * '\n';
  private static final long CARRIAGE_RETURNS = LOW * '\r';

  private Bytes() { }

  /** Has the high bit of each byte of {@code x} that is zero, and of none before the first such; later ones may err. */
  private static long zeroBytes(long x) {
    return (x - LOW) & ~x & HIGH;
  }

  /** Where the first line feed or carriage return in [at, end) is, or {@code end}. */
  static int indexOfLineEnd(byte[] bytes, int at, int end) {
    for (; at + 8 <= end; at += 8) {
      long word = (long) LONG.get(bytes, at);
      long found = zeroBytes(word ^ LINE_FEEDS) | zeroBytes(word ^ CARRIAGE_RETURNS);
      if (found != 0) return at + (Long.numberOfTrailingZeros(found) >>> 3);
    }
    while (at < end && bytes[at] != '\n' && bytes[at] != '\r') at++;
    return at;
  }

  /** Where the first {@code wanted} in [at, end) is, or {@code end}. */
  static int indexOf(byte[] bytes, int at, int end, byte wanted) {
    long pattern = LOW * (wanted & 0xff);
    for (; at + 8 <= end; at += 8) {
      long found = zeroBytes((long) LONG.get(bytes, at) ^ pattern);
      if (found != 0) return at + (Long.numberOfTrailingZeros(found) >>> 3);
    }
    while (at < end && bytes[at] != wanted) at++;
    return at;
  }

  /** Where the first {@code wanted} that lies wholly in [at, end) begins, or {@code end}. */
  static int indexOf(byte[] bytes, int at, int end, byte[] wanted) {
    int last = end - wanted.length;
    for (int i = at; i <= last; i++) {
      i = indexOf(bytes, i, end, wanted[0]);
      if (i > last) break;
      if (java.util.Arrays.equals(bytes, i, i + wanted.length, wanted, 0, wanted.length)) return i;
    }
    return end;
  }
}
