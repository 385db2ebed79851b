// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.lang.ref.Cleaner;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An exception that is kept until code reads it. If no code has read it when all its carriers are garbage, or when the JVM
 * ends, it goes to the uncaught-exception handler, once.
 */
public final class Failure implements Runnable {
    /** Loaded, with its cleaner's thread, when the first failure is kept. */
    public static final class Reports {
        static final Cleaner CLEANER = Cleaner.create();
        private static final long LONGEST_REPORT_MS = 5000;
        static final Set<Failure> WITH_CARRIERS = ConcurrentHashMap.newKeySet();

        static {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(Reports::reportAll, "skein-failures"));
            } catch (IllegalStateException e) {
                // The JVM is ending already: what fails now is not reported.
            }
        }

        /** Reports on a daemon thread, because a handler that calls System.exit while the JVM ends waits forever. */
        private static void reportAll() {
            Thread reporter = new Thread(() -> WITH_CARRIERS.forEach(Failure::report), "skein-failures");
            reporter.setDaemon(true);
            reporter.start();
            try {
                reporter.join(LONGEST_REPORT_MS);
            } catch (InterruptedException e) {
                // The JVM ends without the rest of the reports.
            }
        }
    }

    private final Throwable thrown;
    private final AtomicInteger carriers; // how many are not garbage yet; 0: the handler has been told
    private volatile boolean observed; // written by a thread that reads it, read by the cleaner's thread

    private Failure(Throwable thrown, int carriers) {
        this.thrown = thrown;
        this.carriers = new AtomicInteger(carriers);
    }

    /** Keeps {@code thrown} for {@code carrier}. */
    public static Failure of(Object carrier, Throwable thrown) {
        Failure failure = new Failure(thrown, 1);
        World world = World.current();
        if (world == null) {
            Reports.WITH_CARRIERS.add(failure);
            Reports.CLEANER.register(carrier, failure);
        } else world.kept(thrown, () -> failure.observed);
        return failure;
    }

    /** Keeps {@code thrown}, which the caller gives to the handler. */
    public static Failure told(Throwable thrown) {
        return new Failure(thrown, 0);
    }

    /** Returns the exceptions that code may still read, and has not read. */
    public static List<Throwable> kept() {
        return Reports.WITH_CARRIERS.stream()
                .filter(f -> !f.observed)
                .map(f -> f.thrown)
                .toList();
    }

    /** Returns whether the handler has been told. */
    public boolean isTold() {
        return carriers.get() == 0;
    }

    /** Keeps the exception for one more carrier, from which code may read it. */
    public void keepFor(Object carrier) {
        carriers.incrementAndGet();
        Reports.CLEANER.register(carrier, this);
    }

    /** Returns the exception. */
    public Throwable thrown() {
        return thrown;
    }

    /** Returns the exception, and marks it as observed. */
    public Throwable observe() {
        observed = true;
        return thrown;
    }

    /** Called when a carrier is garbage. */
    @Override
    public void run() {
        if (carriers.decrementAndGet() == 0) report();
    }

    private void report() {
        if (!observed) Uncaught.keep(thrown); // first, so that code finds it in Uncaught.last() or in kept()
        // The cleaner's thread may still run while the JVM ends. Only the thread that removes the failure reports it.
        if (Reports.WITH_CARRIERS.remove(this) && !observed) Uncaught.tellHandler(thrown);
    }
}
