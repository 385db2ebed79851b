// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * A block, as channels, runners, cancellation and simulations see it. Its code and state are in
 * {@link skein.rt.block.Frame}, the only subclass.
 */
public abstract class Block extends Waiter implements Runnable {
    protected Kept kept; // null unless a context, a simulation or an observer needs it
    protected Cancellable cancellable; // null unless the block can be cancelled; changed only while it runs

    /** Runs the block on {@code r}, the runner of this thread, from its current state to its next park or its end. */
    public abstract void resume(Runner r);

    /** Runs the block soon on a worker, or in the simulation of this thread. */
    public abstract void submit();

    /** Throws where the block waits. The caller has withdrawn the operation, and therefore owns the block. */
    public abstract void throwAtPark(Throwable thrown);

    /** The block has held up its worker on {@code thread}, so another thread serves the worker now. */
    public abstract void handedOff(Thread thread);

    /** Returns the block's result port. */
    public abstract Channel port();

    /** Returns the block's cancellable, or null if the block can't be cancelled. */
    public final Cancellable cancellable() {
        return cancellable;
    }

    /** Sets the block's cancellable, or null if it can't be cancelled. Called on the thread that runs the block. */
    public final void cancellable(Cancellable c) {
        cancellable = c;
    }

    /** Returns what is kept with the block, or null. */
    public final Kept kept() {
        return kept;
    }

    @Override
    public final Block block() {
        return this;
    }
}
