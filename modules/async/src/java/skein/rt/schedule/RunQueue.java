// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import skein.rt.Lock;

/**
 * What is ready to run on one worker: a first-in first-out queue, and in front of it the <em>next</em> slot,
 * in which the frame that was made ready last stands, so that a hand-over between two blocks stays on one
 * processor. Any thread may call any method.
 *
 * <p>Invariants:
 * <ul>
 *   <li>Q1 What was pushed is polled, or stolen, once.
 *   <li>Q2 Stealing leaves the next slot alone, until {@link #exposeNext} moves it to the queue.
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
    private int size; // of the ring; written under lock; read without it as a hint only
    private boolean hasNext; // written under lock; read without it as a hint only
    private int streak; // guarded by lock; how often next has passed a queue that is not empty
    private int served; // how often its own worker has polled the ring; written under lock, read without it as a hint

    /** Puts {@code work} into the next slot; returns whether what stood there had to go to the queue. */
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

    /** What to run now, or null; may miss what another thread is just pushing or moving. */
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
            if (work != null) served++;
        }
        unlock();
        return work;
    }

    /** From the queue only. */
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
        return work;
    }

    /**
     * Moves the older half of {@code victim}'s queue here, at most {@code max}, and returns the first of it to
     * be run at once; null if there is none. Takes one lock at a time.
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

    /** Moves the next slot to the queue's end, where thieves find it. */
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

    /** Whether nothing is ready. */
    boolean isEmptyForSure() {
        lock();
        boolean empty = size == 0 && next == null;
        unlock();
        return empty;
    }

    /** Whether nothing is ready, as far as can be told without the lock: next first, as it moves to the queue. */
    boolean isEmpty() {
        return !hasNext && size == 0;
    }

    /** How much is ready, as far as can be told without the lock. */
    int size() {
        return size + (hasNext ? 1 : 0);
    }

    /** Whether something stands in the queue, the next slot aside. */
    boolean hasQueued() {
        return size != 0;
    }

    /** Whether so much waits that another worker should help at once; see {@link #overdue}. */
    boolean backlogged() {
        return size > BACKLOG;
    }

    /** For {@link #overdue}: how much of the queue its worker has served so far. */
    int served() {
        return served;
    }

    /**
     * Whether something waits that has waited since {@link #served} was {@code before}. A few blocks that talk to each
     * other wait as well, but for an instant only, and would lose by being spread over processors.
     */
    boolean overdue(int before) {
        return size > served - before;
    }
}
