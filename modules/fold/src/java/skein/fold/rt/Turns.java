// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Taking turns at a source that one thread at a time may use, and which may make that thread wait for ever.
 *
 * <p>Whoever has the turn and is alone must step on each element before it waits for another; whoever is not may leave that to
 * the others, who look now and then for what it has read.
 */
final class Turns {
  /** Most have the turn for a few microseconds, in which a thread can't even fall asleep. */
  private static final int SPINS = 200;
  /** How long to wait for the turn before looking for what whoever has it has read; longer each time there is nothing. */
  private static final long PATIENCE_NANOS = 1_000_000;
  private static final long MOST_PATIENCE_NANOS = 16_000_000;

  private final ReentrantLock turn = new ReentrantLock();
  private final AtomicInteger present = new AtomicInteger();

  /** The calling thread will look for work until it leaves, as it does when no more of the source is wanted. */
  void enter() {
    present.incrementAndGet();
  }

  void leave() {
    present.decrementAndGet();
  }

  /** Whether nobody else would look for what the calling thread reads. */
  boolean alone() {
    return present.get() == 1;
  }

  /** Takes the turn if nobody has it. */
  boolean take() {
    return turn.tryLock();
  }

  /**
   * Waits for the turn, or until {@code ready} gives something else to do; an interrupt ends that if it has to wait for long.
   *
   * @param nanos how long to wait before {@code ready} is asked, at the least
   * @return what it gave, or null: it is the calling thread's turn
   */
  <T> T await(Supplier<T> ready, long nanos) {
    for (int i = 0; i < SPINS; i++) {
      if (turn.tryLock()) return null;
      Thread.onSpinWait();
    }
    try {
      for (long patience = PATIENCE_NANOS; !turn.tryLock(Math.clamp(nanos, patience, MOST_PATIENCE_NANOS), TimeUnit.NANOSECONDS); ) {
        T found = ready.get();
        if (found != null) return found;
        patience = Math.min(2 * patience, MOST_PATIENCE_NANOS);
      }
      return null;
    } catch (InterruptedException e) {
      throw Sneaky.raise(e);
    }
  }

  void end() {
    turn.unlock();
  }
}
