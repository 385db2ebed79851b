// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import skein.rt.Frame;
import skein.rt.Runner;

/**
 * A thread or a block, as something that can be cancelled. It has a stack of {@link Region}s. A frame without regions
 * has no cancellable, and pays one null check a step and a park.
 */
public final class Cancellable {
    /*
     * Where the thread or block is, and how a cancellation of its top region is delivered there:
     *
     *   FRESH     begun == false       the block or function is not run at all
     *   RUNNING   thread != null       the thread is interrupted
     *   PARKED    wait != null         the wait is withdrawn; the exception is thrown where the block parked
     *   BETWEEN   neither              its wait is claimed, so it is about to run: as RUNNING, when it does
     *
     *   S1  A cancelled wait is never completed, and a completed one never cancelled: claiming it decides. So a
     *       value that has been taken reaches its block, and a put that was withdrawn is never delivered.
     *   S2  A region's cancellation is delivered once, when it is the top and no shield is up inside it. The
     *       regions inside are cancelled with it, but for those that such a shield keeps; and so is one that is entered
     *       before the cancellation has been noticed.
     *   S3  The thread is interrupted only while it runs the block or function, and an interrupt that nobody has noticed goes
     *       when the region is left or the step ends.
     *   S4  What was cancelled before it began is not run.
     *
     * Lock order: channels, then this monitor. A wait is withdrawn, and owners are told, outside of both.
     */

    private static final ThreadLocal<Cancellable> OF_THREAD = new ThreadLocal<>();

    // All of these are guarded by this.
    private Frame frame; // null: a thread
    private Thread thread; // that runs it now
    private BooleanSupplier wait; // by which the block is parked: withdraws it, unless it has happened
    private Region top;
    private Region interruptedFor; // its thread was interrupted, and has not been seen to notice
    private boolean begun;
    private int shields;
    private Cancellable outside; // of a child on a thread: what the thread was before, as one of a pool may be

    private Cancellable(Frame frame, Thread thread) {
        this.frame = frame;
        this.thread = thread;
        this.begun = thread != null;
    }

    /** One that has not begun. */
    Cancellable() {
        this(null, null);
    }

    /** That of the block that runs on this thread, or else of the thread. */
    public static Cancellable current() {
        Runner runner = Runner.current();
        Frame frame = runner == null ? null : runner.frame();
        if (frame != null) {
            if (frame.cancellable() == null) frame.cancellable(new Cancellable(frame, Thread.currentThread()));
            return frame.cancellable();
        }
        Cancellable mine = OF_THREAD.get();
        if (mine == null) OF_THREAD.set(mine = new Cancellable(null, Thread.currentThread()));
        return mine;
    }

    /** That of the block that {@code runner} runs on this thread, or else of the thread, or null. */
    public static Cancellable of(Runner runner) {
        return runner == null || runner.frame() == null
                ? OF_THREAD.get()
                : runner.frame().cancellable();
    }

    /** The innermost region that this thread or its block is in, or null. */
    public static Region innermost() {
        Cancellable mine = of(Runner.current());
        return mine == null ? null : mine.top();
    }

    private synchronized Region top() {
        return top;
    }

    // Regions

    /** A region entered while an interrupt for the one around it has not been noticed is itself cancelled. */
    synchronized void push(Region region) {
        Region outer = top;
        region.outer = outer;
        region.shields = shields;
        top = region;
        if (outer == null || interruptedFor != outer) return;
        interruptedFor = null;
        if (!Thread.currentThread().isInterrupted()) return;
        outer.delivered = false;
        region.requested = true;
        region.requestedAt = outer.requestedAt;
        region.delivered = true;
        interruptedFor = region;
    }

    /** Ends {@code region}, and those in it; what is left of its interrupt goes with it. */
    synchronized void pop(Region region, boolean tellsOuter) {
        while (top != null && !region.left) {
            top.left = true;
            if (interruptedFor == top) takeInterrupt();
            top = top.outer;
        }
        if (tellsOuter && top != null && top.requested) top.delivered = true;
        deliver();
        detach();
    }

    /** A block that is in no region any more needs none. */
    private void detach() {
        if (top == null && shields == 0 && frame != null) frame.cancellable(null);
    }

    private boolean takeInterrupt() {
        interruptedFor = null;
        return Thread.interrupted();
    }

    /** From now on cancellations wait, until {@link #unshield} has been called as often. */
    public synchronized void shield() {
        Region region = interruptedFor;
        if (region != null && takeInterrupt()) region.delivered = false;
        shields++;
    }

    /** Ends what {@link #shield} began. */
    public synchronized void unshield() {
        shields--;
        deliver();
        detach();
    }

    /**
     * Marks {@code region} cancelled, and adds to {@code inner} those inside it that are cancelled with it: all but those
     * entered behind a shield. False when it has been already, or has ended.
     */
    boolean cancel(Region region, Collection<Region> inner) {
        BooleanSupplier withdrawn;
        synchronized (this) {
            if (region.requested || region.left) return false;
            region.requested = true;
            region.requestedAt = System.nanoTime();
            for (Region r = top; r != null && r != region; r = r.outer) {
                if (r.shields == region.shields) inner.add(r);
            }
            withdrawn = deliver();
        }
        if (withdrawn != null && withdrawn.getAsBoolean()) resumeCancelled();
        return true;
    }

    /** Under the monitor. Returns a wait for the caller to withdraw outside of it, or null. */
    private BooleanSupplier deliver() {
        Region region = top;
        if (region == null || !region.requested || region.delivered || shields > region.shields) return null;
        if (thread == null) return wait;
        region.delivered = true;
        interruptedFor = region;
        thread.interrupt();
        return null;
    }

    /** Takes back what the parked block waits in. Returns false when it waits for nothing. */
    public boolean withdraw() {
        BooleanSupplier waits;
        synchronized (this) {
            waits = wait;
        }
        if (waits == null || !waits.getAsBoolean()) return false;
        synchronized (this) {
            wait = null;
        }
        return true;
    }

    /** The parked block is now the caller's, who withdrew its wait. */
    private void resumeCancelled() {
        synchronized (this) {
            wait = null;
            if (top != null) top.delivered = true;
        }
        frame.throwAtPark(cancellation());
    }

    private static CancellationException cancellation() {
        return new CancellationException("Cancelled: its scope is ending, or its time is up.");
    }

    // The life of the block or thread

    /** This is the block {@code child}, which has not begun. */
    public synchronized void bind(Frame child) {
        frame = child;
    }

    /** A step begins on this thread. Returns false when it was cancelled before its first step. */
    public synchronized boolean enter() {
        wait = null;
        thread = Thread.currentThread();
        if (frame == null) {
            outside = OF_THREAD.get();
            OF_THREAD.set(this);
        }
        if (!begun) {
            begun = true;
            if (top.requested) return false;
        }
        deliver();
        return true;
    }

    /** The step that this thread ran has ended. The block may be running on another by now. */
    public synchronized void exit() {
        if (thread != Thread.currentThread()) return;
        if (interruptedFor != null) takeInterrupt();
        thread = null;
        if (frame != null) return;
        if (outside == null) OF_THREAD.remove();
        else OF_THREAD.set(outside);
    }

    /** The child throws. */
    public void failed(Throwable thrown) {
        Region child = child();
        if (child != null && child.owner != null) child.owner.failed(child, thrown);
    }

    /** The outermost region. */
    private synchronized Region child() {
        Region child = top;
        while (child != null && child.outer != null) child = child.outer;
        return child;
    }

    /** The child has ended, and its result is where it belongs. */
    public void ended(Object value, Throwable thrown) {
        Region child = child();
        synchronized (this) {
            for (Region r = top; r != null; r = r.outer) r.left = true;
            top = null;
        }
        if (child != null && child.owner != null) child.owner.ended(child, value, thrown);
    }

    // For inspection

    /** The frame or the thread; null of a child that has not begun, or has ended. */
    public synchronized Object party() {
        return frame == null ? thread : frame;
    }

    /** The regions that it is in, the innermost first. */
    public synchronized List<Region> regions() {
        List<Region> regions = new ArrayList<>();
        for (Region r = top; r != null; r = r.outer) regions.add(r);
        return regions;
    }

    // Parking

    /** Throws if the block has been cancelled and nothing has told it yet. */
    public synchronized void check() {
        if (interruptedFor != null && takeInterrupt()) throw cancellation();
    }

    /** The block is about to wait: from now on the thread for which {@code withdraw} returns true owns the block. */
    public synchronized void parks(BooleanSupplier withdraw) {
        check();
        wait = withdraw;
        thread = null;
    }

    /** It need not wait after all. */
    public synchronized void unparks() {
        wait = null;
        thread = Thread.currentThread();
        deliver();
    }
}
