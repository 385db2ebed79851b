// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.List;
import java.util.Objects;
import skein.rt.schedule.Scheduler;
import skein.rt.watch.Failure;

/**
 * Moves values from puts to takes, in order, with or without a buffer between them. What waits here is a
 * {@link Waiter}; frames, threads, callbacks and alts all come through the same two methods.
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
     * User code never runs under the lock, except a transducer's (see TransducedChannel) and a
     * custom buffer's, as core.async's contract says. Waiters are completed after the lock is released.
     *
     * Memory order: what a putter did before its put is visible to the taker after the take, because both
     * hold this lock, or because the completion of a waiter is published by its owner's queue.
     *
     * The two queues are circular lists through Waiter.next and .prev, so that a waiter can be withdrawn
     * from the middle at once. Differs from core.async's ManyToManyChannel, which leaves finished handlers
     * in its lists and sweeps them out later.
     */

    /** How many takes, and how many puts, may wait in one channel. */
    public static final int MAX_WAITING = 1024;

    /** What {@link #take} and {@link #put} return when the operation could not be done at once. */
    public static final Object NONE = new Object();

    /** Why most channels are closed: no reason was given. */
    private static final Object CLOSED = new Object();

    Buffer buffer; // guarded by lock; null: every put meets its take
    private Waiter takers; // guarded by lock; the first of a circular list, or null
    private Waiter putters; // guarded by lock; the first of a circular list, or null
    private int waiting; // guarded by lock; how many takers and putters, together
    private Runnable putWaits; // guarded by lock; told once that a put waits, or null
    private volatile Object end; // null while open, then CLOSED, a Throwable or a Failure; read by anyone

    /** @param buffer where values wait, or null for none */
    public Channel(Buffer buffer) {
        this.buffer = buffer;
    }

    /**
     * Takes a value.
     *
     * @param waiter queued if there is no value now; null never waits
     * @param runner what the calling thread runs on, or null when that is none or not known
     * @return the value; null when closed and empty; {@link #NONE} when {@code waiter} waits, or would have
     * @throws AssertionError when {@link #MAX_WAITING} takes wait already
     */
    public final Object take(Waiter waiter, Runner runner) {
        lock();
        Buffer b = buffer;
        if (b != null && b.count() > 0) return takeBuffered(b, runner);
        for (Waiter putter; (putter = putters) != null; ) {
            removePutter(putter);
            if (putter.claim()) {
                Object v = putter.value;
                unlock();
                putter.complete(Boolean.TRUE, runner);
                return v;
            }
        }
        if (isClosed()) return takeLast(b, runner);
        try {
            if (waiter != null) addTaker(waiter);
        } finally {
            unlock();
        }
        return NONE;
    }

    /** Nothing waits in a closed channel; a transducer may still have something. */
    private Object takeLast(Buffer b, Runner runner) {
        if (b != null) {
            finish(b);
            if (b.count() > 0) return takeBuffered(b, runner);
        }
        unlock();
        return null;
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
        if (completed != null) Ring.completeAll(completed, runner);
        return v;
    }

    /** Lets waiting puts into the buffer while there is room; returns those whose puts are done. */
    private Waiter refill(Buffer b) {
        Waiter completed = null;
        while (putters != null && !b.full()) {
            Waiter putter = putters;
            removePutter(putter);
            if (!putter.claim()) continue;
            Object v = putter.value;
            completed = Ring.append(completed, putter, Boolean.TRUE);
            if (add(b, v)) return Ring.appendAll(abort(), completed);
        }
        if (isClosed() && putters == null) finish(b);
        return completed;
    }

    /**
     * Puts a value.
     *
     * @param waiter queued if there is no room now; null never waits
     * @param runner what the calling thread runs on, or null when that is none or not known
     * @return true; false when closed; {@link #NONE} when {@code waiter} waits, or would have
     * @throws IllegalArgumentException when {@code value} is null
     * @throws AssertionError when {@link #MAX_WAITING} puts wait already
     */
    public final Object put(Object value, Waiter waiter, Runner runner) {
        if (value == null) throw new IllegalArgumentException("Can't put nil on channel");
        lock();
        if (isClosed()) {
            unlock();
            return Boolean.FALSE;
        }
        Buffer b = bufferForPut();
        if (takers != null && (b == null || handsOver(b))) {
            for (Waiter taker; (taker = takers) != null; ) {
                removeTaker(taker);
                if (taker.claim()) {
                    unlock();
                    taker.complete(value, runner);
                    return Boolean.TRUE;
                }
            }
        }
        if (b != null && !b.full()) return putBuffered(b, value, runner);
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
            if (last) completed = Ring.appendAll(abort(), completed);
        } finally {
            unlock();
        }
        if (completed != null) Ring.completeAll(completed, runner);
        return Boolean.TRUE;
    }

    /** Gives buffered values to waiting takes; returns those takes. */
    private Waiter serveTakers(Buffer b) {
        Waiter completed = null;
        while (takers != null && b.count() > 0) {
            Waiter taker = takers;
            removeTaker(taker);
            if (taker.claim()) completed = Ring.append(completed, taker, b.remove());
        }
        return completed;
    }

    /** Closes the channel: takes that wait get what is buffered, then nil; no put is accepted any more. */
    public void close() {
        close(CLOSED, null);
    }

    /** As {@link #close()}; {@link #thrown} then tells why. The first reason counts. */
    public void close(Throwable cause) {
        close(Objects.requireNonNull(cause), null);
    }

    final void close(Runner runner) {
        close(CLOSED, runner);
    }

    private void close(Object why, Runner runner) {
        Waiter completed;
        lock();
        try {
            completed = closeLocked(why);
        } finally {
            unlock();
        }
        if (completed != null) Ring.completeAll(completed, runner);
    }

    /** Closes a channel that may be closed already: {@code why} counts, whatever was said before. */
    final void closeFor(Failure why) {
        close(why, null);
        end = why;
    }

    /** Closes under the lock; returns the takes that this ends. */
    private Waiter closeLocked(Object why) {
        if (isClosed()) return null;
        end = why;
        Buffer b = buffer;
        if (b != null && putters == null) finish(b);
        Waiter completed = null;
        for (Waiter taker; (taker = takers) != null; ) {
            removeTaker(taker);
            if (taker.claim())
                completed = Ring.append(completed, taker, b != null && b.count() > 0 ? b.remove() : null);
        }
        if (b != null) closeBuffer(b);
        return completed;
    }

    private static void closeBuffer(Buffer b) {
        try {
            b.close();
        } catch (Throwable t) { // a custom buffer's: the takes must still be told
            Scheduler.uncaught(t);
        }
    }

    /** The transducer wants no more: every waiting put is done, and the channel closes. */
    private Waiter abort() {
        Waiter completed = null;
        for (Waiter putter; (putter = putters) != null; ) {
            removePutter(putter);
            if (putter.claim()) completed = Ring.append(completed, putter, Boolean.TRUE);
        }
        return Ring.appendAll(completed, closeLocked(CLOSED));
    }

    /** Whether the channel has been closed. Values may still be there to be taken. */
    public final boolean isClosed() {
        return end != null;
    }

    /** The exception with which the channel was closed, or null; asking observes it. Values may still be there to be taken. */
    public Throwable thrown() {
        Object why = end;
        if (why instanceof Failure failure) return failure.observe();
        return why instanceof Throwable cause ? cause : null;
    }

    /** What an alts names as the port that was chosen. */
    Object asPort() {
        return this;
    }

    /** Whether any number of takes and puts may wait. */
    boolean unlimited() {
        return false;
    }

    /** The buffer, for a put. Under the lock, like all that subclasses do differently. */
    Buffer bufferForPut() {
        return buffer;
    }

    /** Whether a put may go straight to a waiting take, past a buffer that is empty then and keeps order. */
    boolean handsOver(Buffer b) {
        return b instanceof Buffers.Fixed && b.capacity() > 0;
    }

    /** Adds to the buffer; returns whether the channel must close because no more values are wanted. */
    boolean add(Buffer b, Object value) {
        try {
            b.add(value);
        } catch (Throwable t) { // a custom buffer's: the value is lost, and neither party must pay for it
            Scheduler.uncaught(t);
        }
        return false;
    }

    /** Called once no value can come in any more. */
    void finish(Buffer b) {}

    /** Takes {@code waiter} out of this channel. False when it does not wait here any more. */
    final boolean withdraw(Waiter waiter) {
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

    /** The waiter by which {@code frame} waits here, or null. */
    final Waiter armOf(Frame frame) {
        lock();
        try {
            Waiter arm = armOf(frame, takers);
            return arm == null ? armOf(frame, putters) : arm;
        } finally {
            unlock();
        }
    }

    private static Waiter armOf(Frame frame, Waiter first) {
        Waiter w = first;
        while (w != null && w.frame() != frame) w = w.next == first ? null : w.next;
        return w;
    }

    /** Lets {@code waiter} wait, to put {@code value} or, if null, to take. False when it need not or is not active. */
    final boolean enlist(Waiter waiter, Object value) {
        lock();
        try {
            if (!waiter.active() || (value == null ? readyToTake() : readyToPut())) return false;
            if (value == null) addTaker(waiter);
            else addPutter(waiter, value);
            return true;
        } finally {
            unlock();
        }
    }

    /** Takes, under the lock, what is ready; releases the lock. */
    final Object takeLocked(Runner runner) {
        Buffer b = buffer;
        return b != null && b.count() > 0 ? takeBuffered(b, runner) : takeLast(b, runner);
    }

    /** Puts, under the lock, into a buffer with room or on a closed channel; releases the lock. */
    final Object putLocked(Object value, Runner runner) {
        if (!isClosed()) return putBuffered(bufferForPut(), value, runner);
        unlock();
        return Boolean.FALSE;
    }

    /** Whether the buffer holds something. Under the lock, like the next three. */
    final boolean hasBuffered() {
        return buffer != null && buffer.count() > 0;
    }

    /** Whether a put goes to a waiting take rather than into the buffer. */
    final boolean meetsDirectly() {
        Buffer b = bufferForPut();
        return !isClosed() && (b == null || handsOver(b));
    }

    final Waiter firstTaker() {
        return takers;
    }

    final Waiter firstPutter() {
        return putters;
    }

    /** Whether a take would be done at once. Under the lock. */
    final boolean readyToTake() {
        return isClosed() || buffer != null && buffer.count() > 0 || anyActive(putters);
    }

    /** Whether a put would be done at once. Under the lock. */
    final boolean readyToPut() {
        if (isClosed()) return true;
        Buffer b = bufferForPut();
        return b == null ? anyActive(takers) : !b.full();
    }

    private static boolean anyActive(Waiter first) {
        for (Waiter w = first; w != null; w = w.next == first ? null : w.next) if (w.active()) return true;
        return false;
    }

    final void addTaker(Waiter waiter) {
        if (waiting >= MAX_WAITING && overfull(true)) {
            throw new AssertionError(
                    "Assert failed: No more than " + MAX_WAITING + " pending takes are allowed on a single channel.");
        }
        waiter.waits = Waiter.TO_TAKE;
        takers = Ring.link(takers, waiter);
        waiting++;
    }

    final void addPutter(Waiter waiter, Object value) {
        if (waiting >= MAX_WAITING && overfull(false)) {
            throw new AssertionError("Assert failed: No more than " + MAX_WAITING
                    + " pending puts are allowed on a single channel. Consider using a windowed buffer.");
        }
        waiter.value = value;
        waiter.waits = Waiter.TO_PUT;
        putters = Ring.link(putters, waiter);
        waiting++;
        if (putWaits != null) tellThatPutWaits();
    }

    /** Runs {@code task} once, under the lock, when a put waits here: now or later. All that it may do is to submit work. */
    public final void whenPutWaits(Runnable task) {
        lock();
        putWaits = task;
        if (putters != null) tellThatPutWaits();
        unlock();
    }

    private void tellThatPutWaits() {
        Runnable task = putWaits;
        putWaits = null;
        task.run();
    }

    private void removeTaker(Waiter waiter) {
        waiter.waits = Waiter.NOWHERE;
        takers = Ring.unlink(takers, waiter);
        waiting--;
    }

    private void removePutter(Waiter waiter) {
        waiter.waits = Waiter.NOWHERE;
        putters = Ring.unlink(putters, waiter);
        waiting--;
    }

    /** Whether I6 forbids another waiter. An unlimited channel is swept each time that its queue has doubled. */
    private boolean overfull(boolean ofTakers) {
        if (unlimited() && Integer.bitCount(waiting) != 1) return false;
        // Arms that lost, and whose winner has not come round to withdraw them yet, don't count.
        for (Waiter lost : Ring.waiters(takers, false)) removeTaker(lost);
        for (Waiter lost : Ring.waiters(putters, false)) removePutter(lost);
        return !unlimited() && Ring.count(ofTakers ? takers : putters) >= MAX_WAITING;
    }

    /** Blocks the thread until a value is there: nil when the channel is closed and empty. */
    public final Object takeBlocking() throws InterruptedException {
        Runner runner = Runner.current();
        Object v = take(null, runner);
        if (v != NONE) return v;
        ThreadWaiter waiter = new ThreadWaiter();
        v = take(waiter, runner);
        return v == NONE ? waiter.await(() -> withdraw(waiter), this) : v;
    }

    /** Blocks the thread until the value is accepted: true, or false when the channel is closed. */
    public final Object putBlocking(Object value) throws InterruptedException {
        Runner runner = Runner.current();
        Object accepted = put(value, null, runner);
        if (accepted != NONE) return accepted;
        ThreadWaiter waiter = new ThreadWaiter();
        accepted = put(value, waiter, runner);
        return accepted == NONE ? waiter.await(() -> withdraw(waiter), this) : accepted;
    }

    /** The buffer, or null. For inspection only: its owner changes it under this channel's lock. */
    public final Buffer buffer() {
        return buffer;
    }

    /** How many takes wait. Counts them one by one. */
    public final int takerCount() {
        return count(true);
    }

    /** How many puts wait. Counts them one by one. */
    public final int putterCount() {
        return count(false);
    }

    private int count(boolean takes) {
        lock();
        int n = Ring.count(takes ? takers : putters);
        unlock();
        return n;
    }

    /** What waits here for a value ({@code takes}) or to put one, first come first. */
    public final List<Waiter> waiters(boolean takes) {
        lock();
        try {
            return Ring.waiters(takes ? takers : putters, true);
        } finally {
            unlock();
        }
    }
}
