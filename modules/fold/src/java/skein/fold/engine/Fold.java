// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.IFn;
import clojure.lang.IReduceInit;
import clojure.lang.Util;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import skein.fold.memory.Fused;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * One fold: its functions, its options, and the three ways in which it begins, one for each kind of source.
 *
 * <p>The transducer in front of the step is taken apart into stages. Applied one to the other, the last one to the step, they make a
 * chain: an array of reducing functions, of which the first takes the source's elements and the last is the step. Stages may keep
 * state, so each part of the source has a chain of its own.
 */
public final class Fold {
    /**
     * How to run a fold.
     *
     * @param parallelism threads at most, the caller's included
     * @param grain units in a block, and no serial start; 0: measured
     * @param unordered whether accumulators may be combined in any order
     * @param pool where helpers run; null: on the engine's crew
     * @param watch where to note what happens, or null
     */
    public record Options(int parallelism, long grain, boolean unordered, Executor pool, Watch watch) {}

    /** As many threads as there are processors, blocks as measured, in order, on the crew, unwatched. */
    public static final Options DEFAULTS = new Options(Crew.PROCESSORS, 0, false, null, null);

    /** How long a virtual thread may keep its carrier; to come back to it takes some 20 us. */
    private static final long SLICE_NANOS = 1_000_000;
    /** How many folds are on virtual threads and have parked. */
    private static final AtomicInteger PARKING = new AtomicInteger();

    /** A step with the arity of one that transducers call at the end. */
    private static final class Completing extends AFn {
        private final IFn step;

        Completing(IFn step) {
            this.step = step;
        }

        @Override
        public Object invoke(Object acc) {
            return acc;
        }

        @Override
        public Object invoke(Object acc, Object x) {
            return step.invoke(acc, x);
        }
    }

    final IFn identity;
    final IFn combine;
    final Options options;
    final Watch watch;
    private final IFn[] stages;
    private final IFn rawStep;
    private final IFn step; // with an arity of one if anybody calls that
    private final boolean completes; // whether a part's accumulator is to be completed
    private final int inOrderFrom; // when no stage needs order
    private UnderWay underWay; // written by the caller before it has helpers; null until the fold has taken a while
    private long alone; // the caller's; units done until the fold is seen
    private long carried; // the caller's; when a virtual thread got its carrier, 0 before the first block has ended
    private boolean parks; // the caller's; whether it is in PARKING

    /**
     * @param identity of no argument: an accumulator to begin with
     * @param stages transducers, the first one first
     * @param step a reducing function
     * @param completes whether the step's arity of one, if it has one, completes an accumulator
     * @param stepInOrder whether the step has to see all elements in order
     * @param combine of two accumulators, neighbours
     */
    public Fold(
            IFn identity,
            IFn[] stages,
            IFn step,
            boolean completes,
            boolean stepInOrder,
            IFn combine,
            Options options) {
        this.identity = identity;
        this.stages = stages;
        this.combine = combine;
        this.options = options;
        watch = options.watch;
        rawStep = step;
        boolean completing = completes && Stages.hasArityOne(step);
        this.completes = completing || stages.length > 0;
        this.step = completing || stages.length == 0 ? step : new Completing(step);
        inOrderFrom = stepInOrder ? stages.length : Integer.MAX_VALUE;
    }

    /** Folds {@code span}; returns the combined accumulators, each complete. Closes the span. */
    public Object over(Span span) {
        try (span) {
            return finished(Start.fold(this, span));
        } finally {
            end();
        }
    }

    /** Folds {@code feed}; as above. */
    public Object over(Feed feed) {
        try (feed) {
            return finished(new Start(this, feed, null).fold());
        } finally {
            end();
        }
    }

    /** Folds a source that pushes its elements, on this thread; as above. */
    public Object over(IReduceInit pusher) {
        try {
            return finished(Start.fold(this, pusher));
        } finally {
            end();
        }
    }

    private Object finished(Object result) {
        if (watch != null) watch.finish();
        return result;
    }

    // What the caller does between two blocks.

    /**
     * Throws an InterruptedException if somebody has interrupted the caller. A virtual thread that computes keeps its carrier until it parks; to
     * yield is not enough, since a carrier looks for other work only when it finds none where it found the last. So the caller parks now and
     * then, if it is one. If there are more such folds than carriers, they park so long that carriers run out of work.
     */
    void pause() {
        if (Thread.interrupted()) throw Util.sneakyThrow(interruption());
        if (!Thread.currentThread().isVirtual()) return;
        long now = System.nanoTime();
        if (carried == 0) carried = now;
        if (now - carried < SLICE_NANOS) return;
        int folds = parks ? PARKING.get() : PARKING.incrementAndGet();
        parks = true;
        // Of more folds than carriers, so long that they leave half of the carriers' time.
        long turns = 2 * SLICE_NANOS * folds / Crew.PROCESSORS;
        LockSupport.parkNanos(this, folds <= Crew.PROCESSORS ? 1 : turns - SLICE_NANOS);
        carried = System.nanoTime();
    }

    static InterruptedException interruption() {
        return new InterruptedException("interrupted while folding");
    }

    private void end() {
        if (parks) PARKING.decrementAndGet();
        if (underWay != null) underWay.end();
    }

    // Chains.

    /** Returns a new chain. */
    IFn[] chain() {
        return chain(stages.length, step);
    }

    /** Returns a new chain of the first {@code n} stages, in front of {@code last}. */
    IFn[] chain(int n, IFn last) {
        IFn[] chain = new IFn[n + 1];
        chain[n] = last;
        for (int i = n - 1; i >= 0; i--) chain[i] = (IFn) stages[i].invoke(chain[i + 1]);
        return chain;
    }

    /** Returns what {@code chain} does with the elements of {@code span}, which may be null: as one loop if that is worthwhile. */
    IFn stepOf(IFn[] chain, Span span) {
        return span == null ? chain[0] : Fused.stepOf(span, stages, rawStep, chain);
    }

    /** Completes the accumulator of a chain that begins with {@code chained}. */
    Object complete(IFn chained, Object acc) {
        return completes ? chained.invoke(acc) : acc;
    }

    /** Returns the first stage that has to see its elements in order: stageCount() for the step, more for none. */
    int firstInOrder(IFn[] chain) {
        for (int i = 0; i < stages.length; i++) {
            if (Stages.isOrderDependent(stages[i], chain[i], chain[i + 1])) return i;
        }
        return inOrderFrom;
    }

    /**
     * Returns the first stage that needs order or stops early, for which there is no unordered answer: how many stages there
     * are for the step, more for none.
     */
    public int firstThatNeedsOrder() {
        IFn[] chain = chain();
        for (int i = 0; i < stages.length; i++) {
            if (Stages.stopsEarly(stages[i]) || Stages.isOrderDependent(stages[i], chain[i], chain[i + 1])) return i;
        }
        return inOrderFrom;
    }

    int stageCount() {
        return stages.length;
    }

    // What happens.

    /** From now on others see the fold. */
    void show(String unit, long size, long start) {
        if (underWay != null) return;
        underWay = UnderWay.begin(unit, size, start);
        underWay.did(alone);
    }

    /** Notes a block of {@code units} units of {@code part}, from {@code before} to {@code now}. */
    void note(Part part, long units, long before, long now) {
        if (underWay == null) alone += units;
        else underWay.did(units);
        if (watch != null) part.piece = watch.note(part.piece, part.from, units, before, now);
    }

    /** Notes how the fold runs, and why. */
    void path(String path, String reason) {
        if (watch != null) watch.path(path, reason);
    }
}
