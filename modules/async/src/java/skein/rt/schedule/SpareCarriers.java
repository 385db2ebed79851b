// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;

/**
 * Lends carrier threads to the process while blocks compute, so that its other virtual threads go on: servers, futures,
 * connection pools. A block that computes keeps its carrier, since the JDK does not preempt, and as many of them as
 * processors would stop every other virtual thread.
 *
 * <p>While blocks compute, a <em>probe</em>, a virtual thread that does nothing, is started every few milliseconds. If one
 * has not begun after that time, the parallelism of the JDK's scheduler is raised by one, up to the number of blocks that
 * compute. So others find a free carrier at once. When fewer blocks compute, the number goes down again.
 *
 * <p>Any thread calls {@link #entered} and {@link #left}; the monitor's calls the rest.
 */
final class SpareCarriers {
    /** A virtual thread that runs steps of blocks. */
    interface Stepper {
        /** Returns a number that is odd during a step, and changes when a step begins or ends. */
        long tick();

        /** Returns the thread, or null when it has ended. */
        Thread thread();
    }

    /** The time between two checks. A step in which a block computes at two of them is a long one; a probe this old is late. */
    private static final long CHECK_NANOS = 5_000_000;

    /** How much longer that is for each thread: a look at one takes some tens of nanoseconds, and thousands may wait. */
    private static final long CHECK_NANOS_EACH = 2_000;

    /** How long the parallelism stays up when fewer blocks compute: others may begin to. */
    private static final long KEEP_NANOS = 200_000_000;

    /** With more carriers on loan than this, each further one must wait: they take processors from other threads. */
    private static final int PROMPT = 2 * Runtime.getRuntime().availableProcessors();

    private static final boolean ENABLED = !"false".equals(System.getProperty("skein.lend-carriers"));
    private static final Long NONE = 0L; // no tick of a step

    /** With the tick of the step in which each was last seen to compute, or NONE. */
    private static final Map<Stepper, Long> STEPPERS = new ConcurrentHashMap<>();

    private ForkJoinPool pool; // the JDK's scheduler of virtual threads, once it was needed and found
    private boolean sought;
    private int own; // the parallelism that the program has set
    private int lent; // by how much it is raised
    private Probe probe; // the last one; null if none is needed
    private long patientSince; // when the probe was started, or when a carrier was last added for it
    private long enough; // when as many blocks as carriers on loan last computed
    private long nextCheck = System.nanoTime();
    private boolean computing; // a block computed at the last check

    /** A virtual thread's task that tells whether it has begun. */
    private static final class Probe implements Runnable {
        final long started = System.nanoTime();
        volatile boolean begun;

        @Override
        public void run() {
            begun = true;
        }
    }

    /** A virtual thread is about to run steps. */
    static void entered(Stepper stepper) {
        STEPPERS.put(stepper, NONE);
    }

    /** It runs no more steps. */
    static void left(Stepper stepper) {
        STEPPERS.remove(stepper);
    }

    /** Returns whether there are virtual threads whose blocks may compute, be it that they wait now. */
    static boolean watches() {
        return ENABLED && !STEPPERS.isEmpty();
    }

    /** Returns whether a block computes, or carriers are on loan, so that the next check should be soon. */
    boolean needed() {
        return computing || lent > 0;
    }

    /** Checks whether virtual threads starve beside computing blocks, if the last check is long enough ago. */
    void check(long now) {
        if (!ENABLED || now - nextCheck < 0) return;
        int n = countComputing();
        if (n > 0 && findPool()) {
            if (probe == null || probe.begun) probe = startProbe(now);
            else if (late(now)) addCarrier(n, now);
        }
        if (lent <= n) enough = now;
        else if (now - enough > KEEP_NANOS) lend(n);
        nextCheck = now + CHECK_NANOS + CHECK_NANOS_EACH * STEPPERS.size();
    }

    /** Returns how many threads compute in the same step as at the last check. */
    private int countComputing() {
        int n = 0;
        computing = false;
        for (Map.Entry<Stepper, Long> entry : STEPPERS.entrySet()) {
            Stepper stepper = entry.getKey();
            Thread thread = stepper.thread();
            long tick = stepper.tick();
            boolean computes = (tick & 1) == 1 && thread != null && thread.getState() == Thread.State.RUNNABLE;
            computing |= computes;
            Long seen = computes ? (Long) tick : NONE;
            if (!seen.equals(entry.getValue()))
                STEPPERS.replace(stepper, seen); // setValue would put back one that has left
            else if (computes) n++;
        }
        return n;
    }

    /**
     * Finds the JDK's scheduler, once. Carrier threads are threads of it, and a thread of a ForkJoinPool tells its pool. From
     * JDK 24 on VirtualThreadSchedulerMXBean sets the same number, but it loads 450 classes, and JDK 21 to 23 lack it.
     */
    private boolean findPool() {
        if (sought) return pool != null;
        sought = true;
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) group = group.getParent();
        Thread[] threads = new Thread[group.activeCount() + 64];
        int n = group.enumerate(threads);
        for (int i = 0; i < n && pool == null; i++) {
            if (threads[i] instanceof ForkJoinWorkerThread carrier && isInGroupOfCarriers(carrier))
                pool = carrier.getPool();
        }
        return pool != null;
    }

    private static boolean isInGroupOfCarriers(Thread thread) {
        ThreadGroup group = thread.getThreadGroup(); // null if it has ended
        return group != null && group.getName().equals("CarrierThreads");
    }

    private Probe startProbe(long now) {
        Probe started = new Probe();
        Thread.startVirtualThread(started);
        patientSince = now;
        return started;
    }

    private boolean late(long now) {
        return now - patientSince >= CHECK_NANOS * Math.max(1, lent - PROMPT + 1);
    }

    /** Adds a carrier thread for the probe: by one more on loan, unless the scheduler has not started all that it may. */
    private void addCarrier(int n, long now) {
        boolean allInUse = pool.getActiveThreadCount() >= pool.getParallelism();
        if (allInUse && lent >= n) return; // it is late for other reasons
        if (allInUse) lend(lent + 1);
        patientSince = now;
        // The scheduler starts a carrier only for a thread that comes into an empty queue. Each submitting thread has a
        // queue of its own, and the monitor's has the probe. So another thread submits one.
        Scheduler.daemon(() -> Thread.startVirtualThread(() -> {}), "skein-carriers")
                .start();
    }

    private void lend(int n) {
        int current = pool.getParallelism();
        if (current != own + lent) own = current; // the program has set it meanwhile
        pool.setParallelism(own + n);
        lent = n;
    }
}
