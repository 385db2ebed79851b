// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import skein.base.Internals;
import skein.rt.Block;
import skein.rt.Result;
import skein.rt.Runner;
import skein.rt.Waiter;

/**
 * Rewrites the stack trace of an exception that ends a block: first the frames of the user's code, then the blocks and
 * threads that waited for the block, then the code that spawned it, if that was recorded. The exception stays the same
 * object. An exception whose stack trace can't be written is not changed.
 *
 * <pre>
 *   demo.async$parse.invokeStatic(async.clj:2)        what was running
 *   skein.ASYNC.awaited-by
 *   demo.async$handler.&lt;! (fetch in)(async.clj:4)     where a block waited for this one's value
 * </pre>
 *
 * <p>Nothing is stored before a failure: the waiting blocks are in the result port's queue. Follows the zero-cost async
 * stack traces of JavaScript engines and the stack trace recovery of Kotlin's coroutines. Unlike the latter it copies no
 * exception. {@code -Dskein.async-trace=off} leaves all stack traces as they are.
 */
final class AsyncTrace {
    /** The class name of the marks between the parts of a trace. */
    static final String MARK = "skein.ASYNC";

    private static final int MAX_LOGICAL = 64; // frames that are added to one exception in total
    private static final int MAX_STEPS = 64; // waiting blocks looked at for each block that fails
    private static final int MAX_ABOVE = 3; // frames of the machinery kept above the first frame of the user's code
    private static final int MAX_OF_THREAD = 8; // frames of a waiting thread, or of a spawner
    private static final boolean OFF = "off".equals(System.getProperty("skein.async-trace"));
    // The method names of marks. A waiting thread has a mark of its own: its stack takes longest to get and is added
    // once.
    private static final String AWAITED = "awaited-by";
    private static final String AWAITED_BY_THREAD = "awaited-by-thread";
    private static final String SPAWNED = "spawned-by";

    /** Prefixes of the names of classes that are left out of stack traces. Layers above add theirs. */
    private static final Set<String> MACHINERY = new CopyOnWriteArraySet<>(
            List.of("java.", "javax.", "jdk.", "sun.", "clojure.", "skein.rt.", "skein.impl."));

    private static final Map<Block, StackTraceElement[]> SPAWNERS = Collections.synchronizedMap(new WeakHashMap<>());

    private final Throwable thrown;
    private final List<StackTraceElement> trace; // the new trace
    private final Set<StackTraceElement> known; // frames that need not be added
    private int logical; // how many frames have been added in total

    private AsyncTrace(Throwable thrown, StackTraceElement[] physical) {
        this.thrown = thrown;
        trace = trimmed(physical);
        known = new HashSet<>(trace);
        logical = logicalFrames(trace);
    }

    /** Returns a new trace to be extended, or null if there is none, or if it must not be changed. */
    private static AsyncTrace of(Throwable thrown) {
        if (OFF) return null;
        StackTraceElement[] physical = thrown.getStackTrace();
        return physical.length == 0 ? null : new AsyncTrace(thrown, physical);
    }

    private void write() {
        thrown.setStackTrace(trace.toArray(new StackTraceElement[0]));
    }

    /** Extends the trace of {@code thrown}, which ends {@code frame}; {@code because} is a text, or null. */
    static void extend(Throwable thrown, Frame frame, String because) {
        AsyncTrace t = of(thrown);
        if (t == null) return;
        if (because != null)
            t.trace.add(mark("given-nil-by: " + because, t.trace.isEmpty() ? null : t.trace.getLast()));
        t.addAwaiting(frame);
        t.addSpawners(frame);
        t.write();
    }

    /** Adds to {@code thrown}, of a child on another thread, the stack of this thread, which waited for the child. */
    static void reached(Throwable thrown) {
        AsyncTrace t = of(thrown);
        if (t == null) return;
        StackTraceElement[] here = Thread.currentThread().getStackTrace();
        StackTraceElement outermost = outermost(here);
        if (outermost == null || t.known.contains(outermost))
            return; // it was thrown on this thread, or this stack has been added
        t.addAll(AWAITED_BY_THREAD, here);
        t.write();
    }

    /** Adds to {@code thrown} the stack of the thread that started the work that has failed. */
    static void begunBy(Throwable thrown, StackTraceElement[] caller) {
        AsyncTrace t = of(thrown);
        if (t == null) return;
        t.addAll(SPAWNED, caller);
        t.write();
    }

    /** Returns the frames of the user's code, and of the code that waited for it. */
    static List<StackTraceElement> userFrames(Throwable thrown) {
        return trimmed(thrown.getStackTrace());
    }

    private static StackTraceElement outermost(StackTraceElement[] elements) {
        for (int i = elements.length - 1; i >= 0; i--) if (!isMachinery(elements[i].getClassName())) return elements[i];
        return null;
    }

    static void addMachinery(String prefix) {
        MACHINERY.add(prefix);
    }

    static boolean isMachinery(String className) {
        for (String prefix : MACHINERY) if (className.startsWith(prefix)) return true;
        return false;
    }

    /** Returns a mark with the file and line of {@code place}, since editors leave out frames that have none. */
    private static StackTraceElement mark(String method, StackTraceElement place) {
        String file = place == null ? null : place.getFileName();
        return new StackTraceElement(
                MARK, method, file == null ? "NO_SOURCE_FILE" : file, file == null ? 1 : place.getLineNumber());
    }

    private static boolean isMark(StackTraceElement e) {
        return e.getClassName().equals(MARK);
    }

    private static int logicalFrames(List<StackTraceElement> trace) {
        int n = 0;
        boolean marked = false;
        for (StackTraceElement e : trace) {
            if (isMark(e)) marked = true;
            else if (marked) n++;
        }
        return n;
    }

    /** Returns the frames of the user's code, with a few of the calls that they made last. */
    static List<StackTraceElement> trimmed(StackTraceElement[] physical) {
        int first = 0;
        while (first < physical.length && isMachinery(physical[first].getClassName())) first++;
        List<StackTraceElement> trace = new ArrayList<>();
        int from = first == physical.length ? 0 : Math.max(0, first - MAX_ABOVE);
        boolean spawned = false;
        for (int i = from; i < physical.length; i++) {
            StackTraceElement e = physical[i];
            if (i < first || first == physical.length || !isMachinery(e.getClassName())) {
                if (spawned) trace.add(mark(SPAWNED, e));
                spawned = false;
                trace.add(e);
            } else if (startsInline(e)) {
                spawned = true; // the frames below called the async block above
            }
        }
        return trace;
    }

    private static boolean startsInline(StackTraceElement e) {
        return e.getMethodName().equals("async") && e.getClassName().equals("skein.rt.block.Frame");
    }

    /**
     * Adds the waiting blocks and threads, one after the other. A deep recursion fails block by block, and each of its blocks
     * would look at all those above it, which wait at the same place. So the number of steps is limited too.
     */
    private void addAwaiting(Frame frame) {
        Set<Sites.Site> places = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int steps = 0; steps < MAX_STEPS && logical < MAX_LOGICAL; steps++) {
            Waiter waiter = Result.firstWaiting(frame.port());
            if (waiter == null) return;
            if (!(waiter.block() instanceof Frame next)) {
                addThread(waiter);
                return;
            }
            frame = next;
            if (places.add(Sites.of(frame.body()).at(frame.state))) addPlace(waitingAt(frame));
        }
    }

    private void addPlace(StackTraceElement element) {
        if (!known.add(element)) return;
        trace.add(mark(AWAITED, element));
        trace.add(element);
        logical++;
    }

    private void addThread(Waiter waiter) {
        for (StackTraceElement e : trace) if (isMark(e) && e.getMethodName().equals(AWAITED_BY_THREAD)) return;
        StackTraceElement[] stack = waiter.stack();
        if (stack != null) addAll(AWAITED_BY_THREAD, stack);
    }

    private void addAll(String mark, StackTraceElement[] elements) {
        int end = Math.min(MAX_LOGICAL, logical + MAX_OF_THREAD);
        boolean marked = false;
        for (StackTraceElement e : elements) {
            if (logical >= end) break;
            if (isMachinery(e.getClassName()) || !known.add(e)) continue;
            if (!marked) trace.add(mark(mark, e));
            marked = true;
            trace.add(e);
            logical++;
        }
    }

    private void addSpawners(Frame frame) {
        StackTraceElement[] spawners = SPAWNERS.get(frame);
        if (spawners != null) addAll(SPAWNED, spawners);
    }

    /** Returns the place where a parked frame waits, as an element of a stack trace. */
    private static StackTraceElement waitingAt(Frame frame) {
        Body body = frame.body();
        String className = Internals.function(body.getClass().getName());
        Sites sites = Sites.of(body);
        Sites.Site site = sites.at(frame.state);
        String file = fileName(sites.file());
        if (site == null) return new StackTraceElement(className, "run", file, -1);
        return new StackTraceElement(className, site.form(), file, site.line());
    }

    private static String fileName(String path) {
        return path == null ? null : path.substring(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
    }

    /** Returns a short text for an exception, with its place in the user's code. */
    static String words(Throwable thrown) {
        String words = Failures.text(thrown);
        for (StackTraceElement e : thrown.getStackTrace()) {
            if (isMark(e)) break;
            if (!isMachinery(e.getClassName())) return words + " (" + e.getFileName() + ":" + e.getLineNumber() + ")";
        }
        return words;
    }

    /** Records the calling code as the one that spawns {@code frame}. It walks the stack. */
    static void noteSpawner(Frame frame) {
        List<StackTraceElement> elements = StackWalker.getInstance()
                .walk(frames -> frames.filter(f -> !isMachinery(f.getClassName()))
                        .limit(MAX_OF_THREAD)
                        .map(StackWalker.StackFrame::toStackTraceElement)
                        .collect(java.util.stream.Collectors.toCollection(ArrayList::new)));
        Runner runner = Runner.current();
        StackTraceElement[] further = runner == null || runner.block == null ? null : SPAWNERS.get(runner.block);
        if (further != null) for (StackTraceElement e : further) if (elements.size() < MAX_OF_THREAD) elements.add(e);
        SPAWNERS.put(frame, elements.toArray(new StackTraceElement[0]));
    }
}
