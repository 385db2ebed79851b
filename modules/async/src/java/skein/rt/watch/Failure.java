// SPDX-License-Identifier: Apache-2.0
package skein.rt.watch;

import java.lang.ref.Cleaner;
import skein.rt.World;
import skein.rt.schedule.Scheduler;

/**
 * An exception that is kept until code reads it. If none has when the exception's carrier is garbage, it goes to the
 * uncaught-exception handler, once.
 */
public final class Failure implements Runnable {
    /** Loaded, with its cleaner's thread, when the first failure is kept. */
    private static final class Reports {
        static final Cleaner CLEANER = Cleaner.create();
    }

    private final Throwable thrown;
    private volatile boolean observed; // written by a thread that reads it, read by the cleaner's thread

    private Failure(Throwable thrown) {
        this.thrown = thrown;
    }

    /** Keeps {@code thrown} for {@code carrier}. */
    public static Failure of(Object carrier, Throwable thrown) {
        Failure failure = new Failure(thrown);
        World world = World.current();
        if (world == null) Reports.CLEANER.register(carrier, failure);
        else world.kept(thrown, () -> failure.observed);
        return failure;
    }

    /** Keeps {@code thrown}, which the caller gives to the handler. */
    public static Failure told(Throwable thrown) {
        return new Failure(thrown);
    }

    /** Returns the exception, and marks it as observed. */
    public Throwable observe() {
        observed = true;
        return thrown;
    }

    /** Called when the carrier is garbage. */
    @Override
    public void run() {
        if (!observed) Scheduler.uncaught(thrown);
    }
}
