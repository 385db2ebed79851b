// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.IFn;

/**
 * A part of the source with an accumulator of its own, and the thread that works on it, its owner. In a part of a span the units
 * [at, end) are not taken yet. The owner takes them block by block, and a helper steals their later half.
 *
 * <pre>
 *   running -> done        the units are used up; the accumulator waits for a neighbour's
 *   running -> thrown      done, with an exception; it counts unless a part to the left ends the fold
 *   done    -> (unlinked)  a neighbour has taken the accumulator
 *   any     -> dropped     a part to the left has ended the fold
 * </pre>
 */
final class Part extends Claim {
    final Pace pace;
    IFn step; // the owner's
    Object acc; // the owner's; guarded by the run when done
    long from; // the owner's; where its present block begins, or -1
    Part left; // guarded by the run
    Part right; // guarded by the run
    boolean done; // guarded by the run
    Throwable thrown; // guarded by the run

    private long at; // guarded by this
    private long end; // guarded by this
    private long blockUnits; // guarded by this
    private long blockStart; // guarded by this; when the owner took its present block

    /** Makes a part without units of its own, such as one whose units come from a feed. */
    Part(Pace pace) {
        this.pace = pace;
        from = -1;
    }

    /** Gives the part the units [at, end) of a span, which nobody has taken. */
    synchronized Part range(long at, long end) {
        this.at = at;
        this.end = end;
        return this;
    }

    /**
     * Ends the owner's block, if any, at time {@code now}, and takes another, from {@link #from} on. Returns where it
     * ends, or -1 if no units are left.
     */
    synchronized long take(long now) {
        if (blockUnits > 0) pace.took(blockUnits, now - blockStart);
        blockUnits = 0;
        from = at;
        if (end <= at) return -1;
        blockUnits = pace.next(end - at);
        blockStart = now;
        return at += blockUnits;
    }

    /** Returns how many units nobody has taken. */
    synchronized long remaining() {
        return end - at;
    }

    /** Returns how long those units should take, by the cost of the present block if that is slower than expected. */
    synchronized double remainingNanos(long now) {
        if (pace.isFixed()) return Double.MAX_VALUE;
        double perUnit = pace.nanosPerUnit();
        if (blockUnits > 0) perUnit = Math.max(perUnit, (double) (now - blockStart) / blockUnits);
        return perUnit * (end - at);
    }

    /** Splits off the later half of the units that nobody has taken and returns it as a part, or null if there are none. */
    synchronized Part split() {
        if (end <= at) return null;
        long middle = at + (end - at) / 2;
        Part later = new Part(pace.copy()).range(middle, end);
        end = middle;
        return later;
    }

    /** Drops the units that nobody has taken. */
    synchronized void close() {
        end = at;
    }
}
