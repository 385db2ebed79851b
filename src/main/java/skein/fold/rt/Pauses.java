// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.util.concurrent.locks.LockSupport;

/**
 * What the caller's thread does between two blocks. A virtual thread that computes keeps its carrier until it parks; to yield
 * is not enough, as a carrier goes on with those that have yielded before it looks for others. So it parks now and then.
 */
final class Pauses {
  /** How long a virtual thread may keep its carrier; to come back to it takes some 20 us. */
  private static final long SLICE_NANOS = 1_000_000;

  private long since;  // when this thread got its carrier

  Pauses(long now) {
    since = now;
  }

  /** Ends the fold if somebody has interrupted the thread; leaves the carrier to others if it is time. */
  void pause() {
    if (Thread.interrupted()) throw Sneaky.raise(interruption());
    if (Thread.currentThread().isVirtual()) leaveCarrier();
  }

  private void leaveCarrier() {
    if (System.nanoTime() - since < SLICE_NANOS) return;
    LockSupport.parkNanos(this, 1);
    since = System.nanoTime();
  }

  static InterruptedException interruption() {
    return new InterruptedException("interrupted while folding");
  }
}
