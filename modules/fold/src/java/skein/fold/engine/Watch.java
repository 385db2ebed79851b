// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.IFn;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The progress of a fold while it runs, and a record of how it ran. A fold has a watch from its beginning if that was requested. Otherwise it
 * gets one when it has taken some time, so that small folds have none. Any number of threads may use it.
 */
public final class Watch {
    /** The shortest time between two reports. */
    private static final long INTERVAL_NANOS = 50_000_000;

    private static final Set<Watch> UNDER_WAY = ConcurrentHashMap.newKeySet();

    /** A record of the work on one part of the source. Guarded by the watch until the fold is over. */
    public static final class Piece {
        /** Where its first block began, in units, or -1 if the source has no positions. */
        public final long from;
        /** The thread that began it. */
        public final Thread thread = Thread.currentThread();
        /** Units done. */
        public long units;
        /** Blocks taken. */
        public long blocks;
        /** Time spent in blocks. */
        public long nanos;

        private Piece(long from) {
            this.from = from;
        }
    }

    /** The thread that has called the fold. */
    public final Thread caller = Thread.currentThread();
    /** When it began, as System.nanoTime. */
    public final long start;
    /** The name of its units: elements, bytes. */
    public final String unit;
    /** How many units there are, or -1 if unknown. */
    public final long size;

    private final IFn progress; // null: no reports
    private final List<Piece> pieces; // guarded by this; null: not recorded
    private final Set<Thread> threads = new HashSet<>(); // guarded by this; of the pieces
    private final LongAdder done = new LongAdder(); // units
    private final ReentrantLock reporting = new ReentrantLock();
    private volatile long reported; // written by the thread that reports
    private String path = "serial"; // guarded by this
    private String reason = ""; // guarded by this

    /**
     * @param done units done before, or -1 if unknown
     * @param progress called with the units done, at most every 50 ms, by one thread at a time, and once at the end; or null. Its
     *     exception ends the fold
     * @param detailed whether to keep the pieces
     */
    public Watch(String unit, long size, long start, long done, IFn progress, boolean detailed) {
        this.unit = unit;
        this.size = size;
        this.start = start;
        this.progress = progress;
        pieces = detailed ? new ArrayList<>() : null;
        reported = start;
        this.done.add(Math.max(0, done));
    }

    /** Returns the folds that have a watch and have not ended. */
    public static Set<Watch> underWay() {
        return Set.copyOf(UNDER_WAY);
    }

    /** Adds the fold to the running ones. */
    void show() {
        UNDER_WAY.add(this);
    }

    /** The fold has ended, with a value or an exception. */
    void end() {
        UNDER_WAY.remove(this);
    }

    /** Records that the calling thread has done a block of {@code part}. */
    void note(Part part, long units, long before, long now) {
        done.add(units);
        if (pieces != null) write(part, units, now - before);
        if (progress == null || now - reported < INTERVAL_NANOS || !reporting.tryLock()) return;
        try {
            reported = now;
            report();
        } finally {
            reporting.unlock();
        }
    }

    private synchronized void write(Part part, long units, long nanos) {
        if (part.piece == null) {
            // In an in-order run the parts are blocks of one part.
            boolean isFirst = pieces.isEmpty() || !path.equals("in-order");
            part.piece = isFirst ? new Piece(part.from) : pieces.get(0);
            if (isFirst) pieces.add(part.piece);
        }
        threads.add(Thread.currentThread());
        part.piece.units += units;
        part.piece.blocks++;
        part.piece.nanos += nanos;
    }

    /** Reports how far the fold is. */
    void report() {
        if (progress != null) progress.invoke(done());
    }

    synchronized void path(String path, String reason) {
        this.path = path;
        this.reason = reason;
    }

    /** Returns how many units are done, those of blocks that have ended. */
    public long done() {
        return done.sum();
    }

    /** Returns how the fold ran: serial, parallel or in-order. */
    public synchronized String path() {
        return path;
    }

    /** Returns why it ran so, as a phrase. */
    public synchronized String reason() {
        return reason;
    }

    /** Returns how many threads took part. */
    public synchronized int threads() {
        return threads.size();
    }

    /** Returns the pieces, in the order in which they were begun. */
    public synchronized List<Piece> pieces() {
        return List.copyOf(pieces);
    }
}
