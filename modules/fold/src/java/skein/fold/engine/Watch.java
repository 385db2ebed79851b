// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.IFn;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The progress of a fold while it runs. A fold has a watch from its beginning if that was requested. Otherwise it gets one when it has
 * taken some time, so that small folds have none. Any number of threads may use it.
 */
public final class Watch {
    private static final Set<Watch> UNDER_WAY = ConcurrentHashMap.newKeySet();

    /** The thread that has called the fold. */
    public final Thread caller = Thread.currentThread();
    /** When it began, as System.nanoTime. */
    public final long start;
    /** The name of its units: elements, bytes. */
    public final String unit;
    /** How many units there are, or -1 if unknown. */
    public final long size;
    /** How the fold runs: serial, parallel or in-order. */
    public volatile String path = "serial";
    /** Why it runs that way, as a phrase. */
    public volatile String reason = "";

    private final LongAdder done = new LongAdder(); // units
    private final IFn onBlock; // or null

    /**
     * @param done units done before, or -1 if unknown
     * @param onBlock called by the thread that has done a block, or null. Its arguments are this watch, an object that stands for the
     *     part of the source, the block's first unit or -1, how many units it had, and how many nanoseconds it took. Its exception ends
     *     the fold
     */
    public Watch(String unit, long size, long start, long done, IFn onBlock) {
        this.unit = unit;
        this.size = size;
        this.start = start;
        this.onBlock = onBlock;
        this.done.add(Math.max(0, done));
    }

    /** Returns the folds that have a watch and have not ended. */
    public static Set<Watch> underWay() {
        return Set.copyOf(UNDER_WAY);
    }

    /** Returns how many units are done. Units of a block count when the block has ended. */
    public long done() {
        return done.sum();
    }

    /** Adds the fold to the running ones. */
    void show() {
        UNDER_WAY.add(this);
    }

    /** Removes the fold, which has ended, from the running ones. */
    void end() {
        UNDER_WAY.remove(this);
    }

    /** Records that the calling thread has done a block of {@code part}. */
    void note(Part part, long units, long nanos) {
        done.add(units);
        if (onBlock != null) onBlock.invoke(this, part, part.from, units, nanos);
    }
}
