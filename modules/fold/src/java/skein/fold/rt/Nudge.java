// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

/**
 * An interrupt of our own, for a thread that does what nobody wants; it is taken back when the thread has left that. To the thread
 * of a {@link Host} the guest's interrupts come the same way, and one that comes between the two must not be taken back.
 *
 * <p>Guarded by whoever has it; a thread is guarded by its monitor, so that nothing comes between a flag and what is known of it.
 */
final class Nudge {
  /** A thread that gets interrupts on behalf of another one. */
  static final class Proxy extends Thread {
    private int passedOn;  // guarded by this

    Proxy(Runnable work, String name) {
      super(null, work, name, 0, false);
    }

    /** Passes on an interrupt that was somebody's. */
    synchronized void passOn() {
      passedOn++;
      interrupt();
    }
  }

  private Thread thread;  // null: not sent
  private int before;     // what it had been passed on then

  boolean isSent() {
    return thread != null;
  }

  /** Interrupts {@code to}, unless it is: that is somebody else's, and must not be taken for ours. */
  void send(Thread to) {
    synchronized (to) {
      if (thread != null || to.isInterrupted()) return;
      thread = to;
      before = passedOn();
      to.interrupt();
    }
  }

  /** By the thread that may have got it. */
  void takeBack() {
    if (thread == null) return;
    synchronized (thread) {
      Thread.interrupted();
      if (passedOn() != before) thread.interrupt();
    }
    thread = null;
  }

  private int passedOn() {
    return thread instanceof Proxy proxy ? proxy.passedOn : 0;
  }
}
