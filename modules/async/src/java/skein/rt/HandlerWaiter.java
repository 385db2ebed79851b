// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * An operation of the port protocols: a foreign handler, which has a lock of its own and may be active in several
 * channels at once. When two such handlers meet, both locks are taken, in the order of their ids, as in core.async.
 */
public final class HandlerWaiter extends Waiter {
    /** The methods of a handler. */
    public interface Handle {
        /** Takes the handler's lock, which is held around {@link #active} and {@link #commit}. */
        void lock();

        /** Releases the lock. */
        void unlock();

        /** Returns the place in the order of locking, or 0 if the handler has no lock. */
        long lockId();

        /** Returns whether the operation can still complete. */
        boolean active();

        /** Returns whether the operation may wait. */
        boolean blockable();

        /** Completes the operation. Returns the waiter for its result, or null. */
        Waiter commit();
    }

    /** How two operations met. */
    enum Meeting {
        BOTH,
        I_AM_INACTIVE,
        OTHER_IS_INACTIVE
    }

    private final Handle handle;
    private Waiter result; // of commit; written under the handler's lock by the thread that claims

    private HandlerWaiter(Handle handle) {
        this.handle = handle;
    }

    /** Takes for {@code handle}. Returns the value, or {@link Channel#NONE} if it waits or is not active. */
    public static Object take(Channel channel, Handle handle) {
        return channel.take(new HandlerWaiter(handle), null);
    }

    /** Puts for {@code handle}. Returns true, false, or {@link Channel#NONE} if it waits or is not active. */
    public static Object put(Channel channel, Object value, Handle handle) {
        return channel.put(value, new HandlerWaiter(handle), null);
    }

    /** Claims this and {@code other} together, or neither. */
    Meeting meet(Waiter other) {
        if (!(other instanceof HandlerWaiter second)) return meetOwn(other);
        HandlerWaiter first = this;
        if (second.handle.lockId() < handle.lockId()) {
            first = second;
            second = this;
        }
        first.handle.lock();
        second.handle.lock();
        try {
            if (!handle.active()) return Meeting.I_AM_INACTIVE;
            if (!((HandlerWaiter) other).handle.active()) return Meeting.OTHER_IS_INACTIVE;
            first.result = first.handle.commit();
            second.result = second.handle.commit();
            return Meeting.BOTH;
        } finally {
            second.handle.unlock();
            first.handle.unlock();
        }
    }

    private Meeting meetOwn(Waiter other) {
        handle.lock();
        try {
            if (!handle.active()) return Meeting.I_AM_INACTIVE;
            if (!other.claim()) return Meeting.OTHER_IS_INACTIVE;
            result = handle.commit();
            return Meeting.BOTH;
        } finally {
            handle.unlock();
        }
    }

    /** A handler that throws counts as inactive: its exception must not harm the channel whose lock is held. */
    @Override
    protected boolean claim() {
        handle.lock();
        try {
            if (!handle.active()) return false;
            result = handle.commit();
            return true;
        } catch (Throwable t) {
            Uncaught.report(t);
            return false;
        } finally {
            handle.unlock();
        }
    }

    @Override
    protected boolean queues() {
        return handle.blockable() && handle.active();
    }

    @Override
    protected boolean active() {
        return handle.active();
    }

    @Override
    protected void complete(Object v, Runner runner) {
        if (result != null) result.complete(v, runner);
    }
}
