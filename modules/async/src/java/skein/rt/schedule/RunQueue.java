// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import skein.rt.Lock;

/**
 * The frames and callbacks that are ready to run on one worker: a first-in first-out queue, and before it the
 * <em>next</em> slot. That slot holds the frame that was made ready last, so that two blocks that talk to each other stay
 * on one processor. Any thread may call any method.
 *
 * <p>Invariants:
 * <ul>
 *   <li>Q1 Each pushed item is polled or stolen once.
 *   <li>Q2 Stealing does not take from the next slot; {@link #exposeNext} moves its frame to the queue.
 *   <li>Q3 The next slot passes the queue at most {@link #MAX_STREAK} times in a row, so nothing starves.
 * </ul>
 *
 * <p>Follows the run queue of Go's scheduler (runtime/proc.go, runqput and runqgrab). Differs: a short lock
 * instead of a lock-free ring, because after a hand-off two threads may use one queue for a moment.
 */
final class RunQueue extends Lock {
    static final int MAX_STREAK = 64;
    private static final int BACKLOG = 16;

    private Runnable next; // guarded by lock
    private Runnable[] ring = new Runnable[64]; // guarded by lock; length is a power of two
    private int head; // guarded by lock
    private int size; // of the ring; written under lock; read without it only as a hint
    private boolean hasNext; // written under lock; read without it only as a hint
    private int streak; // guarded by lock; how often next has passed a queue that is not empty
    private int served; // how many items have left the ring; written under lock, read without it as a hint

    /** Puts {@code work} into the next slot. Returns whether an earlier item had to move from there to the queue. */
    boolean pushNext(Runnable work) {
        lock();
        try {
            Runnable old = next;
            if (old != null) append(old);
            next = work;
            hasNext = true;
            return old != null;
        } finally {
            unlock();
        }
    }

    void push(Runnable work) {
        lock();
        try {
            append(work);
        } finally {
            unlock();
        }
    }

    private void append(Runnable work) {
        int n = size;
        if (n == ring.length) grow();
        ring[(head + n) & (ring.length - 1)] = work;
        size = n + 1;
    }

    private void grow() {
        Runnable[] larger = new Runnable[ring.length * 2];
        int tail = ring.length - head;
        System.arraycopy(ring, head, larger, 0, tail);
        System.arraycopy(ring, 0, larger, tail, head);
        ring = larger;
        head = 0;
    }

    /** Returns the item to run now, or null. May miss an item that another thread is pushing or moving. */
    Runnable poll() {
        return isEmpty() ? null : pollForSure();
    }

    Runnable pollForSure() {
        lock();
        Runnable work = next;
        if (work != null && (size == 0 || ++streak < MAX_STREAK)) {
            next = null;
            hasNext = false;
        } else {
            streak = 0;
            work = pollRing();
        }
        unlock();
        return work;
    }

    /** Polls the queue only, not the next slot. */
    Runnable pollQueued() {
        if (size == 0) return null;
        lock();
        Runnable work = pollRing();
        unlock();
        return work;
    }

    private Runnable pollRing() {
        int n = size;
        if (n == 0) return null;
        Runnable work = ring[head];
        ring[head] = null;
        head = (head + 1) & (ring.length - 1);
        size = n - 1;
        served++;
        return work;
    }

    /**
     * Moves the older half of {@code victim}'s queue here, at most {@code max}. Returns the first of these, to be run at
     * once, or null if there is none. Takes one lock at a time.
     */
    Runnable stealHalf(RunQueue victim, int max) {
        if (victim.size == 0) return null;
        Runnable[] stolen;
        victim.lock();
        try {
            int n = Math.min((victim.size + 1) / 2, max);
            stolen = new Runnable[n];
            for (int i = 0; i < n; i++) stolen[i] = victim.pollRing();
        } finally {
            victim.unlock();
        }
        return keepAllButFirst(stolen);
    }

    private Runnable keepAllButFirst(Runnable[] stolen) {
        if (stolen.length == 0) return null;
        if (stolen.length > 1) {
            lock();
            try {
                for (int i = 1; i < stolen.length; i++) append(stolen[i]);
            } finally {
                unlock();
            }
        }
        return stolen[0];
    }

    /** Moves the item of the next slot to the queue's end, where other workers can steal it. */
    void exposeNext() {
        if (!hasNext) return;
        lock();
        try {
            if (next == null) return;
            append(next);
            next = null;
            hasNext = false;
        } finally {
            unlock();
        }
    }

    /** Returns whether nothing is ready. */
    boolean isEmptyForSure() {
        lock();
        boolean empty = size == 0 && next == null;
        unlock();
        return empty;
    }

    /** Returns whether nothing seems ready, without the lock. Reads the next slot first, since its item moves to the queue. */
    boolean isEmpty() {
        return !hasNext && size == 0;
    }

    /** Returns about how many items are ready, without the lock. */
    int size() {
        return size + (hasNext ? 1 : 0);
    }

    /** Returns whether the queue has an item, apart from the next slot. */
    boolean hasQueued() {
        return size != 0;
    }

    /** Returns whether so many items wait that another worker should help at once; see {@link #overdue}. */
    boolean backlogged() {
        return size > BACKLOG;
    }

    /** Returns how many items have left the queue so far, for {@link #overdue}. */
    int served() {
        return served;
    }

    /**
     * Returns whether an item has waited since {@link #served} was {@code before}. A few blocks that talk to each other also
     * wait, but only briefly, and would be slower on several processors.
     */
    boolean overdue(int before) {
        return size > served - before;
    }
}
