// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import skein.rt.Lock;
import skein.rt.Operation;
import skein.rt.block.Frame;
import skein.rt.block.Observer;

/**
 * The last steps of blocks, while they are recorded: when each began and ended, on which thread.
 *
 * <p>A thread writes into one of 16 rings, chosen by its number. So two workers seldom want the same lock, a thread that has ended leaves
 * no ring behind, and the events of one thread are in order.
 */
public final class Recorder implements Observer {
    /** A kind of event. */
    public enum Kind {
        /** A step begins. */
        RESUMED,
        /** The thread has left the block's code. */
        SUSPENDED,
        /** The block has ended, and its last step is about to end. */
        FINISHED,
        /** Like FINISHED, but by an exception. */
        FAILED
    }

    /**
     * One event.
     *
     * @param nanos as System.nanoTime
     * @param state where the block had waited when it was resumed; -1 if it had not
     * @param thread the name of the thread. It need not be unique: a worker's next thread has the same name
     */
    public record Event(long nanos, Kind kind, Entry block, int state, String thread, long tid) {}

    /** The number of events in a ring. */
    private static final int SIZE = 1 << 16;

    private static final int RINGS = 16;
    private static final Kind[] KINDS = Kind.values();

    private static int index(long n) {
        return (int) (n & SIZE - 1);
    }

    /** The last events of some threads. */
    private static final class Ring extends Lock {
        // All guarded by lock. The arrays are made at the first event.
        private long[] nanos;
        private int[] what; // state << 2 | kind
        private Entry[] blocks;
        private String[] threads;
        private long[] tids;
        private long count; // events so far, those that were overwritten too

        /** Returns the number of the first event that is kept. */
        long first() {
            return Math.max(0, count - SIZE);
        }

        Event event(long n) {
            int i = index(n);
            return new Event(nanos[i], KINDS[what[i] & 3], blocks[i], what[i] >> 2, threads[i], tids[i]);
        }

        void add(Kind kind, Entry block, int state, Thread thread) {
            lock();
            try {
                if (nanos == null) {
                    nanos = new long[SIZE];
                    what = new int[SIZE];
                    blocks = new Entry[SIZE];
                    threads = new String[SIZE];
                    tids = new long[SIZE];
                }
                int i = (int) (count++ & SIZE - 1);
                nanos[i] = System.nanoTime(); // under the lock, so that the ring is in order
                what[i] = state << 2 | kind.ordinal();
                blocks[i] = block;
                threads[i] = thread.getName();
                tids[i] = thread.threadId();
            } finally {
                unlock();
            }
        }

        /** Returns a copy that is read without the lock: reading a ring takes longer than a worker should wait. */
        Ring copy() {
            Ring copy = new Ring();
            lock();
            try {
                if (nanos == null) return copy;
                copy.nanos = nanos.clone();
                copy.what = what.clone();
                copy.blocks = blocks.clone();
                copy.threads = threads.clone();
                copy.tids = tids.clone();
                copy.count = count;
                return copy;
            } finally {
                unlock();
            }
        }
    }

    private final Ring[] rings = new Ring[RINGS];

    /** Makes a recorder without events. */
    public Recorder() {
        for (int i = 0; i < RINGS; i++) rings[i] = new Ring();
    }

    private void add(Kind kind, Frame frame) {
        Entry block = Registry.entry(frame);
        if (block == null) return; // of a simulation, or made while the inspector was off
        Thread thread = Thread.currentThread();
        int state = kind == Kind.RESUMED && block.op() != Operation.NONE ? block.state : -1;
        rings[(int) thread.threadId() & RINGS - 1].add(kind, block, state, thread);
    }

    @Override
    public void resumed(Frame frame) {
        add(Kind.RESUMED, frame);
    }

    @Override
    public void suspended(Frame frame) {
        add(Kind.SUSPENDED, frame);
    }

    @Override
    public void ended(Frame frame, Object value, Throwable thrown) {
        add(thrown == null ? Kind.FINISHED : Kind.FAILED, frame);
    }

    /**
     * Returns the events since {@code since}, as System.nanoTime, and the last begin and the last end of a step before
     * that, for each block that lives or has events since then. The former are in order for each thread.
     */
    public List<Event> since(long since) {
        List<Event> events = new ArrayList<>();
        List<Ring> copies = new ArrayList<>();
        Set<Entry> later = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Ring ring : rings) copies.add(ring.copy());
        for (Ring copy : copies) {
            for (long n = copy.first(); n < copy.count; n++) {
                if (copy.nanos[index(n)] - since < 0) continue;
                events.add(copy.event(n));
                later.add(copy.blocks[index(n)]);
            }
        }
        Map<Entry, Event[]> last = new IdentityHashMap<>();
        for (Ring copy : copies) {
            for (long n = copy.first(); n < copy.count; n++) {
                Entry block = copy.blocks[index(n)];
                long nanos = copy.nanos[index(n)];
                if (0 <= nanos - since || block.fate() != Entry.Fate.LIVES && !later.contains(block)) continue;
                Event[] lasts = last.computeIfAbsent(block, b -> new Event[2]);
                Event event = copy.event(n);
                int i = event.kind == Kind.RESUMED ? 0 : 1;
                if (lasts[i] == null || lasts[i].nanos - nanos <= 0) lasts[i] = event;
            }
        }
        for (Event[] lasts : last.values()) for (Event e : lasts) if (e != null) events.add(e);
        return events;
    }
}
