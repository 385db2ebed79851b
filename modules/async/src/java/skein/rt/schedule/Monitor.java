// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import skein.rt.Hooks;

/**
 * Watches the workers from a thread of its own, so that a block that blocks or computes for long delays no
 * other. It looks at each worker whose runner has been in one step since the last look:
 *
 * <ul>
 *   <li>its thread waits: the worker becomes vacant, and gets a fresh virtual thread if work waits;
 *   <li>many blocks in a row do so: the queue is spilled, one virtual thread for each, ever more each time;
 *   <li>its thread computes while others wait: another worker is hired for them, and after a slice, when all
 *       workers compute, a fresh virtual thread takes the worker over;
 *   <li>its thread gets no carrier, because virtual threads compute or are pinned on all of them, and the JDK does not
 *       preempt: a platform thread takes the worker over. While that is so, workers get platform threads at once.
 * </ul>
 *
 * <p>It looks often while it finds something to do, seldom while all goes well, and sleeps while nothing runs.
 * Go's sysmon (runtime/proc.go) is the model. Differs: the JVM tells no one that a thread is about to block, so
 * the thread's state is looked at.
 */
final class Monitor implements Runnable {
    /** Between two looks while there is something to do: how long a ready block waits behind one that blocks. */
    private static final long SHORTEST_NANOS = 20_000;

    /** Between two looks while blocks run and nothing is to be done: a thousand wake-ups a second cost 1 % of a processor. */
    private static final long LONGEST_NANOS = 1_000_000;

    /** Between two looks while no worker has a thread: work that comes then hires its own. */
    private static final long IDLE_NANOS = 10_000_000;

    /** How long a frame may stand in the next slot of a computing block: longer than most blocks take to park. */
    private static final long EXPOSE_NANOS = 100_000;

    /** How long a block may compute while others wait: half of the slice of Go's scheduler. */
    private static final long SLICE_NANOS = 5_000_000;

    /** How long a thread may wait for a carrier before a platform thread takes its place. */
    private static final long NO_CARRIER_NANOS = 10_000_000;

    /** How long before those may become many: a loaded machine delays carriers by tens of milliseconds. */
    private static final long HELD_NANOS = 80_000_000;

    /** How many frames get virtual threads of their own at once: more than that, and the carriers' queue delays the workers. */
    private static final int MAX_SPILL = 32;

    /** How many platform threads serve workers before each more must wait: they take the processors from all others. */
    private static final int MAX_PLATFORM = 6;

    private static final Thread THREAD = Scheduler.daemon(new Monitor(), "skein-monitor");
    private static final AtomicInteger COMPUTING =
            new AtomicInteger(); // platform threads of workers, but for blocked ones
    private static final AtomicInteger ALIVE = new AtomicInteger(); // platform threads of workers
    private static volatile WorkerRunner waiting; // a virtual runner that was found waiting for a carrier last, or null
    private static volatile boolean asleep = true; // no worker has a thread
    private static volatile boolean leisurely; // it will not look again for a good while
    private static boolean started; // guarded by Monitor.class

    /** What it knew of a worker at its last look. */
    private static final class View {
        WorkerRunner runner;
        long tick;
        long since; // when this runner was first seen with this tick
        int spill; // how many to spill when it is found blocked again; 0 once it was seen to get on
    }

    private final View[] views = new View[Scheduler.WORKERS.length];
    private long period = SHORTEST_NANOS;
    private long heldSince; // when the carriers were first found held

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

    /** Work has come while all workers are busy: look soon whether one of them blocks. */
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
            } catch (Throwable t) { // a probe's mistake, or no memory for a thread: the workers still need a monitor
                Scheduler.uncaught(t);
            }
            idleLooks = Scheduler.allVacant() ? idleLooks + 1 : 0;
            pause(trouble, idleLooks);
        }
    }

    private boolean lookAtAll() {
        boolean trouble = false;
        long now = System.nanoTime();
        Detached.takeBack(now, NO_CARRIER_NANOS);
        for (int i = 0; i < views.length; i++) trouble |= look(Scheduler.WORKERS[i], views[i], now);
        return trouble;
    }

    private void pause(boolean trouble, int idleLooks) {
        if (idleLooks > 5 && Detached.notBegun() == 0) {
            asleep = true;
            Thread.interrupted();
            if (Scheduler.allVacant() && !Scheduler.anyWork()) LockSupport.park(this);
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

    /** Returns whether there was something to do, so that it should look again soon. */
    private boolean look(Worker worker, View view, long now) {
        WorkerRunner runner = worker.runner;
        if (runner == null) {
            view.runner = null;
            return workWaits(worker) && Scheduler.hire(worker, null, true);
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
        if (inStep && waits(thread)) return blocked(worker, runner, view); // amid many that block, at first sight
        if (!sameStep) return false;
        return inStep ? computing(worker, runner, now - view.since) : rescue(worker, runner, now, now - view.since);
    }

    private static boolean waits(Thread thread) {
        return switch (thread.getState()) {
            case WAITING, TIMED_WAITING, BLOCKED -> true;
            default -> false;
        };
    }

    /** A runner that doesn't get on between steps: no carrier is free, because virtual threads compute or are pinned. */
    private boolean rescue(Worker worker, WorkerRunner runner, long now, long nanos) {
        if (!workWaits(worker)) return false;
        boolean held = carriersHeld();
        if (!held && nanos < NO_CARRIER_NANOS) return false;
        if (!held && !runner.hasBegun()) {
            waiting = runner;
            heldSince = now - nanos;
        }
        boolean may = ALIVE.get() < MAX_PLATFORM || now - heldSince > HELD_NANOS && nanos > SLICE_NANOS * excess();
        return may && Scheduler.hire(worker, runner, false) || held;
    }

    /** Whether virtual threads wait for a carrier, since one that was found to do so still does. */
    static boolean carriersHeld() {
        WorkerRunner runner = waiting;
        return runner != null && !runner.hasBegun();
    }

    /** How many slices a worker waits for one more platform thread: the longer the more of them compute, never for ever. */
    private static int excess() {
        return Math.max(1, COMPUTING.get() - MAX_PLATFORM + 1);
    }

    /** Whether a worker should get a platform thread rather than a virtual one, at once. */
    static boolean prefersPlatform() {
        return carriersHeld() && ALIVE.get() < MAX_PLATFORM;
    }

    private static boolean blocked(Worker worker, WorkerRunner runner, View view) {
        runner.blocks();
        if (!workWaits(worker)) {
            // Work may have come just before the change, when its bringer still saw a runner.
            if (worker.change(runner, null)) Scheduler.hireForLeftovers(worker);
            return false;
        }
        Hooks.handedOff(runner.frame(), runner.thread);
        if (Scheduler.hire(worker, runner, true)) {
            spill(worker, view.spill);
            view.spill = Math.min(MAX_SPILL, view.spill * 4 + 3);
        }
        return true;
    }

    /** Starts no more than the carriers keep up with, lest a hired runner wait behind them. */
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
        Scheduler.hire(worker, runner, true);
        return true;
    }

    /** So many more platform threads serve workers, and {@code computing} of them don't block. */
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
