// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells a callback how many units are done: at most once in {@link #INTERVAL_NANOS}, by one thread at a time, and once in the
 * end. What the callback throws ends the fold.
 */
public final class Progress {
  /** The shortest time between two reports. */
  public static final long INTERVAL_NANOS = 50_000_000;

  private final IFn callback;
  private final long total;
  private final AtomicLong done = new AtomicLong();
  private final AtomicBoolean telling = new AtomicBoolean();
  private volatile long last = System.nanoTime();  // written by whoever is telling

  /**
   * @param callback of two arguments: units done, units in all or nil
   * @param total units in all, or -1 when nobody knows
   */
  public Progress(IFn callback, long total) {
    this.callback = callback;
    this.total = total;
  }

  void add(long units, long now) {
    done.addAndGet(units);
    if (now - last < INTERVAL_NANOS || !telling.compareAndSet(false, true)) return;
    try {
      last = now;
      tell();
    } finally {
      telling.set(false);
    }
  }

  /** The last report, when no thread works any more. */
  void finish() {
    tell();
  }

  private void tell() {
    callback.invoke(done.get(), total < 0 ? null : (Object) total);
  }
}
