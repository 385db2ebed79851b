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
 * The state of a thread or block that can be cancelled: a stack of {@link Region}s. A frame without regions has no
 * cancellable, and pays one null check for each step and each park.
 */
public final class Cancellable {
    /*
     * Where the thread or block is, and how a cancellation of its top region is delivered there:
     *
     *   FRESH     begun == false       the block or function is not run at all
     *   RUNNING   thread != null       the thread is interrupted
     *   PARKED    wait != null         the wait is withdrawn, and the exception is thrown where the block parked
     *   BETWEEN   neither              its wait is claimed, so it is about to run; then as RUNNING
     *
     *   S1  A cancelled wait is never completed, and a completed one is never cancelled: the claim decides. So a
     *       taken value reaches its block, and a withdrawn put is never delivered.
     *   S2  A region's cancellation is delivered once, when the region is the top and no shield is active inside it. A
     *       region that is entered before then is cancelled too. The regions inside are cancelled with it, except for
     *       those behind such a shield.
     *   S3  The thread is interrupted only while it runs the block or function. An interrupt that was not noticed is cleared
     *       when the region is left or the step ends.
     *   S4  A block or function that was cancelled before it began is not run.
     *
     * Lock order: channels, then this monitor. Waits are withdrawn, and owners are called, outside of both.
     */

    private static final ThreadLocal<Cancellable> OF_THREAD = new ThreadLocal<>();

    // All of these are guarded by this.
    private Frame frame; // null: a thread
    private Thread thread; // the thread that runs it now
    private BooleanSupplier wait; // of a parked block: withdraws the operation, unless it has happened
    private Region top;
    private Region interruptedFor; // its thread was interrupted for this region, and has not noticed yet
    private boolean begun;
    private int shields;
    private Cancellable outside; // of a child on a thread: the thread's cancellable before, as in a pool

    private Cancellable(Frame frame, Thread thread) {
        this.frame = frame;
        this.thread = thread;
        this.begun = thread != null;
    }

    /** Makes the cancellable of a child that has not begun. */
    Cancellable() {
        this(null, null);
    }

    /** Returns the cancellable of the block that runs on this thread, otherwise that of the thread. */
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

    /** Returns the cancellable of the block that {@code runner} runs on this thread, otherwise that of the thread, or null. */
    public static Cancellable of(Runner runner) {
        return runner == null || runner.frame() == null
                ? OF_THREAD.get()
                : runner.frame().cancellable();
    }

    /** Returns the innermost region that this thread or its block is in, or null. */
    public static Region innermost() {
        Cancellable mine = of(Runner.current());
        return mine == null ? null : mine.top();
    }

    private synchronized Region top() {
        return top;
    }

    // Regions

    /** Enters {@code region}. It is cancelled too if an interrupt for the region around it has not been noticed. */
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

    /** Ends {@code region}, and those inside it, and clears its interrupt if that was not noticed. */
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

    /** Removes the cancellable of a block that is in no region any more. */
    private void detach() {
        if (top == null && shields == 0 && frame != null) frame.cancellable(null);
    }

    private boolean takeInterrupt() {
        interruptedFor = null;
        return Thread.interrupted();
    }

    /** Delays cancellations until {@link #unshield} has been called as often. */
    public synchronized void shield() {
        Region region = interruptedFor;
        if (region != null && takeInterrupt()) region.delivered = false;
        shields++;
    }

    /** Undoes {@link #shield}. */
    public synchronized void unshield() {
        shields--;
        deliver();
        detach();
    }

    /**
     * Marks {@code region} cancelled, and adds to {@code inner} the regions inside it that are cancelled with it: all but
     * those entered behind a shield. Returns false if it is cancelled already, or has ended.
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

    /** Called under the monitor. Returns a wait for the caller to withdraw outside of the monitor, or null. */
    private BooleanSupplier deliver() {
        Region region = top;
        if (region == null || !region.requested || region.delivered || shields > region.shields) return null;
        if (thread == null) return wait;
        region.delivered = true;
        interruptedFor = region;
        thread.interrupt();
        return null;
    }

    /** Withdraws the operation of the parked block. Returns false if it does not wait. */
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

    /** Throws in the parked block. The caller has withdrawn its wait, and therefore owns the block. */
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

    /** Makes this the cancellable of the block {@code child}, which has not begun. */
    public synchronized void bind(Frame child) {
        frame = child;
    }

    /** A step begins on this thread. Returns false if the block was cancelled before its first step. */
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

    /** The step on this thread has ended. The block may run on another thread by now. */
    public synchronized void exit() {
        if (thread != Thread.currentThread()) return;
        if (interruptedFor != null) takeInterrupt();
        thread = null;
        if (frame != null) return;
        if (outside == null) OF_THREAD.remove();
        else OF_THREAD.set(outside);
    }

    /** Tells the owner that the child has thrown. Returns what {@link Region.Owner#failed} returns. */
    public boolean failed(Throwable thrown) {
        Region child = child();
        return child == null || child.owner == null || child.owner.failed(child, thrown);
    }

    /** Returns the exception for the result of the child, which has thrown: what {@link Region.Owner#cause} returns. */
    public Throwable cause(Throwable thrown) {
        Region child = child();
        return child == null || child.owner == null ? thrown : child.owner.cause(child, thrown);
    }

    /** Returns the outermost region. */
    private synchronized Region child() {
        Region child = top;
        while (child != null && child.outer != null) child = child.outer;
        return child;
    }

    /** The child has ended, and its result is delivered. */
    public void ended(Object value, Throwable thrown, Runnable read) {
        Region child = child();
        synchronized (this) {
            for (Region r = top; r != null; r = r.outer) r.left = true;
            top = null;
        }
        if (child != null && child.owner != null) child.owner.ended(child, value, thrown, read);
    }

    // For inspection

    /** Returns the frame or the thread, or null for a child that has not begun, or has ended. */
    public synchronized Object party() {
        return frame == null ? thread : frame;
    }

    /** Returns the regions that it is in, the innermost first. */
    public synchronized List<Region> regions() {
        List<Region> regions = new ArrayList<>();
        for (Region r = top; r != null; r = r.outer) regions.add(r);
        return regions;
    }

    // Parking

    /** Throws if the thread was interrupted for a cancellation that the block has not noticed yet. */
    public synchronized void check() {
        if (interruptedFor != null && takeInterrupt()) throw cancellation();
    }

    /** The block is about to wait. A thread for which {@code withdraw} returns true then owns the block. */
    public synchronized void parks(BooleanSupplier withdraw) {
        check();
        wait = withdraw;
        thread = null;
    }

    /** The block does not wait after all. */
    public synchronized void unparks() {
        wait = null;
        thread = Thread.currentThread();
        deliver();
    }
}
