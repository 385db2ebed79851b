// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.Keyword;
import java.util.List;
import java.util.Objects;
import skein.base.Assertion;
import skein.rt.HandlerWaiter.Meeting;

/**
 * Moves values from puts to takes, in order, with or without a buffer between them. An operation that waits is a
 * {@link Waiter}. Frames, threads, callbacks and alts all use the same two methods.
 */
public class Channel extends Lock {
    /*
     * Invariants, which hold whenever the lock is free (an arm of an alts counts only while it is active):
     *
     *   I1  A take waits only if the buffer is empty and no put waits.
     *   I2  A put waits only if there is no buffer or it is full.
     *   I3  Puts are taken in the order in which they were made, and takes are served in order.
     *   I4  A closed channel has no waiting take, and accepts no put; puts that waited stay until taken.
     *   I5  A value whose put returned true is taken once, or is in the buffer, or was dropped by the
     *       buffer's policy or by the transducer.
     *   I6  At most MAX_WAITING takes and as many puts wait, unless the channel is unlimited.
     *   I7  The task of whenPutWaits is run once, when a put waits: by that call or by the first put after it.
     *
     * User code never runs under the lock, except a transducer's (see Transducer) and a
     * custom buffer's, as core.async's contract says. Waiters are completed after the lock is released.
     *
     * Memory order: what a putter did before its put is visible to the taker after the take, because both
     * hold this lock, or because the completion of a waiter is published by its owner's queue.
     *
     * The two queues are circular lists through Waiter.next and .prev, so that a waiter can be withdrawn
     * from the middle at once.
     */

    /** How many takes, and how many puts, may wait in one channel. */
    public static final int MAX_WAITING = 1024;

    /** The result of {@link #take} and {@link #put} when the operation could not be done at once. */
    public static final Object NONE = new Object();

    /** The reason of a close without a cause. */
    private static final Object CLOSED = new Object();

    Buffer buffer; // guarded by lock; null: no buffer, so that a put waits for its take
    private Waiter takers; // guarded by lock; the first of a circular list, or null
    private Waiter putters; // guarded by lock; the first of a circular list, or null
    private int waiting; // guarded by lock; how many takers and putters, together
    private volatile Object end; // null while open, then CLOSED, a Throwable or a Failure; read by anyone
    Role role; // what more this channel is, or null; replaced only under the lock, by one that knows more

    /** Makes a plain channel; null means no buffer. */
    public Channel(Buffer buffer) {
        this(buffer, null);
    }

    /**
     * @param buffer where values wait, or null for none
     * @param role what more this channel is, or null
     */
    public Channel(Buffer buffer, Role role) {
        this.buffer = buffer;
        this.role = role;
    }

    /** Returns what more this channel is, or null. */
    public final Role role() {
        return role;
    }

    /** A transducer may use its own channel. */
    @Override
    protected final boolean mayReenter() {
        return role instanceof Transducer transducer && transducer.runsHere();
    }

    /**
     * Takes a value.
     *
     * @param waiter queued if there is no value now; null never waits
     * @param runner the calling thread's runner, or null if it has none or it is not known
     * @return the value; null when closed and empty; {@link #NONE} when {@code waiter} waits or would have to
     * @throws AssertionError when {@link #MAX_WAITING} takes wait already
     */
    public final Object take(Waiter waiter, Runner runner) {
        lock();
        Buffer b = buffer;
        if (b != null && hasValue(b)) return goesAhead(waiter) ? takeBuffered(b, runner) : NONE;
        for (Waiter putter; (putter = putters) != null; ) {
            Meeting meeting = meet(waiter, putter);
            if (meeting == Meeting.I_AM_INACTIVE) return NONE;
            removePutter(putter);
            if (meeting == Meeting.BOTH) {
                Object v = putter.value;
                unlock();
                putter.complete(Boolean.TRUE, runner);
                return v;
            }
        }
        if (isClosed()) return goesAhead(waiter) ? takeLast(b, runner) : NONE;
        try {
            if (waiter != null) addTaker(waiter);
        } finally {
            unlock();
        }
        return NONE;
    }

    /** Takes from a closed channel in which no put waits; its transducer may still have values. */
    private Object takeLast(Buffer b, Runner runner) {
        if (b != null) {
            finish(b);
            if (hasValue(b)) return takeBuffered(b, runner);
        }
        unlock();
        return null;
    }

    /**
     * Claims {@code other}, and together with it {@code mine} if that may lose to others: only a foreign handler can. Releases the
     * lock if {@code mine} is not active, or throws.
     */
    private Meeting meet(Waiter mine, Waiter other) {
        if (!(mine instanceof HandlerWaiter handler)) return other.claim() ? Meeting.BOTH : Meeting.OTHER_IS_INACTIVE;
        Meeting meeting = Meeting.I_AM_INACTIVE;
        try {
            meeting = handler.meet(other);
        } finally {
            if (meeting == Meeting.I_AM_INACTIVE) unlock();
        }
        return meeting;
    }

    /** Returns whether an operation that meets no other is done. Otherwise, a foreign handler is not active, and the lock is released. */
    private boolean goesAhead(Waiter mine) {
        if (!(mine instanceof HandlerWaiter handler) || handler.claim()) return true;
        unlock();
        return false;
    }

    /** Returns whether a value is buffered. A custom buffer may throw, and then the lock is released. */
    private boolean hasValue(Buffer b) {
        try {
            return b.count() > 0;
        } catch (Throwable t) {
            unlock();
            throw t;
        }
    }

    /** Returns whether another value fits, as {@link #hasValue} does. */
    private boolean hasRoom(Buffer b) {
        try {
            return !b.full();
        } catch (Throwable t) {
            unlock();
            throw t;
        }
    }

    private Object takeBuffered(Buffer b, Runner runner) {
        Object v;
        Waiter completed = null;
        try {
            v = b.remove();
            if (putters != null) completed = refill(b);
        } finally {
            unlock();
        }
        if (completed != null) Waiter.completeAll(completed, runner);
        return v;
    }

    /** Moves the values of waiting puts to the buffer while there is room. Returns those puts. */
    private Waiter refill(Buffer b) {
        Waiter completed = null;
        while (putters != null && !b.full()) {
            Waiter putter = putters;
            removePutter(putter);
            if (!putter.claim()) continue;
            Object v = putter.value;
            completed = Waiter.append(completed, putter, Boolean.TRUE);
            if (add(b, v)) return Waiter.appendAll(abort(), completed);
        }
        if (isClosed() && putters == null) finish(b);
        return completed;
    }

    /**
     * Puts a value.
     *
     * @param waiter queued if there is no room now; null never waits
     * @param runner the calling thread's runner, or null if it has none or it is not known
     * @return true; false when closed; {@link #NONE} when {@code waiter} waits or would have to
     * @throws IllegalArgumentException when {@code value} is null
     * @throws AssertionError when {@link #MAX_WAITING} puts wait already
     */
    public final Object put(Object value, Waiter waiter, Runner runner) {
        if (value == null) throw NilPut.refused();
        lock();
        if (isClosed()) {
            if (goesAhead(waiter)) unlock();
            return Boolean.FALSE;
        }
        Buffer b = bufferForPut();
        if (takers != null && (b == null || handsOver(b))) {
            for (Waiter taker; (taker = takers) != null; ) {
                Meeting meeting = meet(waiter, taker);
                if (meeting == Meeting.I_AM_INACTIVE) return NONE;
                removeTaker(taker);
                if (meeting == Meeting.BOTH) {
                    unlock();
                    taker.complete(value, runner);
                    return Boolean.TRUE;
                }
            }
        }
        if (b != null && hasRoom(b)) return goesAhead(waiter) ? putBuffered(b, value, runner) : NONE;
        try {
            if (waiter != null) addPutter(waiter, value);
        } finally {
            unlock();
        }
        return NONE;
    }

    private Object putBuffered(Buffer b, Object value, Runner runner) {
        Waiter completed = null;
        try {
            boolean last = add(b, value);
            if (takers != null) completed = serveTakers(b);
            if (last) completed = Waiter.appendAll(abort(), completed);
        } finally {
            unlock();
        }
        if (completed != null) Waiter.completeAll(completed, runner);
        return Boolean.TRUE;
    }

    /** Gives buffered values to waiting takes. Returns those takes. */
    private Waiter serveTakers(Buffer b) {
        Waiter completed = null;
        while (takers != null && b.count() > 0) {
            Waiter taker = takers;
            removeTaker(taker);
            if (taker.claim()) completed = Waiter.append(completed, taker, b.remove());
        }
        return completed;
    }

    /** Closes the channel. Waiting takes get the buffered values, then nil; no more puts are accepted. */
    public void close() {
        close(CLOSED, null);
    }

    /** Like {@link #close()}; {@link #thrown} then returns the cause. Returns false if the channel was closed before. */
    public boolean close(Throwable cause) {
        return close(Objects.requireNonNull(cause), null);
    }

    /** Closes for the reason for which {@code from} was closed. */
    public void closeAs(Channel from) {
        close(Objects.requireNonNull(from.end), null);
    }

    final void close(Runner runner) {
        close(CLOSED, runner);
    }

    private boolean close(Object why, Runner runner) {
        if (role != null && !isClosed()) role.closing();
        boolean closes;
        Waiter completed;
        lock();
        try {
            closes = !isClosed();
            completed = closeLocked(why);
        } finally {
            unlock();
        }
        if (completed != null) Waiter.completeAll(completed, runner);
        return closes;
    }

    /** Closes a channel that may be closed already: {@code why} replaces the reason of an earlier close. */
    public final void closeFor(Failure why) {
        close(why, null);
        end = why;
    }

    /** Closes under the lock. Returns the takes that this ends. */
    private Waiter closeLocked(Object why) {
        if (isClosed()) return null;
        end = why;
        Buffer b = buffer;
        if (b != null && putters == null) finish(b);
        Waiter completed = null;
        for (Waiter taker; (taker = takers) != null; ) {
            removeTaker(taker);
            if (taker.claim())
                completed = Waiter.append(completed, taker, b != null && b.count() > 0 ? b.remove() : null);
        }
        try {
            if (b != null) b.close();
        } catch (Throwable t) { // a custom buffer's: the takes must still be completed
            Uncaught.report(t);
        }
        return completed;
    }

    /** The transducer has ended: every waiting put is accepted and dropped, and the channel closes. */
    private Waiter abort() {
        Waiter completed = null;
        for (Waiter putter; (putter = putters) != null; ) {
            removePutter(putter);
            if (putter.claim()) completed = Waiter.append(completed, putter, Boolean.TRUE);
        }
        return Waiter.appendAll(completed, closeLocked(CLOSED));
    }

    /** Returns whether the channel has been closed. It may still hold values. */
    public final boolean isClosed() {
        return end != null;
    }

    /** Takes the exception with which the channel was closed. Returns it, or null if there is none. */
    public Throwable thrown() {
        Object why = end;
        if (why instanceof Failure failure) return failure.take();
        if (!(why instanceof Throwable cause)) return null;
        Failure.tookCause(cause);
        return cause;
    }

    /** Returns the exception with which the channel was closed, or null. */
    public final Throwable cause() {
        Object why = end;
        if (why instanceof Failure failure) return failure.thrown();
        return why instanceof Throwable cause ? cause : null;
    }

    /** Returns whether {@link #thrown} returns an exception that no handler has been told of. */
    public boolean isFailed() {
        return end instanceof Throwable || end instanceof Failure failure && !failure.isTold();
    }

    /** Returns the port that an alts returns if it chooses this channel. */
    Object asPort() {
        return this;
    }

    /** Returns whether any number of takes and puts may wait. */
    public final boolean isUnlimited() {
        return role instanceof Unlimited;
    }

    /** Returns the label of an unlimited channel, or null. */
    public final Object label() {
        return role instanceof Unlimited unlimited ? unlimited.label() : null;
    }

    /** Returns whether a block puts its result here. */
    public final boolean isResult() {
        return role instanceof Result;
    }

    /** Returns the buffer for a put. For a put by user code, a result port behaves as a channel with a buffer of one. */
    private Buffer bufferForPut() {
        if (buffer == null && role instanceof Result) buffer = new Buffers.Fixed(1);
        return buffer;
    }

    /** Returns whether a put may go straight to a waiting take, past an empty buffer that keeps order. */
    private boolean handsOver(Buffer b) {
        return b instanceof Buffers.Fixed && b.capacity() > 0 && !(role instanceof Transducer);
    }

    /** Adds to the buffer. Returns whether the channel must close because its transducer has ended. */
    private boolean add(Buffer b, Object value) {
        if (role instanceof Transducer transducer) return transducer.add(b, value);
        try {
            b.add(value);
        } catch (Throwable t) { // a custom buffer's: the value is lost, but neither operation may fail
            Uncaught.report(t);
        }
        return false;
    }

    /** Completes the transducer. No more values can come in. */
    private void finish(Buffer b) {
        if (role instanceof Transducer transducer) transducer.finish(b);
    }

    /** Takes {@code waiter} out of this channel. Returns false if it no longer waits here. */
    public final boolean withdraw(Waiter waiter) {
        lock();
        try {
            return withdrawLocked(waiter);
        } finally {
            unlock();
        }
    }

    final boolean withdrawLocked(Waiter waiter) {
        if (waiter.waits == Waiter.NOWHERE) return false;
        if (waiter.waits == Waiter.TO_TAKE) removeTaker(waiter);
        else removePutter(waiter);
        return true;
    }

    /** Returns the waiter through which {@code block} waits here, or null. */
    final Waiter armOf(Block block) {
        lock();
        Waiter arm = Waiter.of(block, takers);
        if (arm == null) arm = Waiter.of(block, putters);
        unlock();
        return arm;
    }

    final Waiter firstTaker() {
        return takers;
    }

    /** Returns the first waiting put, or null. Without the lock, it is only a hint. */
    final Waiter firstPutter() {
        return putters;
    }

    /** Returns whether a take would be done at once. Called under the lock. */
    final boolean readyToTake() {
        return isClosed() || buffer != null && buffer.count() > 0 || Waiter.anyActive(putters);
    }

    /** Returns whether a put would be done at once. Called under the lock. */
    final boolean readyToPut() {
        if (isClosed()) return true;
        Buffer b = bufferForPut();
        return b == null ? Waiter.anyActive(takers) : !b.full();
    }

    final void addTaker(Waiter waiter) {
        if (!waiter.queues()) return;
        if (waiting >= MAX_WAITING && overfull(true)) {
            waiter.proceeds();
            throw tooMany("takes", "");
        }
        waiter.waits = Waiter.TO_TAKE;
        takers = Waiter.link(takers, waiter);
        waiting++;
    }

    private Assertion tooMany(String operations, String advice) {
        String named = Labels.of(this) == null ? "" : ", channel " + Labels.of(this);
        return new Assertion(
                "Assert failed: No more than " + MAX_WAITING + " pending " + operations
                        + " are allowed on a single channel."
                        + advice + "\n(< (.size " + operations + ") impl/MAX-QUEUE-SIZE)\n[:skein/too-many-pending"
                        + named
                        + "]",
                Refusal.data("too-many-pending", "operation", Keyword.intern(operations), "channel", toString()));
    }

    final void addPutter(Waiter waiter, Object value) {
        if (!waiter.queues()) return;
        if (waiting >= MAX_WAITING && overfull(false)) {
            waiter.proceeds();
            throw tooMany("puts", " Consider using a windowed buffer.");
        }
        waiter.value = value;
        waiter.waits = Waiter.TO_PUT;
        putters = Waiter.link(putters, waiter);
        waiting++;
        if (role != null && role.putWaits != null) tellThatPutWaits();
    }

    /** Runs {@code task} once, under the lock, when a put waits here, now or later. It may only submit work. */
    public final void whenPutWaits(Runnable task) {
        lock();
        role = role == null ? new Role() : role.unshared();
        role.putWaits = task;
        if (putters != null) tellThatPutWaits();
        unlock();
    }

    private void tellThatPutWaits() {
        Runnable task = role.putWaits;
        role.putWaits = null;
        task.run();
    }

    private void removeTaker(Waiter waiter) {
        waiter.waits = Waiter.NOWHERE;
        takers = Waiter.unlink(takers, waiter);
        waiting--;
    }

    private void removePutter(Waiter waiter) {
        waiter.waits = Waiter.NOWHERE;
        putters = Waiter.unlink(putters, waiter);
        waiting--;
    }

    /** Returns whether I6 forbids another waiter. An unlimited channel is cleaned up each time that its queue has doubled. */
    private boolean overfull(boolean ofTakers) {
        if (isUnlimited() && Integer.bitCount(waiting) != 1) return false;
        // Arms that lost, and that the winner has not withdrawn yet, don't count.
        for (Waiter lost : Waiter.waiters(takers, false)) removeTaker(lost);
        for (Waiter lost : Waiter.waiters(putters, false)) removePutter(lost);
        return !isUnlimited() && Waiter.count(ofTakers ? takers : putters) >= MAX_WAITING;
    }

    /** Returns the buffer, or null. Without the lock, what it holds is only a hint. */
    public final Buffer buffer() {
        return buffer;
    }

    /** Returns how many takes wait. Counts them one by one. */
    public final int takerCount() {
        return waiters(true).size();
    }

    /** Returns how many puts wait. Counts them one by one. */
    public final int putterCount() {
        return waiters(false).size();
    }

    /** Returns the waiters that wait to take ({@code takes}) or to put, the longest-waiting first. */
    public final List<Waiter> waiters(boolean takes) {
        lock();
        try {
            return Waiter.waiters(takes ? takers : putters, true);
        } finally {
            unlock();
        }
    }
}
