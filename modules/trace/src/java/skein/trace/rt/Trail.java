// SPDX-License-Identifier: Apache-2.0
package skein.trace.rt;

import java.lang.ref.WeakReference;

/**
 * The current place in traced code: the number of the form that began last. It is written just before every call, so that
 * one {@code try} around all of the code can find the form that threw.
 *
 * <p>Only one thread or frame at a time uses a trail, so its fields are plain. The code that {@code skein.trace.form} emits
 * calls the static methods; the JIT compiles each to one store.
 */
public final class Trail {
    /** A report of an exception without a stack trace; reports are numbered in the order in which they were made. */
    record Told(WeakReference<Throwable> thrown, int number) {}

    // A class that is first needed when no stack is left stays unusable.
    private static final Class<?> LOADED = Told.class;

    private static final ThreadLocal<Told> LAST_BARE = new ThreadLocal<>();
    private static volatile int bareReports; // written under the class's lock

    private final int born = bareReports;
    private int at = -1;
    private Object args; // the arguments of that form, as a vector, if they are recorded
    private Throwable caught; // by a catch clause of the traced code, which may rethrow it
    private int caughtAt;
    private Object caughtArgs;

    /** Form {@code n} begins. */
    public static void mark(Trail trail, long n) {
        trail.at = (int) n;
    }

    /** Form {@code n} begins, with the arguments in the vector {@code args}. */
    public static void mark(Trail trail, long n, Object args) {
        trail.at = (int) n;
        trail.args = args;
    }

    /** A catch clause begins. If it rethrows {@code thrown}, the form that threw it first is still known. */
    public static void caught(Trail trail, Throwable thrown) {
        if (thrown == trail.caught) return;
        trail.caught = thrown;
        trail.caughtAt = trail.at;
        trail.caughtArgs = trail.args;
    }

    /** Returns the state for {@link #restore} at the end of a finally clause, which may run because of an exception. */
    public static Object[] save(Trail trail) {
        return new Object[] {trail.at, trail.args};
    }

    /** Ends a finally clause that has not thrown. */
    public static void restore(Trail trail, Object[] saved) {
        trail.at = (int) saved[0];
        trail.args = saved[1];
    }

    /**
     * Returns whether inner code has just reported {@code thrown}, an exception without a stack trace. If not, marks it as
     * reported. The JVM throws the same such object again and again, so an earlier report of it proves nothing. But the
     * trail of code around a report is older than the report, and the trail of code that fails later is newer.
     */
    public boolean bareReported(Throwable thrown) {
        Told last = LAST_BARE.get();
        if (last != null && last.thrown.get() == thrown && born < last.number) return true;
        LAST_BARE.set(new Told(new WeakReference<>(thrown), nextReport()));
        return false;
    }

    private static synchronized int nextReport() {
        return ++bareReports;
    }

    /** Returns the number of the form that began last. */
    public int last() {
        return at;
    }

    /** Forgets the exception that a catch clause has caught: a later exception may be the same object. */
    public void forgetCaught() {
        caught = null;
    }

    /** Returns the number of the form that threw {@code thrown}, or -1. */
    public int at(Throwable thrown) {
        return thrown == caught ? caughtAt : at;
    }

    /** Returns the arguments of the form that threw {@code thrown}, as a vector, or null. */
    public Object args(Throwable thrown) {
        return thrown == caught ? caughtArgs : args;
    }
}
