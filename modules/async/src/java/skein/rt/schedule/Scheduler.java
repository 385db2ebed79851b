// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import skein.rt.World;

/** Runs frames and callbacks on the workers, and hires threads for vacant workers. */
public final class Scheduler {
    private Scheduler() {}

    /**
     * With fewer items than this in the inbox, one worker's thread serves it, so that blocks that talk to each other stay
     * together. If that thread is in a long step, the monitor soon hires another.
     */
    private static final int BACKLOG = 32;

    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final Worker[] WORKERS = new Worker[workerCount()];
    static final RunQueue INBOX = new RunQueue();
    private static final AtomicBoolean SEARCHING = new AtomicBoolean();

    static {
        for (int i = 0; i < WORKERS.length; i++) WORKERS[i] = new Worker(i);
    }

    private static int workerCount() {
        return Math.max(1, Integer.getInteger("skein.workers", PROCESSORS));
    }

    /** Runs {@code work} soon on a worker, or in the simulation of this thread. It must not throw. */
    public static void submit(Runnable work) {
        World world = World.current();
        if (world != null) world.ready(work);
        else submitToWorkers(work);
    }

    /** Runs {@code work} soon on a worker, for work that does not belong to the simulation of this thread. */
    public static void submitToWorkers(Runnable work) {
        INBOX.push(work);
        VarHandle.fullFence(); // push first, then look for vacant workers; their threads leave, then look for work
        if (INBOX.size() > BACKLOG || allVacant()) hire();
        else Monitor.hurry();
    }

    static boolean allVacant() {
        for (Worker worker : WORKERS) if (!worker.vacant()) return false;
        return true;
    }

    /** Returns whether fewer workers than processors have threads. */
    public static boolean leavesProcessor() {
        int busy = 0;
        for (Worker worker : WORKERS) if (!worker.vacant()) busy++;
        return busy < PROCESSORS;
    }

    /** Makes sure that a thread looks for work soon. */
    static void hire() {
        if (SEARCHING.get()) return;
        for (Worker worker : WORKERS) {
            if (worker.vacant() && hireFor(worker)) return;
        }
        Monitor.hurry();
    }

    /** Hires a thread for {@code worker}, which is vacant, if its queue has work, otherwise for a vacant worker that has. */
    static void hireForLeftovers(Worker worker) {
        if (!worker.queue.isEmptyForSure()) hireFor(worker);
        else if (anyWork()) hire();
    }

    /** Gives {@code worker}, which is vacant, a thread. Returns false if it has got one meanwhile. */
    static boolean hireFor(Worker worker) {
        return replace(worker, null);
    }

    /** Gives {@code worker} another thread in place of {@code current}. Returns false if {@code current} no longer serves it. */
    static boolean replace(Worker worker, WorkerRunner current) {
        return change(
                worker, current, !Monitor.prefersPlatform()); // a virtual one, if such threads get carrier threads
    }

    /** Like {@link #replace}, with a platform thread, when virtual threads get no carrier threads. */
    static boolean rescueOnPlatform(Worker worker, WorkerRunner current) {
        return change(worker, current, false);
    }

    private static boolean change(Worker worker, WorkerRunner current, boolean virtual) {
        WorkerRunner runner = new WorkerRunner(worker, virtual);
        if (!worker.change(current, runner)) {
            runner.ends();
            return false;
        }
        try {
            start(runner, runner.virtual, "skein-worker-" + worker.index);
        } catch (Throwable t) { // no memory for a thread: the worker must not seem to be served
            runner.ends();
            worker.change(runner, null);
            throw t;
        }
        Monitor.wake();
        return true;
    }

    /** Returns a platform daemon thread that inherits nothing from the thread that makes it. */
    static Thread daemon(Runnable task, String name) {
        return daemon(Thread.ofPlatform()
                .name(name)
                .inheritInheritableThreadLocals(false)
                .unstarted(task));
    }

    private static Thread daemon(Thread thread) {
        thread.setDaemon(true);
        thread.setContextClassLoader(Scheduler.class.getClassLoader());
        return thread;
    }

    /** A platform thread that serves a worker. */
    private static final class WorkerThread extends Thread {
        WorkerThread(Runnable task, String name) {
            super(null, task, name, 0, false);
        }
    }

    static void start(Runnable runner, boolean virtual, String name) {
        if (!virtual) {
            daemon(new WorkerThread(runner, name)).start();
            return;
        }
        Thread thread = Thread.ofVirtual()
                .name(name)
                .inheritInheritableThreadLocals(false)
                .unstarted(runner);
        thread.setContextClassLoader(Scheduler.class.getClassLoader());
        thread.start();
    }

    static boolean beginSearch() {
        return SEARCHING.compareAndSet(false, true);
    }

    /** Ends a search for work. Hires for other work, for which no thread was hired during the search. */
    static void endSearch(boolean found) {
        SEARCHING.set(false);
        if (!found) {
            // A thread that submitted work during the search relied on it, and this thread may have lost its worker.
            if (anyWork()) hire();
            return;
        }
        if (INBOX.size() > BACKLOG) hire();
        for (Worker worker : WORKERS) if (worker.vacant() && !worker.queue.isEmpty()) hireFor(worker);
    }

    /** Returns whether there is ready work that a runner without work could take. */
    static boolean anyWork() {
        if (!INBOX.isEmptyForSure()) return true;
        for (Worker worker : WORKERS) {
            if (worker.vacant() ? !worker.queue.isEmptyForSure() : worker.queue.backlogged()) return true;
        }
        return false;
    }

    /** Returns the workers, their threads and queues as text, for a person who debugs. */
    public static String describe() {
        StringBuilder text = new StringBuilder();
        text.append("inbox ")
                .append(INBOX.size())
                .append(", searching ")
                .append(SEARCHING.get())
                .append('\n');
        for (Worker worker : WORKERS) {
            WorkerRunner r = worker.runner;
            Thread thread = r == null ? null : r.thread;
            text.append("worker ")
                    .append(worker.index)
                    .append(": queued ")
                    .append(worker.queue.size())
                    .append(
                            r == null
                                    ? ", vacant"
                                    : ", step " + r.tick() + (r.virtual ? ", virtual " : ", platform ")
                                            + (thread == null ? "not begun" : thread.getState()))
                    .append('\n');
        }
        return text.toString();
    }

    /** Returns the number of workers: the system property skein.workers, by default one per processor. */
    public static int workers() {
        return WORKERS.length;
    }

    /** Returns the time on the clock of timers, in nanoseconds from some origin; in a simulation, on its clock. */
    public static long nanoTime() {
        World world = World.current();
        return world == null ? System.nanoTime() : world.nanoTime();
    }
}
