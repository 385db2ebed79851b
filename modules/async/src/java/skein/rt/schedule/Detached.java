// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import skein.rt.Block;
import skein.rt.Runner;

/**
 * A virtual thread for one step of one frame, or for one callback, that would otherwise wait behind blocked ones. If the
 * thread does not get a carrier thread, because virtual threads compute on all of them, its work goes back to the workers.
 */
final class Detached extends Runner implements Runnable, SpareCarriers.Stepper {
    private static final VarHandle WORK;

    static {
        try {
            WORK = MethodHandles.lookup().findVarHandle(Detached.class, "work", Runnable.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final AtomicInteger NOT_BEGUN = new AtomicInteger();
    private static final ConcurrentLinkedQueue<Detached> STARTED =
            new ConcurrentLinkedQueue<>(); // oldest first; some have begun

    private final long since = System.nanoTime();
    private volatile Thread thread; // while it runs
    private volatile Runnable work; // null once this thread has taken it, or the monitor has taken it back

    private Detached(Runnable work) {
        this.work = work;
    }

    /** Returns how many have been started and wait for a carrier thread. */
    static int notBegun() {
        return NOT_BEGUN.get();
    }

    static void start(Runnable work) {
        NOT_BEGUN.incrementAndGet();
        Detached detached = new Detached(work);
        STARTED.add(detached);
        Scheduler.start(detached, true, "skein-spilled");
    }

    /** Gives the work of threads that have waited {@code nanos} for a carrier thread back to the workers. */
    static void takeBack(long now, long nanos) {
        for (Detached oldest; (oldest = STARTED.peek()) != null; STARTED.remove(oldest)) {
            if (oldest.work == null) continue;
            if (now - oldest.since < nanos) return;
            Runnable work = oldest.take();
            if (work != null) Scheduler.submit(work);
        }
    }

    @Override
    public Thread thread() {
        return thread;
    }

    @Override
    public long tick() {
        return 1; // it has one step
    }

    private Runnable take() {
        Runnable taken = (Runnable) WORK.getAndSet(this, (Runnable) null);
        if (taken != null) NOT_BEGUN.decrementAndGet();
        return taken;
    }

    @Override
    public void run() {
        Runnable mine = take(); // a parked frame still refers to this runner, which must hold nothing then
        if (mine == null) return;
        thread = Thread.currentThread();
        enter();
        SpareCarriers.entered(this);
        try {
            if (mine instanceof Block b) b.resume(this);
            else mine.run();
        } finally {
            SpareCarriers.left(this);
            thread = null;
            installed = null;
        }
    }

    @Override
    public void ready(Block block) {
        Scheduler.submit(block);
    }
}
