// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import skein.rt.Uncaught;

/**
 * Closes timeout channels at their deadlines, on the monotonic clock. It uses one platform daemon thread, which neither
 * busy workers nor busy carrier threads can delay.
 *
 * <p>The deadlines are in a 4-ary heap. Each timeout knows its index, so that a cancelled one is removed at once.
 * Invariants, under the lock:
 *
 * <ul>
 *   <li>H1 A timeout's deadline is not before its parent's.
 *   <li>H2 {@code heap[t.place] == t} for each t in the heap.
 *   <li>H3 The thread wakes at the first deadline or before.
 * </ul>
 */
final class Timers implements Runnable {
    /** The longest wait, short enough that the times at its ends can still be compared. */
    private static final long FOR_EVER = Long.MAX_VALUE / 4;

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static Timeout[] heap = new Timeout[64]; // guarded by LOCK
    private static int size; // guarded by LOCK
    private static Thread thread; // guarded by LOCK; null until the first timeout
    private static long wakesAt; // guarded by LOCK; when the thread wakes next

    private Timers() {}

    static void add(Timeout timeout) {
        LOCK.lock();
        try {
            if (size == heap.length) heap = Arrays.copyOf(heap, size * 2);
            timeout.place = size++;
            heap[timeout.place] = timeout;
            siftUp(timeout);
            if (timeout.place == 0) wakeFor(timeout.deadline);
        } finally {
            LOCK.unlock();
        }
    }

    /** Removes a timeout that has not fired. */
    static void remove(Timeout timeout) {
        LOCK.lock();
        try {
            if (timeout.place >= 0) removeAt(timeout.place);
        } finally {
            LOCK.unlock();
        }
    }

    private static void wakeFor(long deadline) {
        if (thread == null) {
            thread = Scheduler.daemon(new Timers(), "skein-timers");
            wakesAt = deadline;
            thread.start();
        } else if (deadline - wakesAt < 0) {
            wakesAt = deadline;
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void run() {
        for (; ; ) {
            Timeout due = null;
            long wait = FOR_EVER;
            LOCK.lock();
            try {
                long now = System.nanoTime();
                if (size == 0) {
                    wakesAt = now + wait;
                } else if (heap[0].deadline - now <= 0) {
                    due = removeAt(0);
                } else {
                    wakesAt = heap[0].deadline;
                    wait = wakesAt - now;
                }
            } finally {
                LOCK.unlock();
            }
            Thread.interrupted(); // a callback may have set it, which would keep the thread from parking
            if (due == null) LockSupport.parkNanos(this, wait);
            else fire(due);
        }
    }

    private static void fire(Timeout due) {
        try {
            due.channel().close();
        } catch (Throwable t) { // no memory, or a stack overflow: the other timers must still fire
            Uncaught.report(t);
        }
    }

    private static Timeout removeAt(int place) {
        Timeout removed = heap[place];
        Timeout last = heap[--size];
        heap[size] = null;
        removed.place = -1;
        if (last != removed) {
            last.place = place;
            heap[place] = last;
            siftDown(last);
            siftUp(last);
        }
        if (size > 1024 && size < heap.length / 4) heap = Arrays.copyOf(heap, heap.length / 2);
        return removed;
    }

    private static void siftUp(Timeout t) {
        int i = t.place;
        while (i > 0) {
            int parent = (i - 1) >> 2;
            Timeout p = heap[parent];
            if (p.deadline - t.deadline <= 0) break;
            set(i, p);
            i = parent;
        }
        set(i, t);
    }

    private static void siftDown(Timeout t) {
        int i = t.place;
        for (int first; (first = 4 * i + 1) < size; ) {
            int least = first;
            for (int c = first + 1; c < Math.min(first + 4, size); c++) {
                if (heap[c].deadline - heap[least].deadline < 0) least = c;
            }
            if (t.deadline - heap[least].deadline <= 0) break;
            set(i, heap[least]);
            i = least;
        }
        set(i, t);
    }

    private static void set(int i, Timeout t) {
        heap[i] = t;
        t.place = i;
    }

    /** Returns how many timeouts are outstanding. */
    static int outstanding() {
        LOCK.lock();
        try {
            return size;
        } finally {
            LOCK.unlock();
        }
    }
}
