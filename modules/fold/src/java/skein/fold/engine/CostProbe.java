// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.IFn;

/**
 * A step that measures which share of a fold's time could run in parallel: the chain, or the stages in front of the first
 * one that needs order. What takes the rest is the source, or the stages behind.
 *
 * <p>Reading the clock costs as much as many a step. So only a sample of the calls is timed, ever fewer of them, and each timed call also
 * measures what the clock costs.
 */
final class CostProbe extends AFn {
    /** Which share of the time must be in what can run in parallel, for helpers to be worth their cost. */
    private static final double WORTH_SHARE = 0.35;
    /** How long the parallel part of an element must take: to hand an element over costs a cache miss or two. */
    private static final double WORTH_ELEMENT_NANOS = 15;
    /** The first calls are all timed. */
    private static final int DENSE = 16;
    /** How often the clock is read for one call that is timed. */
    private static final int READINGS = 3;

    /** The first stage that needs order: what happens from there on is not parallel. */
    private final class Rest extends AFn {
        private final IFn step;

        Rest(IFn step) {
            this.step = step;
        }

        @Override
        public Object invoke(Object acc, Object x) {
            if (!timing) return step.invoke(acc, x);
            long before = System.nanoTime();
            long start = System.nanoTime();
            Object result = step.invoke(acc, x);
            inRest += System.nanoTime() - before;
            clock += start - before;
            return result;
        }
    }

    private final IFn step;
    private final Pace pace;
    private final double nanosPerUnit; // before the probe
    private long calls;
    private long nextTimed;
    private boolean timing;
    private long inRest; // of the call that is being timed, with two of the three readings of the clock
    private long clock; // of the call that is being timed: for one of the three
    private double nanos; // in the parallel part
    private double clockNanos; // for all readings

    /**
     * @param front how many stages are in front of the first one that needs order, or more than there are
     * @param pace measures the block in which this step is used, too
     */
    CostProbe(Fold fold, IFn[] chain, int front, Pace pace) {
        this.pace = pace;
        nanosPerUnit = pace.nanosPerUnit();
        step = front >= chain.length ? chain[0] : fold.chain(front, new Rest(chain[front]))[0];
    }

    @Override
    public Object invoke(Object acc, Object x) {
        return calls++ < nextTimed ? step.invoke(acc, x) : timed(acc, x);
    }

    private Object timed(Object acc, Object x) {
        int weight = (int) (1 + nextTimed / DENSE);
        nextTimed += weight;
        timing = true;
        inRest = 0;
        clock = 0;
        long before = System.nanoTime();
        long start = System.nanoTime();
        Object result = step.invoke(acc, x);
        long end = System.nanoTime();
        timing = false;
        clock += start - before;
        clockNanos += READINGS * clock;
        nanos += (double) weight * Math.max(0, end - start - inRest - clock);
        return result;
    }

    /** Returns whether helpers are worth their cost, going by a block that took {@code total} nanoseconds. */
    boolean isWorthwhile(long total) {
        double all = Math.max(1, total - clockNanos);
        // A timed step takes longer than one in a loop, and the others pass through here too.
        double unprobed = nanosPerUnit == 0 ? all : total * nanosPerUnit / pace.nanosPerUnit();
        double share = Math.min(1, nanos / all);
        return calls > 0 && share >= WORTH_SHARE && share * Math.min(all, unprobed) / calls >= WORTH_ELEMENT_NANOS;
    }
}
