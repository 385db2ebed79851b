// SPDX-License-Identifier: Apache-2.0
package skein.rt.watch;

import java.lang.ref.WeakReference;

/**
 * Where a traced piece of code is: the number of the form that it began last, written just before every call,
 * so that one {@code try} around all of it can tell which form threw.
 *
 * <p>One thread at a time uses a trail, or one frame, so its fields are plain. The code that
 * {@code skein.trace.form} emits calls the static methods; the JIT makes a store of each.
 */
public final class Trail {
    /** A report of an exception without a stack trace; reports are numbered in the order in which they were made. */
    private record Told(WeakReference<Throwable> thrown, int number) {}

    private static final ThreadLocal<Told> LAST_BARE = new ThreadLocal<>();
    private static volatile int bareReports; // written under the class's lock

    private final int born = bareReports;
    private int at = -1;
    private Object args; // of that form, as a vector, where they are asked for
    private Throwable caught; // by a catch of the traced code, in case that throws it on
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

    /** A catch clause begins: what it does must not hide where {@code thrown} came from. */
    public static void caught(Trail trail, Throwable thrown) {
        if (thrown == trail.caught) return;
        trail.caught = thrown;
        trail.caughtAt = trail.at;
        trail.caughtArgs = trail.args;
    }

    /** Returns what {@link #restore} needs at the end of a finally clause, which may run because of an exception. */
    public static Object[] save(Trail trail) {
        return new Object[] {trail.at, trail.args};
    }

    /** Ends a finally clause that has not thrown. */
    public static void restore(Trail trail, Object[] saved) {
        trail.at = (int) saved[0];
        trail.args = saved[1];
    }

    /**
     * Whether code further in has reported {@code thrown}, an exception without a stack trace, just now; if not, it counts as
     * reported. The JVM throws one and the same such object again and again, so having seen it says nothing. But the
     * trail of code around a report is older than the report, and the trail of code that fails later is younger.
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

    /** The number of the form that began last. */
    public int last() {
        return at;
    }

    /** What a catch clause has caught is not what is thrown now, although it may be the same object. */
    public void forgetCaught() {
        caught = null;
    }

    /** The number of the form that threw {@code thrown}, or -1. */
    public int at(Throwable thrown) {
        return thrown == caught ? caughtAt : at;
    }

    /** The arguments of the form that threw {@code thrown}, as a vector, or null. */
    public Object args(Throwable thrown) {
        return thrown == caught ? caughtArgs : args;
    }
}
