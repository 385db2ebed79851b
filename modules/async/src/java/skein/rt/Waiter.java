// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.ArrayList;
import java.util.List;
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

    /**
     * About to be queued, under the channel's lock. Returns false if the operation must not wait. May throw, and then is not
     * queued either. If the channel refuses another waiter, {@link #proceeds} follows.
     */
    protected boolean queues() {
        return true;
    }

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

    /** The operation, for which {@link #withdrawal} or {@link #queues} may have been called, does not wait after all. */
    public void proceeds() {}

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

    /*
     * Queues of waiters: circular lists through next and prev, represented by the first waiter, or null when empty. The lock
     * of a channel guards its queues. A list of claimed waiters belongs to the thread that claimed them.
     */

    static Waiter link(Waiter first, Waiter waiter) {
        if (first == null) {
            waiter.next = waiter;
            waiter.prev = waiter;
            return waiter;
        }
        Waiter last = first.prev;
        last.next = waiter;
        waiter.prev = last;
        waiter.next = first;
        first.prev = waiter;
        return first;
    }

    /** Returns the new first of the list. */
    static Waiter unlink(Waiter first, Waiter waiter) {
        Waiter next = waiter.next;
        Waiter prev = waiter.prev;
        waiter.next = null;
        waiter.prev = null;
        if (next == waiter) return null;
        prev.next = next;
        next.prev = prev;
        return waiter == first ? next : first;
    }

    static int count(Waiter first) {
        int n = 0;
        for (Waiter w = first; w != null; w = w.next == first ? null : w.next) n++;
        return n;
    }

    static boolean anyActive(Waiter first) {
        for (Waiter w = first; w != null; w = w.next == first ? null : w.next) if (w.active()) return true;
        return false;
    }

    /** Returns the first waiter of {@code block} in the list, or null. */
    static Waiter of(Block block, Waiter first) {
        Waiter w = first;
        while (w != null && w.block() != block) w = w.next == first ? null : w.next;
        return w;
    }

    /** Returns the waiters of the list that are active, or those that are not, in order. */
    static List<Waiter> waiters(Waiter first, boolean active) {
        List<Waiter> found = new ArrayList<>();
        for (Waiter w = first; w != null; w = w.next == first ? null : w.next) if (w.active() == active) found.add(w);
        return found;
    }

    /** Appends a claimed waiter, with its result, to a list of waiters to complete after the lock is released. */
    static Waiter append(Waiter completed, Waiter waiter, Object result) {
        waiter.value = result;
        return link(completed, waiter);
    }

    static Waiter appendAll(Waiter completed, Waiter more) {
        if (completed == null) return more;
        if (more == null) return completed;
        Waiter last = completed.prev;
        Waiter lastMore = more.prev;
        last.next = more;
        more.prev = last;
        lastMore.next = completed;
        completed.prev = lastMore;
        return completed;
    }

    static void completeAll(Waiter completed, Runner runner) {
        while (completed != null) {
            Waiter w = completed;
            completed = unlink(completed, w);
            Object result = w.value;
            w.complete(result, runner);
        }
    }
}
