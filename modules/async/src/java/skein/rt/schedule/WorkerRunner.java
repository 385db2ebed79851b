// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import clojure.lang.Var;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import skein.rt.Frame;
import skein.rt.Runner;

/** The thread that serves a worker: runs what is ready, looks for more elsewhere, and ends when there is none. */
final class WorkerRunner extends Runner implements Runnable {
    /** Every so many steps the inbox comes first, so that it can't starve. */
    private static final int INBOX_EVERY = 61;

    /** How much is moved at once from the inbox or from another worker. */
    private static final int BATCH = 64;

    /** How long it looks for work before it ends: somewhat longer than a thread takes to start. */
    private static final long SEARCH_NANOS = 40_000;

    /** How long what is ready may wait for its own worker before another, that has nothing to do, takes it. */
    private static final long PATIENCE_NANOS = 15_000;

    /** How long it runs before it lets the process's other virtual threads have its processor. */
    private static final long YIELD_NANOS = 150_000;

    /** How long a platform thread serves before a virtual one is tried again. */
    private static final long PLATFORM_NANOS = 100_000_000;

    private static final VarHandle TICK;

    static {
        try {
            TICK = MethodHandles.lookup().findVarHandle(WorkerRunner.class, "tick", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Worker worker;
    final boolean virtual;
    private boolean counted; // guarded by this; a platform thread that is not known to block
    private long tick; // odd during a step; written by this thread, read by the monitor
    private volatile boolean begun; // its thread has got a processor
    volatile Thread thread; // set when it has begun to run; null again when it has ended
    private Object noBindings; // the Var binding frame of a fresh thread
    private int untilCheck = 64;
    private int checkEvery = 64;
    private long began; // System.nanoTime
    private long lastCheck;
    private int lastServed; // of the queue, at the last check

    WorkerRunner(Worker worker, boolean virtual) {
        this.worker = worker;
        this.virtual = virtual;
        this.counted = !virtual;
        if (!virtual) Monitor.count(1, 1);
    }

    @Override
    protected Thread thread() {
        return thread;
    }

    /** Odd while a step runs; does not move while the same step goes on. */
    long tick() {
        return (long) TICK.getOpaque(this);
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        begun = true;
        began = lastCheck = System.nanoTime();
        lastServed = worker.queue.served();
        noBindings = Var.getThreadBindingFrame();
        installed = noBindings;
        enter();
        try {
            do {
                for (Runnable work; worker.runner == this && (work = findWork()) != null; ) step(work);
            } while (staysOrReturns());
        } finally {
            end();
        }
    }

    /** A parked frame may still know this runner, which must hold nothing then. */
    private void end() {
        ends();
        installed = null;
        noBindings = null;
        thread = null;
        if (worker.change(this, null)) Scheduler.hireForLeftovers(worker); // only after an Error of the JVM
    }

    /** Whether its thread has run at all. */
    boolean hasBegun() {
        return begun;
    }

    /** It is blocked: a platform thread that takes no processor. Counted once. */
    synchronized void blocks() {
        if (counted) Monitor.count(0, -1);
        counted = false;
    }

    /** Its thread ends, or has not started. */
    void ends() {
        blocks();
        if (!virtual) Monitor.count(-1, 0);
    }

    private void step(Runnable work) {
        long t = tick;
        TICK.setOpaque(this, t + 1);
        try {
            if (work instanceof Frame f) resume(f);
            else runTask(work);
        } catch (Throwable e) { // nothing but an Error of the JVM can get here; the worker must go on
            Scheduler.uncaught(e);
        }
        if (thread.isInterrupted()) Thread.interrupted(); // meant for the block that has run, not for the next
        TICK.setOpaque(this, t + 2);
        if (--untilCheck <= 0) checkTime();
    }

    private void runTask(Runnable work) {
        if (installed != noBindings) {
            installed = noBindings;
            Var.resetThreadBindingFrame(noBindings);
        }
        work.run();
    }

    /** Whether it goes on: it lost its worker and has got it back, or there is work after all. */
    private boolean staysOrReturns() {
        if (!worker.change(this, null)) return virtual && takesBack();
        // Others push first and look for a vacant worker then; so look once more after leaving.
        return Scheduler.anyWork() && takesBack();
    }

    private boolean takesBack() {
        if (!worker.change(null, this)) return false;
        Monitor.wake();
        return true;
    }

    private Runnable findWork() {
        Runnable work;
        if (tick % INBOX_EVERY == 0 && (work = Scheduler.INBOX.pollQueued()) != null) return work;
        if ((work = worker.queue.poll()) != null) return work;
        if ((work = elsewhere()) != null) return work;
        return search();
    }

    private Runnable elsewhere() {
        Runnable work = worker.queue.stealHalf(Scheduler.INBOX, BATCH);
        for (int i = 1; work == null && i < Scheduler.WORKERS.length; i++) {
            Worker victim = other(i);
            // Nobody serves a vacant worker's next slot, so there it is for everyone.
            if (victim.vacant()) work = victim.queue.poll();
            else if (victim.queue.backlogged()) work = worker.queue.stealHalf(victim.queue, BATCH);
        }
        return work;
    }

    private Worker other(int i) {
        return Scheduler.WORKERS[(worker.index + i) % Scheduler.WORKERS.length];
    }

    /** Looks about for a while; one runner at a time does. */
    private Runnable search() {
        if (!Scheduler.beginSearch()) return null;
        Runnable work = null;
        try {
            long start = System.nanoTime();
            long glanced = start;
            int[] served = new int[Scheduler.WORKERS.length];
            glance(served);
            for (long now = start; now - start < SEARCH_NANOS && worker.runner == this; now = System.nanoTime()) {
                for (int i = 0; i < 32; i++) Thread.onSpinWait();
                if ((work = worker.queue.poll()) != null || (work = elsewhere()) != null) break;
                if (now - glanced > PATIENCE_NANOS) {
                    if ((work = overdue(served)) != null) break;
                    glance(served);
                    glanced = now;
                }
            }
        } finally {
            Scheduler.endSearch(work != null);
        }
        return work;
    }

    private void glance(int[] served) {
        for (int i = 1; i < served.length; i++) served[i] = other(i).queue.served();
    }

    /** Takes over from a worker that has not come to what was in its queue at the last glance. */
    private Runnable overdue(int[] served) {
        for (int i = 1; i < served.length; i++) {
            RunQueue queue = other(i).queue;
            if (!queue.overdue(served[i])) continue;
            Runnable work = worker.queue.stealHalf(queue, BATCH);
            if (work != null) return work;
        }
        return null;
    }

    /** Makes it look at the time, and at what waits, after this step. A hint from the monitor. */
    void checkSoon() {
        untilCheck = 0;
    }

    /** Every now and then, at intervals that follow the length of the steps. */
    private void checkTime() {
        long now = System.nanoTime();
        long elapsed = now - lastCheck;
        if (elapsed < YIELD_NANOS / 2) checkEvery = Math.min(checkEvery * 2, 4096);
        else if (elapsed > YIELD_NANOS * 2) checkEvery = Math.max(checkEvery / 2, 1);
        untilCheck = checkEvery;
        lastCheck = now;
        if (worker.queue.overdue(lastServed)) Scheduler.hire();
        lastServed = worker.queue.served();
        if (virtual) Thread.yield();
        else if (now - began > PLATFORM_NANOS && !Monitor.carriersHeld()) Scheduler.hire(worker, this, true);
    }

    @Override
    protected void ready(Frame frame) {
        if (worker.runner != this) {
            Scheduler.submit(frame);
            return;
        }
        worker.queue.pushNext(frame);
        // Lost the worker meanwhile: its next runner may have looked into the queue before this push.
        if (worker.runner != this) Scheduler.hire(worker, null, true);
    }

    /** The worker is free for another thread for as long as this one blocks. */
    @Override
    protected void blocking() {
        blocks();
        if (worker.change(this, null)) {
            Scheduler.hireForLeftovers(worker);
        }
    }
}
