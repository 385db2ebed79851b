// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * The object that a thread uses to run blocks. It has the current block, and puts blocks that become ready into a queue. A
 * thread has at most one.
 */
public abstract class Runner {
    private static final ThreadLocal<Runner> CURRENT = new ThreadLocal<>();

    public Block block; // the block that runs on this thread now, or null; set only by Frame
    public int depth; // how many async blocks run inside one another on this thread
    public boolean
            interrupted; // an async block that has run inline has noticed an interrupt of this thread; for its caller
    private Cancellable own; // of the thread's code outside of blocks, or null
    private Cancellable lender; // see lender()
    public Object
            installed; // the Var binding frame that is on the thread between two steps, or null if that is not known

    /** Returns the runner of this thread, or null if it has never run a block. */
    public static Runner current() {
        return CURRENT.get();
    }

    /** Returns whether this thread runs a block, at any depth of calls. */
    public static boolean inBlock() {
        Runner r = CURRENT.get();
        return r != null && r.block != null;
    }

    /** Makes this the runner of the current thread. */
    protected final void enter() {
        CURRENT.set(this);
    }

    /** Removes the runner of the current thread. */
    static void leave() {
        CURRENT.remove();
    }

    /** Returns the runner of this thread. Makes one if there is none. */
    public static Runner here() {
        Runner r = CURRENT.get();
        if (r == null) (r = new Inline()).enter();
        return r;
    }

    /** Called by a thread that is about to block. If it serves a worker, the worker continues without it. */
    public static void beforeBlocking() {
        Runner r = CURRENT.get();
        if (r != null) r.blocking();
    }

    /** Returns the cancellable of the thread's code outside of blocks, or null. */
    public final Cancellable own() {
        return own;
    }

    /** Sets the cancellable of the thread's code outside of blocks. Called by this thread. */
    public final void own(Cancellable c) {
        own = c;
    }

    /** Arranges for {@code block} to be run soon. */
    public abstract void ready(Block block);

    /** This thread is about to block. */
    protected void blocking() {}

    /** The thread, or null when it has ended or is not known: blocks keep their last runner, which must keep no thread. */
    public Thread thread() {
        return null;
    }

    /** Returns the innermost cancellable whose code has lent this thread to a block that runs on it, or null: see {@link Cancellable#lend}. */
    public final Cancellable lender() {
        return lender;
    }

    /** Interrupts this thread for the code that called an async block, which has noticed the interrupt in its place. */
    public void interruptAgain() {
        interrupted = false;
        Thread.currentThread().interrupt();
    }

    /** Sets the lender. Called by this thread. */
    public final void lender(Cancellable c) {
        lender = c;
    }

    /** The runner of a user's thread on which an async block was started. */
    private static final class Inline extends Runner {
        @Override
        public void ready(Block block) {
            block.submit();
        }
    }
}
