// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;
import clojure.lang.RT;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A thread that blocks in {@code <!!}, {@code >!!} or {@code alts!!}.
 *
 * <pre>
 *   WAITING -> DONE        complete() stored the result
 * </pre>
 *
 * An interrupted thread withdraws its waiter under the channel's lock. If it is too late for that, the
 * operation has happened: the thread returns its result, with the interrupt flag set again.
 */
final class ThreadWaiter extends Waiter {
  /** How often the result is looked for before the thread parks: some 10 microseconds. */
  private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 400 : 0;

  private final Thread thread = Thread.currentThread();
  private BooleanSupplier withdrawal; // of an alts; set before it can be claimed
  private volatile boolean done; // volatile: publishes value to the waiting thread

  @Override void complete(Object result, Runner runner) {
    value = result;
    done = true;
    LockSupport.unpark(thread);
  }

  /** Waits for the result; {@code withdraw} says whether an interrupted wait could still be undone. */
  Object await(BooleanSupplier withdraw) throws InterruptedException {
    for (int i = 0; i < SPINS && !done; i++) Thread.onSpinWait();
    if (!done) {
      Runner.beforeBlocking();
      while (!done) {
        if (Thread.interrupted()) {
          if (withdraw.getAsBoolean()) throw new InterruptedException();
          awaitImminent();
          Thread.currentThread().interrupt();
          break;
        }
        LockSupport.park(this);
      }
    }
    return value;
  }

  /** Waits for the result of an alts. */
  Object await() throws InterruptedException {
    return await(withdrawal);
  }

  void withdrawal(BooleanSupplier withdraw) {
    withdrawal = withdraw;
  }

  @Override public void withdrawal(IFn withdraw) {
    withdrawal = () -> RT.booleanCast(withdraw.invoke());
  }

  /** Whoever claimed the operation is about to complete it. */
  private void awaitImminent() {
    while (!done) Thread.yield();
  }
}
