// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import skein.base.Cancelled;

/**
 * The state of a thread or block that can be cancelled: a stack of {@link Region}s. A block without regions has no
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
     *   S5  Code lends its thread to a block that it starts there, until the block parks or ends. A cancellation of the code
     *       then interrupts the block, which holds the code up, and the thread again when the block has returned it. It
     *       waits for that while the block is shielded, or is a child that is cancelled too and so interrupted anyway.
     *
     * Lock order: channels, then this monitor. Waits are withdrawn, and owners are called, outside of both.
     */

    /** In place of a count of interrupts: the thread has one that was not noticed. */
    private static final int UNNOTICED = -1;

    // All of these are guarded by this.
    private Block block; // null: a thread
    private Thread thread; // the thread that runs it now
    private BooleanSupplier wait; // of a parked block: withdraws the operation, unless it has happened
    private Region top;
    private Region interruptedFor; // its thread was interrupted for this region, and has not noticed yet
    private boolean begun;
    private volatile int shields; // volatile: read by those who cancel the code that lends its thread to the block
    private int interrupts; // how many its thread has got for its regions
    private Cancellable outside; // of a child on a thread: the thread's cancellable before, as in a pool

    private Region child; // of a child; written before other threads see it
    // While it lends its thread:
    private Cancellable beneath; // the one that has lent it the thread, or null; for this thread only
    private volatile Cancellable above; // that of the block, or null; volatile: read by cancellers

    private Cancellable(Block block, Thread thread) {
        this.block = block;
        this.thread = thread;
        this.begun = thread != null;
    }

    /** Makes the cancellable of a child that has not begun. */
    Cancellable() {
        this(null, null);
    }

    /** Returns the cancellable of the block that runs on this thread, otherwise that of the thread. */
    public static Cancellable current() {
        Runner runner = Runner.here();
        Block block = runner.block;
        if (block != null) {
            if (block.cancellable() == null) {
                Cancellable made = new Cancellable(block, Thread.currentThread());
                block.cancellable(made);
                if (runner.lender() != null) runner.lender().above = made;
            }
            return block.cancellable();
        }
        if (runner.own() == null) runner.own(new Cancellable(null, Thread.currentThread()));
        return runner.own();
    }

    /** Returns the cancellable of the block that {@code runner} runs on this thread, otherwise that of the thread, or null. */
    public static Cancellable of(Runner runner) {
        if (runner == null) return null;
        Block block = runner.block;
        return block == null ? runner.own() : block.cancellable();
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

    /** Enters {@code region}. It is cancelled too if a cancellation of the region around it has not been noticed. */
    synchronized void push(Region region) {
        if (!begun) child = region;
        Region outer = top;
        region.outer = outer;
        region.shields = shields;
        region.interruptsBeneath = noticedFrom(lenderHere());
        top = region;
        if (outer == null || !outer.requested || shields > outer.shields || noticed(outer)) return;
        outer.delivered = false;
        region.requested = true;
        region.requestedAt = outer.requestedAt;
        region.due = outer.due;
        deliver();
    }

    private boolean noticed(Region region) {
        return region.delivered
                && (interruptedFor != region || !Thread.currentThread().isInterrupted());
    }

    /**
     * Ends {@code region}, and those inside it, and clears its interrupt if that was not noticed.
     *
     * @param thrown leaves the region, or null. If it is an interruption, it also delivers a cancellation of the outer region
     */
    synchronized void pop(Region region, Throwable thrown) {
        while (top != null && !region.left) {
            top.left = true;
            if (interruptedFor == top) takeInterrupt();
            top = top.outer;
        }
        boolean interrupts = Region.isInterruption(thrown);
        if (interrupts && top != null && top.requested) top.delivered = true;
        deliver();
        detach();
        // What was taken for an interrupt of this region, and goes no further, may have been one for code beneath.
        Cancellable lender = lenderHere();
        if (lender != null && region.requested && !interrupts && interruptsFrom(lender) != region.interruptsBeneath)
            Thread.currentThread().interrupt();
    }

    /** The scope whose body this is waits for its children. They are cancelled with it, so the wait is not interrupted. */
    synchronized void joins(Region region) {
        if (interruptedFor == region) takeInterrupt();
        region.delivered = true;
    }

    /** Removes the cancellable of a block or thread that is in no region any more. */
    private void detach() {
        if (top != null || shields > 0) return;
        if (block != null) block.cancellable(null);
        else Runner.here().own(outside);
    }

    private boolean takeInterrupt() {
        interruptedFor = null;
        return Thread.interrupted();
    }

    /** Delays cancellations until {@link #unshield} has been called as often. */
    public void shield() {
        synchronized (this) {
            shields++;
            takeBack();
        }
        for (Cancellable c = lenderHere(); c != null; c = c.beneath) c.takeBack();
    }

    private synchronized void takeBack() {
        Region region = interruptedFor;
        if (region != null && takeInterrupt()) region.delivered = false;
    }

    /** Undoes {@link #shield}. */
    public void unshield() {
        synchronized (this) {
            shields--;
            deliver();
            detach();
        }
        for (Cancellable c = lenderHere(); c != null; c = c.beneath) c.deliverHere();
    }

    /**
     * Marks {@code region} cancelled, and adds to {@code inner} the regions inside it that are cancelled with it: all but
     * those entered behind a shield. Returns false if it is cancelled already, or has ended.
     */
    synchronized boolean request(Region region, Collection<Region> inner) {
        if (region.requested || region.left) return false;
        region.requested = true;
        region.requestedAt = System.nanoTime();
        for (Region r = top; r != null && r != region; r = r.outer) {
            if (r.shields == region.shields) inner.add(r);
        }
        return true;
    }

    /** Delivers what has been requested. All that is cancelled together has been marked. */
    void deliverRequested() {
        BooleanSupplier withdraw;
        synchronized (this) {
            for (Region r = top; r != null; r = r.outer) r.due = r.requested;
            withdraw = deliver();
        }
        if (withdraw != null && withdraw.getAsBoolean()) resumeCancelled();
    }

    /** Delivers, on the thread that runs its code or to which its code has lent it, what could not be delivered before. */
    private synchronized void deliverHere() {
        deliver();
    }

    /** Called under the monitor. Returns a wait for the caller to withdraw outside of the monitor, or null. */
    private BooleanSupplier deliver() {
        Region region = top;
        if (region == null || !region.due || region.delivered || shields > region.shields) return null;
        if (thread == null) return wait;
        if (isHeldBack()) return null;
        region.delivered = true;
        interruptedFor = region;
        interrupts++;
        thread.interrupt();
        return null;
    }

    /** Returns whether an interrupt must wait until a block has returned the thread. */
    private boolean isHeldBack() {
        for (Cancellable c = above; c != null; c = c.above) if (c.shields > 0 || c.isCancelled()) return true;
        return false;
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
        block.throwAtPark(cancellation());
    }

    /** Returns the exception of its cancellation, which names the outermost region that was cancelled with the top one. */
    public synchronized CancellationException cancellation() {
        Region region = top;
        if (region == null) return Cancelled.fromOutside("Cancelled.");
        while (region.outer != null && region.outer.requested) region = region.outer;
        return region.cancellation();
    }

    // The life of the block or thread

    /** Makes this the cancellable of the block {@code child}, which has not begun. */
    public synchronized void bind(Block child) {
        block = child;
    }

    /** A step begins on this thread. Returns false if the block was cancelled before its first step. */
    public synchronized boolean enter() {
        wait = null;
        thread = Thread.currentThread();
        if (block == null) {
            Runner runner = Runner.here();
            outside = runner.own();
            runner.own(this);
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
        if (block != null) return;
        Runner.here().own(outside);
    }

    // Lending the thread

    /**
     * Code lends this thread to a block. Returns a number for {@link #regain}.
     *
     * @param caller the cancellable of the code, or null
     * @param block the cancellable of the block, or null
     */
    public static int lend(Runner runner, Cancellable caller, Cancellable block) {
        if (caller != null) {
            caller.beneath = runner.lender();
            runner.lender(caller);
        }
        Cancellable lender = runner.lender();
        if (lender == null) return 0;
        if (block != null) lender.above = block;
        return noticedFrom(lender);
    }

    /** The block has returned the thread. Interrupts it again for the code that has lent it, whatever the block has noticed. */
    public static void regain(Runner runner, Cancellable caller, int before) {
        Cancellable lender = runner.lender();
        if (lender == null) return;
        if (lender.above != null) {
            lender.above = null;
            for (Cancellable c = lender; c != null; c = c.beneath) c.deliverHere();
        }
        if (interruptsFrom(lender) != before) Thread.currentThread().interrupt();
        if (caller == null) return;
        runner.lender(caller.beneath);
        caller.beneath = null;
    }

    /** Like {@link #interruptsFrom}, but {@link #UNNOTICED} if one has not been noticed. */
    private static int noticedFrom(Cancellable lender) {
        int n = interruptsFrom(lender);
        return Thread.currentThread().isInterrupted() ? UNNOTICED : n;
    }

    /** Returns how many interrupts the thread has got for {@code lender} and those beneath it. */
    private static int interruptsFrom(Cancellable lender) {
        int n = 0;
        for (Cancellable c = lender; c != null; c = c.beneath) n += c.interrupts();
        return n;
    }

    /** Called by the thread. A canceller may just be about to interrupt it, but not before it has marked the top region. */
    private int interrupts() {
        if (top == null || !top.requested) return interrupts;
        synchronized (this) {
            return interrupts;
        }
    }

    /** Returns the innermost cancellable whose code has lent this thread to the block that runs on it, or null. */
    private static Cancellable lenderHere() {
        Runner runner = Runner.current();
        return runner == null ? null : runner.lender();
    }

    /**
     * Code of others, such as a callback or a transducer, has thrown on this thread, and the code that called it will not get
     * the exception. If that delivered a cancellation or an interrupt to the code, interrupts the thread again.
     */
    public static void restoreInterrupt(Throwable thrown) {
        Cancellable mine = of(Runner.current());
        if (mine != null && Region.isInterruption(thrown) && mine.deliverAgain()) return;
        if (isInterruptHere(thrown)) Thread.currentThread().interrupt();
    }

    private synchronized boolean deliverAgain() {
        if (top == null || !top.requested) return false;
        top.delivered = false;
        deliver();
        return true;
    }

    /**
     * Returns whether code that this thread ran has thrown {@code thrown} because the thread was interrupted, and not because
     * the code has taken the exception of another thread or block.
     */
    public static boolean isInterruptHere(Throwable thrown) {
        Throwable t = thrown;
        for (int i = 0; t != null && i < Region.MAX_CAUSES; i++) {
            if (t instanceof ExecutionException || t instanceof CompletionException || Uncaught.wasRethrown(t))
                return false;
            if (Region.isInterrupt(t)) return true;
            t = t.getCause();
        }
        return false;
    }

    // The end of a child

    /** Returns whether this is of a child that has been cancelled. */
    public boolean isCancelled() {
        return child != null && child.requested;
    }

    /** Tells the owner that the child has thrown. Returns what {@link Region.Owner#failed} returns. */
    public boolean failed(Throwable thrown) {
        return child == null || child.owner == null || child.owner.failed(child, thrown);
    }

    /** Returns the exception for the result of the child, which has thrown: what {@link Region.Owner#cause} returns. */
    public Throwable cause(Throwable thrown) {
        return child == null || child.owner == null ? thrown : child.owner.cause(child, thrown);
    }

    /** The child has ended, and its result is delivered. */
    public void ended(Object value, Throwable thrown, Runnable read) {
        synchronized (this) {
            for (Region r = top; r != null; r = r.outer) r.left = true;
            top = null;
        }
        if (child != null && child.owner != null) child.owner.ended(child, value, thrown, read);
    }

    // For inspection

    /** Returns the block or the thread, or null for a child that has not begun, or has ended. */
    public synchronized Object party() {
        return block == null ? thread : block;
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
