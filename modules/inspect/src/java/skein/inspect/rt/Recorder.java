// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import java.util.ArrayList;
import java.util.List;
import skein.rt.Frame;
import skein.rt.Lock;
import skein.rt.watch.Probe;

/**
 * The last steps of blocks, while they are recorded: when each began and ended, on which thread.
 *
 * <p>A thread writes into one of 16 rings, chosen by its number. So two workers seldom want the same lock, a thread that has ended leaves
 * no ring behind, and the events of one thread are in order.
 */
public final class Recorder implements Probe {
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

    /** The last events of some threads. */
    private static final class Ring extends Lock {
        // All guarded by lock. The arrays are made at the first event.
        private long[] nanos;
        private int[] what; // state << 2 | kind
        private Entry[] blocks;
        private String[] threads;
        private long[] tids;
        private long count; // events so far, those that were overwritten too

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
        int state = kind == Kind.RESUMED && block.op() != 0 ? block.state : -1;
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
    public void finished(Frame frame, Object value) {
        add(Kind.FINISHED, frame);
    }

    @Override
    public void failed(Frame frame, Throwable thrown) {
        add(Kind.FAILED, frame);
    }

    /** Returns the events since {@code since}, as System.nanoTime. Those of one thread are in order. */
    public List<Event> since(long since) {
        List<Event> events = new ArrayList<>();
        for (Ring ring : rings) {
            Ring copy = ring.copy();
            for (long n = Math.max(0, copy.count - SIZE); n < copy.count; n++) {
                int i = (int) (n & SIZE - 1);
                if (copy.nanos[i] - since < 0) continue;
                int what = copy.what[i];
                events.add(new Event(
                        copy.nanos[i], KINDS[what & 3], copy.blocks[i], what >> 2, copy.threads[i], copy.tids[i]));
            }
        }
        return events;
    }
}
