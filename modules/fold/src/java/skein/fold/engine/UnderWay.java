// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** A fold that has taken a while, as others see it. A small fold is over before it would cost anything. */
public final class UnderWay {
    private static final Set<UnderWay> ALL = ConcurrentHashMap.newKeySet();

    /** Who has called the fold. */
    public final Thread caller = Thread.currentThread();
    /** What its units are: elements, bytes. */
    public final String unit;
    /** How many units there are, or -1 if nobody knows. */
    public final long size;
    /** When it began, as System.nanoTime. */
    public final long start;

    private final LongAdder done = new LongAdder();

    private UnderWay(String unit, long size, long start) {
        this.unit = unit;
        this.size = size;
        this.start = start;
    }

    static UnderWay begin(String unit, long size, long start) {
        UnderWay fold = new UnderWay(unit, size, start);
        ALL.add(fold);
        return fold;
    }

    void did(long units) {
        done.add(units);
    }

    void end() {
        ALL.remove(this);
    }

    /** How many units are done, those of blocks that have ended. */
    public long done() {
        return done.sum();
    }

    /** The folds that are under way. */
    public static Set<UnderWay> all() {
        return Set.copyOf(ALL);
    }
}
