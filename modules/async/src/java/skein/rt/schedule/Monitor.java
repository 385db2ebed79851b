// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import skein.rt.Block;
import skein.rt.Uncaught;

/**
 * Watches the workers from a thread of its own, so that a block that blocks or computes for long delays no other block. It
 * checks each worker whose runner has been in the same step since the last check:
 *
 * <ul>
 *   <li>its thread waits: the worker becomes vacant, and gets a new virtual thread if work waits;
 *   <li>many blocks in a row wait: frames of the queue get a virtual thread each, more each time;
 *   <li>its thread computes while other blocks wait: another worker is hired for them. If all workers compute, a new
 *       virtual thread takes the worker over after a slice;
 *   <li>its thread gets no carrier thread, because virtual threads compute or are pinned on all of them, and the JDK does
 *       not preempt: a platform thread takes the worker over. As long as this lasts, workers get platform threads at once;
 *   <li>blocks compute on all carrier threads: {@link SpareCarriers} lends the process more.
 * </ul>
 *
 * <p>It checks often while it finds something to do, seldom otherwise, and sleeps while no block runs. The design is that
 * of Go's sysmon (runtime/proc.go). Differs: the JVM does not say when a thread is about to block, so the monitor reads
 * the thread's state.
 */
final class Monitor implements Runnable {
    /** The time between two checks while there is something to do: how long a ready block waits behind a blocked one. */
    private static final long SHORTEST_NANOS = 50_000;

    /** The time between two checks while blocks run without problems: a thousand wake-ups a second cost 1 % of a processor. */
    private static final long LONGEST_NANOS = 1_000_000;

    /** The time between two checks while no worker has a thread: new work then hires a thread itself. */
    private static final long IDLE_NANOS = 10_000_000;

    /** The same while blocks that have lost their workers wait: each may compute when it goes on. */
    private static final long BLOCKED_NANOS = 100_000_000;

    /** How long a frame may stay in the next slot behind a computing block: longer than most blocks take to park. */
    private static final long EXPOSE_NANOS = 100_000;

    /** How long a block may compute while others wait: half of the slice of Go's scheduler. */
    private static final long SLICE_NANOS = 5_000_000;

    /** How long a thread may wait for a carrier thread before a platform thread replaces it. */
    private static final long NO_CARRIER_NANOS = 10_000_000;

    /**
     * How long no carrier thread may be free before workers get more than {@link #MAX_PLATFORM} platform threads: a
     * busy machine delays carrier threads by tens of milliseconds.
     */
    private static final long HELD_NANOS = 80_000_000;

    /** How many frames may have virtual threads of their own: with more, the carrier threads' queue delays the workers. */
    private static final int MAX_SPILL = 32;

    /** How many platform threads serve workers before each further one must wait: they take processors from other threads. */
    private static final int MAX_PLATFORM = 6;

    private static final Thread THREAD = Scheduler.daemon(new Monitor(), "skein-monitor");
    private static final AtomicInteger COMPUTING =
            new AtomicInteger(); // platform threads of workers that are not blocked
    private static final AtomicInteger ALIVE = new AtomicInteger(); // platform threads of workers
    private static volatile WorkerRunner
            waiting; // the virtual runner that was last found waiting for a carrier thread, or null
    private static volatile boolean asleep = true; // no worker has a thread
    private static volatile boolean leisurely; // the next check is far off
    private static boolean started; // guarded by Monitor.class

    /** The state of a worker at the last check. */
    private static final class View {
        WorkerRunner runner;
        long tick;
        long since; // when this runner was first seen with this tick
        int spill; // how many frames to detach when it is found blocked again; 0 once it was seen to continue
    }

    private final View[] views = new View[Scheduler.WORKERS.length];
    private long period = SHORTEST_NANOS;
    private int inboxServed; // at the last check
    private boolean inboxWaits; // an item of the inbox has waited since the last check
    private long heldSince; // when the carrier threads were first found held
    private final SpareCarriers carriers = new SpareCarriers();

    private Monitor() {
        for (int i = 0; i < views.length; i++) views[i] = new View();
    }

    /** A worker has got a thread. */
    static void wake() {
        if (!asleep) return;
        asleep = false;
        ensureStarted();
        LockSupport.unpark(THREAD);
    }

    /** Work has come while all workers are busy: check soon whether one of them blocks. */
    static void hurry() {
        if (!leisurely) return;
        leisurely = false;
        LockSupport.unpark(THREAD);
    }

    private static synchronized void ensureStarted() {
        if (started) return;
        started = true;
        THREAD.start();
    }

    @Override
    public void run() {
        int idleLooks = 0;
        for (; ; ) {
            boolean trouble = false;
            try {
                trouble = lookAtAll();
            } catch (
                    Throwable
                            t) { // an exception of a probe, or no memory for a thread: the workers still need a monitor
                Uncaught.report(t);
            }
            idleLooks = Scheduler.allVacant() && !carriers.needed() ? idleLooks + 1 : 0;
            pause(trouble, idleLooks);
        }
    }

    private boolean lookAtAll() {
        boolean trouble = false;
        long now = System.nanoTime();
        Detached.takeBack(now, NO_CARRIER_NANOS);
        inboxWaits = Scheduler.INBOX.overdue(inboxServed);
        inboxServed = Scheduler.INBOX.served();
        for (int i = 0; i < views.length; i++) trouble |= look(Scheduler.WORKERS[i], views[i], now);
        carriers.check(now);
        return trouble;
    }

    private void pause(boolean trouble, int idleLooks) {
        if (idleLooks > 5 && Detached.notBegun() == 0) {
            asleep = true;
            Thread.interrupted();
            if (Scheduler.allVacant() && !Scheduler.anyWork()) {
                if (SpareCarriers.watches()) LockSupport.parkNanos(this, BLOCKED_NANOS);
                else LockSupport.park(this);
            }
            asleep = false;
            period = SHORTEST_NANOS;
            return;
        }
        if (trouble) period = SHORTEST_NANOS;
        else period = Math.min(period * 5 / 4, idleLooks > 0 ? IDLE_NANOS : LONGEST_NANOS);
        leisurely = period > 4 * SHORTEST_NANOS;
        LockSupport.parkNanos(this, period);
        if (leisurely) leisurely = false;
        else if (!trouble && period > 4 * SHORTEST_NANOS) period = SHORTEST_NANOS; // hurried
    }

    /** Checks one worker. Returns whether there was something to do, so that the next check should be soon. */
    private boolean look(Worker worker, View view, long now) {
        WorkerRunner runner = worker.runner;
        if (runner == null) {
            view.runner = null;
            return (inboxWaits || !worker.queue.isEmpty()) && Scheduler.hireFor(worker);
        }
        long tick = runner.tick();
        boolean sameStep = runner == view.runner && tick == view.tick;
        if (!sameStep) {
            if (runner == view.runner) {
                view.spill = 0;
                if (worker.queue.hasQueued()) runner.checkSoon();
            }
            view.runner = runner;
            view.tick = tick;
            view.since = now;
            if (view.spill == 0) return false;
        }
        Thread thread = runner.thread;
        boolean inStep = thread != null && (tick & 1) == 1;
        if (inStep && waits(thread)) return blocked(worker, runner, view); // many in a row have blocked: at once
        if (!sameStep) return false;
        return inStep ? computing(worker, runner, now - view.since) : rescue(worker, runner, now, now - view.since);
    }

    private static boolean waits(Thread thread) {
        return switch (thread.getState()) {
            case WAITING, TIMED_WAITING, BLOCKED -> true;
            default -> false;
        };
    }

    /** A runner is stuck between steps: no carrier thread is free, because virtual threads compute or are pinned. */
    private boolean rescue(Worker worker, WorkerRunner runner, long now, long nanos) {
        if (!workWaits(worker)) return false;
        boolean held = carriersHeld();
        if (!held && nanos < NO_CARRIER_NANOS) return false;
        if (!held && !runner.hasBegun()) {
            waiting = runner;
            heldSince = now - nanos;
        }
        boolean may = ALIVE.get() < MAX_PLATFORM || now - heldSince > HELD_NANOS && nanos > SLICE_NANOS * excess();
        return may && Scheduler.rescueOnPlatform(worker, runner) || held;
    }

    /** Returns whether virtual threads wait for a carrier thread: the one that was last found waiting still waits. */
    static boolean carriersHeld() {
        WorkerRunner runner = waiting;
        return runner != null && !runner.hasBegun();
    }

    /** Returns how many slices a worker waits for one more platform thread. The more of them compute, the longer it waits. */
    private static int excess() {
        return Math.max(1, COMPUTING.get() - MAX_PLATFORM + 1);
    }

    /** Returns whether a worker should get a platform thread at once, instead of a virtual one. */
    static boolean prefersPlatform() {
        return carriersHeld() && ALIVE.get() < MAX_PLATFORM;
    }

    private static boolean blocked(Worker worker, WorkerRunner runner, View view) {
        runner.blocks();
        if (!workWaits(worker)) {
            // Work may have come just before the change, when the submitting thread still saw a runner.
            if (worker.change(runner, null)) Scheduler.hireForLeftovers(worker);
            return false;
        }
        Block held = runner.block; // null: a callback
        if (held != null) held.handedOff(runner.thread);
        if (Scheduler.replace(worker, runner)) {
            spill(worker, view.spill);
            view.spill = Math.min(MAX_SPILL, view.spill * 4 + 3);
        }
        return true;
    }

    /** Detaches frames, but no more than the carrier threads can run, so that a hired runner does not wait behind them. */
    private static void spill(Worker worker, int n) {
        if (carriersHeld()) return;
        for (int i = Detached.notBegun(); i < n; i++) {
            Runnable work = worker.queue.pollQueued();
            if (work == null) work = Scheduler.INBOX.pollQueued();
            if (work == null) return;
            Detached.start(work);
        }
    }

    private static boolean computing(Worker worker, WorkerRunner runner, long nanos) {
        if (!workWaits(worker)) return false;
        if (nanos > EXPOSE_NANOS) {
            worker.queue.exposeNext();
            Scheduler.hire();
        }
        if (nanos < SLICE_NANOS || anyVacant()) return nanos < SLICE_NANOS;
        Scheduler.replace(worker, runner);
        return true;
    }

    /** Adds to the counts of platform threads that serve workers; {@code computing} of them are not blocked. */
    static void count(int alive, int computing) {
        ALIVE.addAndGet(alive);
        COMPUTING.addAndGet(computing);
    }

    private static boolean anyVacant() {
        for (Worker worker : Scheduler.WORKERS) if (worker.vacant()) return true;
        return false;
    }

    private static boolean workWaits(Worker worker) {
        return !worker.queue.isEmpty() || Scheduler.INBOX.hasQueued();
    }
}
