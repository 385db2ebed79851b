// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * The thread that folds, in the stack trace of what a helper has thrown: without it nobody knows which fold has failed. The
 * frames stand behind a mark, as those do that skein.async adds to exceptions of blocks; so the same property switches both off.
 */
final class Caller {
    private static final int MAX_FRAMES = 8;
    private static final boolean ADDS =
            System.getProperty("skein.async-trace", "append").equals("append");
    private static final List<String> MACHINERY = List.of(
            "java.",
            "jdk.",
            "clojure.",
            "skein.impl.",
            "skein.fold.engine.",
            "skein.fold.run$",
            "skein.fold$",
            "skein.reducers$");

    private Caller() {}

    /** Returns {@code thrown}, which this thread is about to throw, with the user's frames of this thread if it has none of them. */
    static Throwable shownIn(Throwable thrown) {
        try {
            if (ADDS) add(thrown);
        } catch (Throwable ignored) {
            // No memory or no stack for a better report: the exception itself must go its way.
        }
        return thrown;
    }

    private static void add(Throwable thrown) {
        List<StackTraceElement> trace = new ArrayList<>(List.of(thrown.getStackTrace()));
        List<StackTraceElement> caller = new ArrayList<>();
        for (StackTraceElement e : Thread.currentThread().getStackTrace())
            if (caller.size() < MAX_FRAMES && !isMachinery(e.getClassName())) caller.add(e);
        if (trace.isEmpty() || caller.isEmpty() || trace.contains(caller.getLast())) return;
        StackTraceElement first = caller.getFirst();
        trace.add(new StackTraceElement(
                "skein.ASYNC",
                "awaited-by-thread",
                first.getFileName() == null ? "NO_SOURCE_FILE" : first.getFileName(),
                Math.max(1, first.getLineNumber())));
        trace.addAll(caller);
        thrown.setStackTrace(trace.toArray(new StackTraceElement[0]));
    }

    private static boolean isMachinery(String className) {
        for (String prefix : MACHINERY) if (className.startsWith(prefix)) return true;
        return false;
    }
}
