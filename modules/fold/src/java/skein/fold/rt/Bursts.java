// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

/**
 * How many elements to read at a time from a source that makes its reader wait. It may wait for what the steps on those do that
 * have been read; then a block of more than come at a time is not full before others have taken what is in it, a millisecond late.
 */
final class Bursts {
  /** How many blocks to read, at the most, until longer ones are tried again. */
  private static final int MOST_CALM = 128;

  private int limit = Integer.MAX_VALUE;  // guarded by this
  private int calm = 1;                   // guarded by this; how many blocks to read before longer ones are tried
  private int blocks;                     // guarded by this; how many have been, since others last took what was in one

  /** How many elements to read of {@code n} that are wanted. */
  synchronized int next(int n) {
    if (limit < n && blocks++ >= calm) limit = Integer.MAX_VALUE;
    return Math.min(n, limit);
  }

  /** Others had to come for {@code n} elements, since the reader waits. */
  synchronized void taken(long n) {
    limit = Math.clamp(n / 2, 1, Integer.MAX_VALUE);
    calm = Math.min(2 * calm, MOST_CALM);
    blocks = 0;
  }
}
