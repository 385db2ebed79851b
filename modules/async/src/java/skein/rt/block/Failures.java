// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import java.lang.ref.WeakReference;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import skein.rt.Block;
import skein.rt.Channel;
import skein.rt.Failure;
import skein.rt.Uncaught;
import skein.rt.Waiter;
import skein.rt.schedule.Spins;

/**
 * Records of blocks that failed, and of the blocks that got nil because of one. It does nothing for a block that does not
 * fail.
 */
public final class Failures {
    /** A failure as text. It does not hold the exception, which might hold the key of the map in which this is kept. */
    private record Told(String words, WeakReference<Throwable> thrown) {}

    private static final int MAX_MESSAGE = 200; // characters

    private static final Map<Channel, Told> FAILED = Collections.synchronizedMap(new WeakHashMap<>());
    private static final Map<Block, Told> GIVEN_NIL = Collections.synchronizedMap(new WeakHashMap<>());
    private static final Map<Throwable, String> BECAUSE = Collections.synchronizedMap(new WeakHashMap<>());
    private static boolean any; // a hint: set before a failure closes the first port, read by takers of nil

    // A class that is first needed when the process can open no more files, or has no stack left, stays unusable.
    private static final Class<?>[] LOADED = {
        Failure.class,
        Failure.Reports.class,
        Told.class,
        Uncaught.Report.class,
        AsyncTrace.class,
        Sites.class,
        Sites.Site.class,
        ThreadWaiter.class,
        Spins.class
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
                if (waiter.block() != null) GIVEN_NIL.put(waiter.block(), told);
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

    /** Returns the class and message of an exception on one line. */
    public static String text(Throwable thrown) {
        String name = thrown.getClass().getSimpleName();
        String message;
        try {
            message = thrown.getMessage();
        } catch (Throwable e) { // the exception's class may override it
            return name + " whose message can't be read";
        }
        if (message == null) return name;
        String line = message.replace("\n", "\\n");
        return name + " " + (line.length() <= MAX_MESSAGE ? line : line.substring(0, MAX_MESSAGE - 1) + "…");
    }

    /** Returns a description of the failure that gave nil to the block that {@code thrown} ended, or null. */
    public static String because(Throwable thrown) {
        return BECAUSE.get(thrown);
    }
}
