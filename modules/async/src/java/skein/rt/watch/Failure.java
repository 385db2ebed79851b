// SPDX-License-Identifier: Apache-2.0
package skein.rt.watch;

import java.lang.ref.Cleaner;
import skein.rt.World;
import skein.rt.schedule.Scheduler;

/**
 * An exception that waits for somebody to ask for it. If nobody has when what carries it is garbage, it goes to the
 * uncaught-exception handler, once.
 */
public final class Failure implements Runnable {
    /** Loaded, with its cleaner's thread, when the first failure is kept. */
    private static final class Reports {
        static final Cleaner CLEANER = Cleaner.create();
    }

    private final Throwable thrown;
    private volatile boolean observed; // written by a thread that asks, read by the cleaner's thread

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

    /** {@code thrown}, of which the handler is told anyway. */
    public static Failure told(Throwable thrown) {
        return new Failure(thrown);
    }

    /** The exception, which is observed by that. */
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
