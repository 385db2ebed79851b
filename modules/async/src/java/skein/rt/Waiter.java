// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.function.BooleanSupplier;

/**
 * A take or a put that waits in a channel: a parked frame, a blocked thread, a callback, one arm of an
 * alts. The channel moves values between waiters, whatever their kinds.
 *
 * <p>A thread that takes a waiter out of a channel's queue must {@link #claim} it under that channel's lock;
 * only if that succeeds may it {@link #complete} it, exactly once, after the lock is released.
 */
public abstract class Waiter {
    static final byte NOWHERE = 0;
    static final byte TO_TAKE = 1;
    static final byte TO_PUT = 2;

    Waiter next; // guarded by the lock of the channel it waits in; afterwards by the thread that claimed it
    Waiter prev; // guarded by the lock of the channel it waits in
    byte waits; // guarded by the lock of the channel it waits in: NOWHERE, TO_TAKE or TO_PUT
    protected Object value; // a put: the value offered, until it is claimed; then the result of the operation

    /** Wins the right to complete this waiter. Returns false if it was withdrawn or has completed otherwise. */
    protected boolean claim() {
        return true;
    }

    /** Returns whether {@link #claim} could still succeed. */
    protected boolean active() {
        return true;
    }

    /**
     * Gives the operation its result and resumes its owner. Runs no user code under a lock.
     *
     * @param runner the runner of the block that completes it, or null when there is none or it is not known
     */
    protected abstract void complete(Object result, Runner runner);

    /** Completes the operation after a port of another kind has done it. */
    public final void deliver(Object result) {
        complete(result, null);
    }

    /**
     * Sets how to withdraw an operation that waits in several ports, or in a port of another kind. {@code withdraw} returns
     * whether it could.
     */
    public void withdrawal(BooleanSupplier withdraw) {}

    /** Returns the thread that blocks here, or null if a block or a callback waits. */
    public Thread thread() {
        return null;
    }

    /** Returns the stack of the thread that blocks here, or null if a block or a callback waits. */
    public StackTraceElement[] stack() {
        Thread thread = thread();
        return thread == null ? null : thread.getStackTrace();
    }

    /** Returns the block that waits here, or null if a thread or a callback waits. */
    public Block block() {
        return null;
    }
}
