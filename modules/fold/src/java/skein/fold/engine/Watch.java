// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.IFn;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/** Writes down what a fold does, and reports to a callback how far it is. Any number of threads may use it. */
public final class Watch {
    /** The shortest time between two reports. */
    private static final long INTERVAL_NANOS = 50_000_000;

    /** What was done for one part of the source. Guarded by the watch until the fold is over. */
    public static final class Piece {
        /** Where its first block began, in units, or -1 if the source has no positions. */
        public final long from;
        /** The thread that began it. */
        public final String thread = threadName();
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

    private final IFn progress; // null: nobody wants reports
    private final long total; // units, or -1
    private final ReentrantLock reporting = new ReentrantLock();
    private volatile long reported = System.nanoTime(); // written by the thread that reports
    private long done; // guarded by this; units
    private final List<Piece> pieces = new ArrayList<>(); // guarded by this
    private final Set<String> threads = new HashSet<>(); // guarded by this
    private String path = "serial"; // guarded by this
    private String reason = ""; // guarded by this

    /**
     * @param progress called with the units done and the units in all (nil if unknown), at most every 50 ms, by one thread at a time, and
     *     once at the end; or null. What it throws ends the fold
     * @param total units in all, or -1 if nobody knows
     */
    public Watch(IFn progress, long total) {
        this.progress = progress;
        this.total = total;
    }

    private static String threadName() {
        Thread thread = Thread.currentThread();
        return thread.getName().isEmpty() ? thread.toString() : thread.getName();
    }

    /**
     * Notes that the calling thread has done a block.
     *
     * @param piece what was done before for the same part, or null
     * @return the piece, to be given for the part's next block
     */
    Piece note(Piece piece, long from, long units, long before, long now) {
        Piece noted = write(piece, from, units, now - before);
        if (progress != null && now - reported >= INTERVAL_NANOS && reporting.tryLock()) {
            try {
                reported = now;
                report();
            } finally {
                reporting.unlock();
            }
        }
        return noted;
    }

    /** Returns a new piece, with nothing done. */
    synchronized Piece piece(long from) {
        Piece piece = new Piece(from);
        pieces.add(piece);
        return piece;
    }

    private synchronized Piece write(Piece piece, long from, long units, long nanos) {
        if (piece == null) piece = piece(from);
        threads.add(threadName());
        done += units;
        piece.units += units;
        piece.blocks++;
        piece.nanos += nanos;
        return piece;
    }

    /** Reports for the last time, when no other thread works any more. */
    void finish() {
        if (progress != null) report();
    }

    private void report() {
        progress.invoke(done(), total < 0 ? null : (Object) total);
    }

    private synchronized long done() {
        return done;
    }

    synchronized void path(String path, String reason) {
        this.path = path;
        this.reason = reason;
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
