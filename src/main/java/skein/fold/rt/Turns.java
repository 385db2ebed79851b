// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.util.concurrent.locks.ReentrantLock;

/** Taking turns at what one thread at a time may use. */
final class Turns {
  private Turns() { }

  /** Waits for {@code turn}; an interrupt ends that, as whoever has the turn may be waiting for ever. */
  static void await(ReentrantLock turn) {
    try {
      turn.lockInterruptibly();
    } catch (InterruptedException e) {
      throw Sneaky.raise(e);
    }
  }
}
