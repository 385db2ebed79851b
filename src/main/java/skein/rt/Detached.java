// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.concurrent.atomic.AtomicInteger;

/** A virtual thread for one step of one frame, or one callback, that would otherwise wait behind blocked ones. */
final class Detached extends Runner implements Runnable {
  private static final AtomicInteger NOT_BEGUN = new AtomicInteger();

  private Runnable work;

  private Detached(Runnable work) {
    this.work = work;
  }

  /** How many have been started and wait for a carrier. */
  static int notBegun() {
    return NOT_BEGUN.get();
  }

  static void start(Runnable work) {
    NOT_BEGUN.incrementAndGet();
    Scheduler.start(new Detached(work), true, "skein-spilled");
  }

  @Override public void run() {
    NOT_BEGUN.decrementAndGet();
    enter();
    Runnable mine = work;
    work = null; // a frame that parks still knows this runner
    if (mine instanceof Frame f) f.resume(this);
    else mine.run();
    installed = null;
  }

  @Override void ready(Frame frame) {
    Scheduler.submit(frame);
  }
}
