// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** What {@link Monitor} does for workers whose steps block, compute, or get no carrier. */
public final class MonitorCheck {
    private static final long DEADLINE_SECONDS = 60;

    private MonitorCheck() {}

    private static boolean await(CountDownLatch latch) throws InterruptedException {
        return latch.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    /** Returns whether a task runs beside {@code n} tasks that wait for it, each of which blocks a step. */
    public static boolean runsBesideBlocked(int n) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(n);
        CountDownLatch free = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            Scheduler.submit(() -> {
                begun.countDown();
                try {
                    free.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                ended.countDown();
            });
        }
        if (!await(begun)) return false;
        Scheduler.submit(free::countDown);
        return await(ended);
    }

    /** Returns whether a task runs beside {@code n} tasks that compute until it has run. */
    public static boolean runsBesideComputing(int n) throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch ended = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            Scheduler.submit(() -> {
                while (!stop.get()) Thread.onSpinWait();
                ended.countDown();
            });
        }
        Scheduler.submit(() -> stop.set(true));
        return await(ended);
    }

    /** Returns whether the monitor sees that no carrier is free, tasks run all the same, and it sees when that ends. */
    public static boolean seesHeldCarriers() throws InterruptedException {
        int carriers = Integer.getInteger(
                "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch held = new CountDownLatch(carriers);
        try {
            for (int i = 0; i < carriers; i++) {
                Thread.startVirtualThread(() -> {
                    held.countDown();
                    while (!stop.get()) Thread.onSpinWait();
                });
            }
            if (!await(held)) return false;
            CountDownLatch ran = new CountDownLatch(100);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
            while (!Monitor.carriersHeld() && System.nanoTime() < end) {
                Scheduler.submit(ran::countDown);
                LockSupport.parkNanos(1_000_000);
            }
            if (!Monitor.carriersHeld()) return false;
            for (int i = 0; i < 100; i++) Scheduler.submit(ran::countDown);
            if (!await(ran)) return false;
        } finally {
            stop.set(true);
        }
        return seesFreeCarriers();
    }

    /** Returns whether tasks run on virtual threads again. */
    private static boolean seesFreeCarriers() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        AtomicBoolean virtual = new AtomicBoolean();
        while (System.nanoTime() < end && (Monitor.carriersHeld() || !virtual.get())) {
            CountDownLatch ran = new CountDownLatch(1);
            Scheduler.submit(() -> {
                virtual.set(Thread.currentThread().isVirtual());
                ran.countDown();
            });
            if (!await(ran)) return false;
            LockSupport.parkNanos(1_000_000);
        }
        return !Monitor.carriersHeld() && virtual.get();
    }
}
