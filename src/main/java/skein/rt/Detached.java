// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** A virtual thread for one step of one frame, or one callback, that would otherwise wait behind blocked ones. */
final class Detached extends Runner implements Runnable {
  private final Runnable work;

  Detached(Runnable work) {
    this.work = work;
  }

  @Override public void run() {
    enter();
    if (work instanceof Frame f) f.resume(this);
    else work.run();
  }

  @Override void ready(Frame frame) {
    Scheduler.submit(frame);
  }
}
