// SPDX-License-Identifier: Apache-2.0
package skein.rt.watch;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import skein.rt.Channel;
import skein.rt.Frame;
import skein.rt.Waiter;
import skein.rt.World;
import skein.rt.scope.Region;

/**
 * Records of blocks that failed: the last exceptions that no code has taken, and the blocks that got nil because of one. It
 * does nothing for a block that does not fail.
 */
public final class Failures {
    /** How many exceptions are kept. */
    public static final int KEPT = 16;

    /** An exception that nobody caught: when, in milliseconds since 1970, and on which thread it was reported. */
    public record Uncaught(Throwable thrown, long at, String thread) {}

    /** A failure as text. It does not hold the exception, which might hold the key of the map in which this is kept. */
    private record Told(String words, WeakReference<Throwable> thrown) {}

    private static final ArrayDeque<Uncaught> LAST = new ArrayDeque<>(); // guarded by itself
    private static final Map<Channel, Told> FAILED = Collections.synchronizedMap(new WeakHashMap<>());
    private static final Map<Frame, Told> GIVEN_NIL = Collections.synchronizedMap(new WeakHashMap<>());
    private static final Map<Throwable, String> BECAUSE = Collections.synchronizedMap(new WeakHashMap<>());
    private static final Set<Throwable> UNCAUGHT =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    private static final Set<Throwable> RETHROWN =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    private static boolean any; // a hint: set before a failure closes the first port, read by takers of nil

    // A class that is first needed when the process can open no more files, or has no stack left, stays unusable.
    private static final Class<?>[] LOADED = {
        Failure.class,
        Failure.Reports.class,
        Told.class,
        Uncaught.class,
        AsyncTrace.class,
        Trail.class,
        Trail.Told.class,
        Sites.class,
        Sites.Site.class
    };

    private Failures() {}

    /** Loads the classes that a failure needs. */
    public static void load() {}

    /** A block is about to end by {@code thrown}; blocks that wait for its value will get nil. */
    public static void failed(Frame frame, Throwable thrown) {
        try {
            Told cause = GIVEN_NIL.get(frame);
            boolean another = cause != null && cause.thrown.get() != thrown;
            if (another) BECAUSE.put(thrown, cause.words);
            else if (thrown.getStackTrace().length == 0)
                BECAUSE.remove(thrown); // the JVM throws one object for many reasons
            AsyncTrace.extend(thrown, frame, another ? cause.words : null);
            Told told = new Told(AsyncTrace.words(thrown), new WeakReference<>(thrown));
            any = true;
            FAILED.put(frame.port(), told);
            for (Waiter waiter : frame.port().waiters(true))
                if (waiter.frame() != null) GIVEN_NIL.put(waiter.frame(), told);
        } catch (Throwable ignored) {
            // No memory or no stack for a better report: the exception itself must go its way.
        }
    }

    /** A block has taken nil from {@code port}, which was closed. */
    public static void tookNil(Frame frame, Object port) {
        if (!any || !(port instanceof Channel)) return;
        Told told = FAILED.get(port);
        if (told != null) GIVEN_NIL.put(frame, told);
    }

    /** Returns the exception that ended the block of {@code port}, or null, without marking it as observed. */
    public static Throwable of(Channel port) {
        Told told = FAILED.get(port);
        return told == null ? null : told.thrown.get();
    }

    /** {@code thrown}, of a child on another thread, is about to be thrown on this one, which waited. Returns it. */
    public static Throwable reached(Throwable thrown) {
        try {
            AsyncTrace.reached(thrown);
        } catch (Throwable ignored) {
            // No memory or no stack for a better report: the exception itself must go its way.
        }
        return thrown;
    }

    /** Adds the stack of {@code caller}, a Throwable made where the work began, to {@code thrown}, which has ended the work. */
    public static void begunBy(Throwable thrown, Throwable caller) {
        try {
            AsyncTrace.begunBy(thrown, caller.getStackTrace());
        } catch (Throwable ignored) {
            // As above.
        }
    }

    /**
     * Returns the stack trace of an exception without the frames of Clojure, the JDK and this runtime, except for the calls
     * that the user's code made last. Then come the code that waited, and the code that spawned.
     */
    public static List<StackTraceElement> userFrames(Throwable thrown) {
        return AsyncTrace.userFrames(thrown);
    }

    /** Returns whether the class of that name belongs to Clojure, the JDK or this runtime, and is left out of stack traces. */
    public static boolean isMachinery(String className) {
        return AsyncTrace.isMachinery(className);
    }

    /** Leaves classes whose names begin with {@code prefix} out of stack traces. A layer above calls this for its classes. */
    public static void addMachinery(String prefix) {
        AsyncTrace.addMachinery(prefix);
    }

    /** Returns a description of the failure that gave nil to the block that {@code thrown} ended, or null. */
    public static String because(Throwable thrown) {
        return BECAUSE.get(thrown);
    }

    /** Keeps an exception that goes to an uncaught-exception handler. */
    public static void uncaught(Throwable thrown) {
        UNCAUGHT.add(thrown);
        synchronized (LAST) {
            LAST.removeIf(u -> u.thrown == thrown); // the JVM may throw the same object often
            if (LAST.size() == KEPT) LAST.removeFirst();
            LAST.addLast(new Uncaught(
                    thrown, System.currentTimeMillis(), Thread.currentThread().getName()));
        }
    }

    /** Returns whether {@link #uncaught} has been called with {@code thrown}, which code may have taken since. */
    public static boolean wasUncaught(Throwable thrown) {
        return UNCAUGHT.contains(thrown);
    }

    /** Returns {@code thrown}, which ended a block or a thread and is about to be rethrown to code that takes its result. */
    public static Throwable rethrown(Throwable thrown) {
        synchronized (LAST) {
            LAST.removeIf(u -> u.thrown == thrown);
        }
        World.rethrows(thrown);
        if (Region.isInterruption(thrown)) RETHROWN.add(thrown);
        return thrown;
    }

    /** Returns whether {@code thrown} is an interruption with which {@link #rethrown} has been called. */
    public static boolean wasRethrown(Throwable thrown) {
        return RETHROWN.contains(thrown);
    }

    /** Returns the last exceptions that no code has taken, oldest first. */
    public static List<Uncaught> last() {
        synchronized (LAST) {
            return new ArrayList<>(LAST);
        }
    }
}
