// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** Where exceptions go that no code can catch: to the thread's uncaught-exception handler. The last of them are kept. */
public final class Uncaught {
    /** How many exceptions are kept. */
    public static final int KEPT = 16;

    /** An exception that nobody caught: when, in milliseconds since 1970, and on which thread it was reported. */
    public record Report(Throwable thrown, long at, String thread) {}

    private static final ArrayDeque<Report> LAST = new ArrayDeque<>(); // guarded by itself
    private static final Set<Throwable> ALL =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    private static final Set<Throwable> RETHROWN =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private Uncaught() {}

    /**
     * Keeps an exception that code on this thread has thrown and no code can catch, and gives it to the thread's
     * uncaught-exception handler. If an interrupt was the cause, the thread stays interrupted.
     */
    public static void report(Throwable thrown) {
        if (!World.told(thrown)) {
            keep(thrown);
            tellHandler(thrown);
        }
        Cancellable.restoreInterrupt(thrown);
    }

    /** Gives {@code thrown} to the handler, without keeping it as {@link #report} does. */
    public static void tellHandler(Throwable thrown) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
        } catch (Throwable ignored) {
            // As in the JVM, an exception of a handler is ignored: it must not end the thread of a worker or of the
            // timers.
            Cancellable.restoreInterrupt(ignored);
        }
    }

    /** Keeps an exception that goes to an uncaught-exception handler, unless code takes it before. */
    public static void keep(Throwable thrown) {
        ALL.add(thrown);
        synchronized (LAST) {
            LAST.removeIf(r -> r.thrown == thrown); // the JVM may throw the same object often
            if (LAST.size() == KEPT) LAST.removeFirst();
            LAST.addLast(new Report(
                    thrown, System.currentTimeMillis(), Thread.currentThread().getName()));
        }
    }

    /** Returns whether {@link #keep} has been called with {@code thrown}, which code may have taken since. */
    public static boolean has(Throwable thrown) {
        return ALL.contains(thrown);
    }

    /** Returns the last exceptions that no code has taken, oldest first. */
    public static List<Report> last() {
        synchronized (LAST) {
            return new ArrayList<>(LAST);
        }
    }

    /** Code has taken the exception. */
    static void drop(Throwable thrown) {
        synchronized (LAST) {
            LAST.removeIf(r -> r.thrown == thrown);
        }
    }

    /** Returns {@code thrown}, which ended a block or a thread and is about to be rethrown to code that takes its result. */
    public static Throwable rethrown(Throwable thrown) {
        drop(thrown);
        World.rethrows(thrown);
        if (Region.isInterruption(thrown)) RETHROWN.add(thrown);
        return thrown;
    }

    /** Returns whether {@code thrown} is an interruption with which {@link #rethrown} has been called. */
    public static boolean wasRethrown(Throwable thrown) {
        return RETHROWN.contains(thrown);
    }
}
