// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import clojure.lang.Var;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import skein.rt.Block;
import skein.rt.Runner;
import skein.rt.Uncaught;

/** The thread that serves a worker. It runs ready work, looks for more in other queues, and ends when there is none. */
final class WorkerRunner extends Runner implements Runnable, SpareCarriers.Stepper {
    /** After this number of steps the inbox is served first, so that it can't starve. */
    private static final int INBOX_EVERY = 61;

    /** How many items are moved at once from the inbox or from another worker. */
    private static final int BATCH = 64;

    /** How long it looks for work before it ends: a little longer than a thread takes to start. */
    private static final long SEARCH_NANOS = 40_000;

    /** How long ready work may wait for its own worker before another worker without work steals it. */
    private static final long PATIENCE_NANOS = 15_000;

    /** How long it runs before it yields to the process's other virtual threads. */
    private static final long YIELD_NANOS = 150_000;

    /** How long a platform thread serves a worker before a virtual one is tried again. */
    private static final long PLATFORM_NANOS = 100_000_000;

    private static final Spins SEARCHES = new Spins();
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
    private boolean counted; // guarded by this; it is counted as a platform thread that does not block
    private long tick; // odd during a step; written by this thread, read by the monitor
    private volatile boolean begun; // its thread has begun to run
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
    public Thread thread() {
        return thread;
    }

    @Override
    public long tick() {
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
            if (virtual) SpareCarriers.entered(this);
            do {
                for (Runnable work; worker.runner == this && (work = findWork()) != null; ) step(work);
            } while (staysOrReturns());
        } finally {
            end();
        }
    }

    /** Clears the fields: a parked frame may still refer to this runner. */
    private void end() {
        ends();
        if (virtual) SpareCarriers.left(this);
        installed = null;
        noBindings = null;
        thread = null;
        if (worker.change(this, null)) Scheduler.hireForLeftovers(worker); // only after an Error of the JVM
    }

    /** Returns whether its thread has run at all. */
    boolean hasBegun() {
        return begun;
    }

    /** The runner is blocked: if it is a platform thread, it uses no processor. Counted once. */
    synchronized void blocks() {
        if (counted) Monitor.count(0, -1);
        counted = false;
    }

    /** Removes it from the counts: its thread ends, or could not start. */
    void ends() {
        blocks();
        if (!virtual) Monitor.count(-1, 0);
    }

    private void step(Runnable work) {
        long t = tick;
        TICK.setOpaque(this, t + 1);
        try {
            if (work instanceof Block b) b.resume(this);
            else runTask(work);
        } catch (Throwable e) { // only an Error of the JVM can get here; the worker must continue
            Uncaught.report(e);
        }
        if (thread.isInterrupted()) Thread.interrupted(); // it was for the block that has run, not for the next
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

    /** Returns whether it continues: it had lost its worker and has got it back, or there is new work. */
    private boolean staysOrReturns() {
        if (!worker.change(this, null)) return virtual && takesBack();
        // Other threads push work, and then look for a vacant worker; so look once more after leaving.
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
            // No thread serves the next slot of a vacant worker, so any worker may take from it.
            if (victim.vacant()) work = victim.queue.poll();
            else if (victim.queue.backlogged()) work = worker.queue.stealHalf(victim.queue, BATCH);
        }
        return work;
    }

    private Worker other(int i) {
        return Scheduler.WORKERS[(worker.index + i) % Scheduler.WORKERS.length];
    }

    /** Looks for work for a while, unless the last searches were in vain. Only one runner at a time does this. */
    private Runnable search() {
        if (!SEARCHES.worthwhile() || !Scheduler.beginSearch()) return null;
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
            SEARCHES.ended(work != null);
            Scheduler.endSearch(work != null);
        }
        return work;
    }

    private void glance(int[] served) {
        for (int i = 1; i < served.length; i++) served[i] = other(i).queue.served();
    }

    /** Steals from a worker in whose queue an item has waited since the last check. */
    private Runnable overdue(int[] served) {
        for (int i = 1; i < served.length; i++) {
            RunQueue queue = other(i).queue;
            if (!queue.overdue(served[i])) continue;
            Runnable work = worker.queue.stealHalf(queue, BATCH);
            if (work != null) return work;
        }
        return null;
    }

    /** Makes it check the time and the waiting work after this step. A hint from the monitor. */
    void checkSoon() {
        untilCheck = 0;
    }

    /** Checks the time and the waiting work, at intervals that depend on the length of steps. */
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
        else if (now - began > PLATFORM_NANOS && !Monitor.carriersHeld()) Scheduler.replace(worker, this);
    }

    @Override
    public void ready(Block block) {
        if (worker.runner != this) {
            Scheduler.submit(block);
            return;
        }
        worker.queue.pushNext(block);
        // This runner has lost the worker: the next runner may have looked into the queue before this push.
        if (worker.runner != this) Scheduler.hireFor(worker);
    }

    /** Makes the worker vacant, so that another thread can serve it while this one blocks. */
    @Override
    protected void blocking() {
        blocks();
        if (worker.change(this, null)) {
            Scheduler.hireForLeftovers(worker);
        }
    }
}
