// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The exception that has ended a block, a thread or a future, kept for the code that takes it. If no code has taken it within
 * a second, or when the JVM ends, it goes to the uncaught-exception handler, once.
 *
 * <p>JavaScript reports an unhandled rejection at the end of the task, and C# when the collector finds it, which in a quiet
 * process is late or never. A time is in between: code that starts several blocks and then takes their results is in time.
 */
public final class Failure implements Runnable {
    /** After this time an exception is reported that no code has taken; 0: at once, unless a take waits. */
    private static final long REPORT_MS = Long.getLong("skein.report-ms", 1000);

    /** Loaded, with its thread, when the first failure is kept. */
    public static final class Reports {
        private static final long LONGEST_REPORT_MS = 5000;
        static final Set<Failure> UNTAKEN = ConcurrentHashMap.newKeySet();
        static final ScheduledThreadPoolExecutor TIMER = new ScheduledThreadPoolExecutor(1, Reports::thread);

        static {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(Reports::reportAll, "skein-failures"));
            } catch (IllegalStateException e) {
                // The JVM is ending already: what fails now is not reported.
            }
        }

        private static Thread thread(Runnable work) {
            Thread thread = new Thread(null, work, "skein-failures", 0, false);
            thread.setDaemon(true);
            return thread;
        }

        /** Reports on a daemon thread, because a handler that calls System.exit while the JVM ends waits forever. */
        private static void reportAll() {
            Thread reporter = thread(() -> UNTAKEN.forEach(Failure::run));
            reporter.start();
            try {
                reporter.join(LONGEST_REPORT_MS);
            } catch (InterruptedException e) {
                // The JVM ends without the rest of the reports.
            }
        }
    }

    private static volatile boolean any; // a failure has been kept, so Reports is loaded

    private final Throwable thrown;
    private final boolean told; // the handler has it, or is about to get it
    private volatile boolean taken; // written by a thread that takes it, read by the thread of the reports

    private Failure(Throwable thrown, boolean told) {
        this.thrown = thrown;
        this.told = told;
    }

    /** Keeps {@code thrown} until code takes it. */
    public static Failure of(Throwable thrown) {
        return of(thrown, false);
    }

    /** Keeps {@code thrown} until code takes it. {@code awaited}: a take waits already. */
    public static Failure of(Throwable thrown, boolean awaited) {
        Failure failure = new Failure(thrown, false);
        World world = World.current();
        if (world == null) failure.await(awaited && REPORT_MS == 0 ? 1000 : REPORT_MS);
        else world.kept(thrown, () -> failure.taken);
        return failure;
    }

    private void await(long millis) {
        Uncaught.keep(thrown); // code that gets nil may look for the reason
        Reports.UNTAKEN.add(this);
        any = true;
        try {
            Reports.TIMER.schedule(this, millis, TimeUnit.MILLISECONDS);
        } catch (Throwable t) { // no memory for the thread
            run();
        }
    }

    /** Keeps {@code thrown}, which the caller gives to the handler. */
    public static Failure told(Throwable thrown) {
        return new Failure(thrown, true);
    }

    /** Returns the exceptions that code may still take before they are reported. */
    public static List<Throwable> kept() {
        return any ? Reports.UNTAKEN.stream().map(f -> f.thrown).toList() : List.of();
    }

    /** Code has taken {@code thrown} from a channel that was closed with it. It may be that of a block. */
    static void tookCause(Throwable thrown) {
        if (any) for (Failure f : Reports.UNTAKEN) if (f.thrown == thrown) f.take();
    }

    /** Returns whether the handler has been told, when the exception was thrown. */
    public boolean isTold() {
        return told;
    }

    /** Returns the exception. */
    public Throwable thrown() {
        return thrown;
    }

    /** Returns the exception, and marks it as taken. */
    public Throwable take() {
        taken = true;
        if (any && Reports.UNTAKEN.remove(this)) Uncaught.drop(thrown);
        return thrown;
    }

    /** Reports the exception, unless it has been taken. */
    @Override
    public void run() {
        // The timer may still run while the JVM ends. Only the thread that removes the failure reports it.
        if (!taken && Reports.UNTAKEN.remove(this)) Uncaught.tellHandler(thrown);
    }
}
