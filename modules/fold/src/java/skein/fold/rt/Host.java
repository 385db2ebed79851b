// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.RT;
import clojure.lang.Var;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import skein.thread.Shared;

/**
 * A platform thread's work for one that others need (see {@link Shared}), the guest, which waits for it. The host has the
 * guest's bindings, and whoever interrupts the guest interrupts the host.
 */
final class Host implements Runnable {
  /** More would only take processor time from the carriers; a guest that finds no host free does its work itself. */
  private static final int MAX_HOSTS = 4 * Crew.PROCESSORS;
  // Hands a guest to a thread that is free, or to a new one, or refuses it.
  private static final ThreadPoolExecutor HOSTS = new ThreadPoolExecutor(
      0, MAX_HOSTS, Crew.KEEP_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), Host::thread);
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final Supplier<Object> work;
  private final Thread guest = Thread.currentThread();
  private final Object bindings = Var.cloneThreadBindingFrame();
  private Nudge.Proxy host;            // guarded by this; null before and after the work
  private boolean interrupted;    // guarded by this; an interrupt of the guest that came when there was no host to pass it to
  private volatile boolean done;  // written under this, after the two below
  private Object result;
  private Throwable thrown;

  private Host(Supplier<Object> work) {
    this.work = work;
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Nudge.Proxy(work, "skein-fold-host-" + NUMBER.incrementAndGet());
    thread.setDaemon(true);
    thread.setContextClassLoader(RT.class.getClassLoader());  // as Crew.threads
    return thread;
  }

  /** Has a host do {@code work}, for the calling thread; null if none is free. */
  static Host find(Supplier<Object> work) {
    Host host = new Host(work);
    try {
      HOSTS.execute(host);
      return host;
    } catch (RejectedExecutionException | OutOfMemoryError e) {  // the latter: the system has no thread left for us
      return null;
    }
  }

  @Override
  public void run() {
    Object before = Var.getThreadBindingFrame();
    Var.resetThreadBindingFrame(bindings);
    begin();
    try {
      result = work.get();
    } catch (Throwable t) {  // the guest's; Errors too
      thrown = t;
    } finally {
      end();
      Var.resetThreadBindingFrame(before);
    }
    LockSupport.unpark(guest);
  }

  private synchronized void begin() {
    host = (Nudge.Proxy) Thread.currentThread();
    if (interrupted) host.interrupt();
    interrupted = false;
  }

  /** What interrupt is left is the guest's. */
  private synchronized void end() {
    interrupted |= Thread.interrupted();
    host = null;
    done = true;
  }

  private synchronized void interrupt() {
    if (host != null) host.passOn(); else interrupted = true;
  }

  /** Waits for the work's end; returns or throws what it has. By the guest. */
  Object await() {
    while (!done) {
      LockSupport.park(this);
      if (Thread.interrupted()) interrupt();
    }
    synchronized (this) {
      if (interrupted) guest.interrupt();
    }
    if (thrown != null) throw Sneaky.raise(thrown);
    return result;
  }
}
