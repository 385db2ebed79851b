// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.RT;
import clojure.lang.Util;
import clojure.lang.Var;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A platform thread's work for a virtual thread, the guest, which waits for it: a long fold must not keep its carrier. The work
 * has the guest's bindings, and an interrupt of the guest is forwarded to the thread that does the work.
 */
final class Host implements Runnable {
    /** More would take too much of the processors from the carriers. A guest that finds no host free does the work itself. */
    private static final int MAX_HOSTS = 4 * Crew.PROCESSORS;

    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final ThreadPoolExecutor HOSTS = new ThreadPoolExecutor(
            0, MAX_HOSTS, Crew.KEEP_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), Carrier::new);

    /** The thread of a host. It counts the interrupts that it forwards, to tell them from the engine's own; see {@link Claim}. */
    static final class Carrier extends Thread {
        int forwarded; // guarded by this

        Carrier(Runnable work) {
            super(null, work, "skein-fold-host-" + NUMBER.incrementAndGet(), 0, false);
            setDaemon(true);
            setContextClassLoader(RT.class.getClassLoader()); // as in Crew
        }

        synchronized void forward() {
            forwarded++;
            interrupt();
        }
    }

    private final Supplier<Object> work;
    private final Thread guest = Thread.currentThread();
    private final Object bindings = Var.cloneThreadBindingFrame();
    private Carrier carrier; // guarded by this; null before and after the work
    private boolean interrupted; // guarded by this; the guest's interrupt that no carrier has got
    private volatile boolean done; // written under this, after the next two
    private Object result;
    private Throwable thrown;

    private Host(Supplier<Object> work) {
        this.work = work;
    }

    /** Lets a platform thread do {@code work} for the calling thread, and returns what stands for that; null if no host is free. */
    static Host find(Supplier<Object> work) {
        Host host = new Host(work);
        try {
            HOSTS.execute(host);
            return host;
        } catch (RejectedExecutionException | OutOfMemoryError e) { // the latter: the system has no thread left
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
        } catch (Throwable t) { // the guest's; Errors too
            thrown = t;
        } finally {
            end();
            Var.resetThreadBindingFrame(before);
        }
        LockSupport.unpark(guest);
    }

    private synchronized void begin() {
        carrier = (Carrier) Thread.currentThread();
        if (interrupted) carrier.interrupt();
        interrupted = false;
    }

    /** An interrupt that nobody has answered is the guest's. */
    private synchronized void end() {
        interrupted |= Thread.interrupted();
        carrier = null;
        done = true;
    }

    private synchronized void interrupt() {
        if (carrier != null) carrier.forward();
        else interrupted = true;
    }

    /** Waits for the end of the work; returns its value or throws what it has thrown. Called by the guest. */
    Object await() {
        while (!done) {
            LockSupport.park(this);
            if (Thread.interrupted()) interrupt();
        }
        synchronized (this) {
            if (interrupted) guest.interrupt();
        }
        if (thrown != null) throw Util.sneakyThrow(Caller.shownIn(thrown));
        return result;
    }
}
