// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What the caller's thread does between two blocks. A virtual thread that computes keeps its carrier until it parks, so it
 * parks now and then; to yield is not enough. A carrier looks for other work only when it finds none where it found the last: so
 * no more folds than there are carriers take turns at them at a time, each with a seat, and the others wait for one.
 */
final class Pauses {
  /** How long a virtual thread may keep its carrier; to come back to it takes some 20 us. */
  private static final long SLICE_NANOS = 1_000_000;
  /** A block that takes so long has waited for something rather than computed. */
  private static final long WAITED_NANOS = 100 * SLICE_NANOS;
  /** How long to wait for a seat, and for each who waits already: who has one may itself wait, perhaps for the fold that wants it. */
  private static final long PATIENCE_MILLIS = 20;
  private static final long PATIENCE_FOR_EACH_MILLIS = 20;
  private static final Semaphore SEATS = new Semaphore(Crew.PROCESSORS, true);
  /** Who took the seat that the thread has; a fold that a step calls has that of the fold around it. */
  private static final ThreadLocal<Pauses> SEATED = new ThreadLocal<>();

  private long since;        // when this thread got its carrier
  private boolean wasSeated;

  Pauses(long now) {
    since = now;
  }

  /** Ends the fold if somebody has interrupted the thread; leaves the carrier to others if it is time. */
  void pause() {
    if (Thread.interrupted()) throw Sneaky.raise(interruption());
    if (!Thread.currentThread().isVirtual()) return;
    long nanos = System.nanoTime() - since;
    if (nanos < SLICE_NANOS) return;
    LockSupport.parkNanos(this, 1);
    if (nanos < WAITED_NANOS) changeSeats();
    since = System.nanoTime();
  }

  /** Gives the seat, if there is one, to who has waited longest, and waits for another. */
  private void changeSeats() {
    Pauses owner = SEATED.get();
    if (owner != null) owner.stand();
    try {
      long patience = PATIENCE_MILLIS + PATIENCE_FOR_EACH_MILLIS * SEATS.getQueueLength();
      if (SEATS.tryAcquire(patience, TimeUnit.MILLISECONDS)) (owner == null ? this : owner).sit();
    } catch (InterruptedException e) {
      throw Sneaky.raise(e);
    }
  }

  private void sit() {
    wasSeated = true;
    SEATED.set(this);
  }

  private void stand() {
    SEATED.remove();
    SEATS.release();
  }

  /** The thread goes on with other things. */
  void end() {
    if (wasSeated && SEATED.get() == this) stand();
  }

  static InterruptedException interruption() {
    return new InterruptedException("interrupted while folding");
  }
}
