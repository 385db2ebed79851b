// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.IFn;
import clojure.lang.IReduceInit;
import clojure.lang.RT;
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
    /** The longest slice to make up for, so that a fold of dear elements does not park for ever. */
    private static final long MAX_SLICE_NANOS = 20 * SLICE_NANOS;
    /** How many folds are on virtual threads and have parked. */
    private static final AtomicInteger PARKING = new AtomicInteger();
    /** Gives a step the arity of one, which transducers call at the end. */
    private static final IFn COMPLETING =
            (IFn) RT.var("clojure.core", "completing").deref();

    final IFn identity;
    final IFn combine;
    final Options options;
    Watch watch; // written by the caller before it has helpers; null until the fold has taken a while
    private final IFn[] stages;
    private final IFn rawStep;
    private final IFn step; // with an arity of one if anybody calls that
    private final boolean completes; // whether a part's accumulator is to be completed
    private final int inOrderFrom; // when no stage needs order
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
        this.step = completing || stages.length == 0 ? step : (IFn) COMPLETING.invoke(step);
        inOrderFrom = stepInOrder ? stages.length : Integer.MAX_VALUE;
    }

    /**
     * Folds {@code source}: a Span, a Feed, or an IReduceInit, which is folded on this thread. Returns the combined accumulators, each
     * complete. Closes the source if it is of the first two kinds.
     */
    public Object over(Object source) {
        AutoCloseable closed = source instanceof Span span ? span : source instanceof Feed feed ? feed : null;
        try (closed) {
            Object result = source instanceof Span span
                    ? Start.fold(this, span)
                    : source instanceof Feed feed
                            ? new Start(this, feed, null).fold()
                            : Start.fold(this, (IReduceInit) source);
            if (watch != null) watch.report();
            return result;
        } catch (Exception e) { // what close might throw is not declared elsewhere
            throw Util.sneakyThrow(e);
        } finally {
            if (parks) PARKING.decrementAndGet();
            if (watch != null) watch.end();
        }
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
        // Of more folds than carriers, so long that they leave half of the carriers' time. A slice takes longer when
        // elements
        // are dear, or when other processes keep the carriers from their processors.
        long slice = Math.min(now - carried, MAX_SLICE_NANOS);
        long turns = 2 * slice * folds / Crew.PROCESSORS;
        LockSupport.parkNanos(this, folds <= Crew.PROCESSORS ? 1 : turns - slice);
        carried = System.nanoTime();
    }

    static InterruptedException interruption() {
        return new InterruptedException("interrupted while folding");
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

    /**
     * Returns the first stage that has to see its elements in order or, if {@code ends} is set, that stops early, for which there is no
     * unordered answer either: stageCount() for the step, more for none.
     */
    int firstInOrder(IFn[] chain, boolean ends) {
        for (int i = 0; i < stages.length; i++) {
            if (ends && Stages.stopsEarly(stages[i]) || Stages.isOrderDependent(stages[i], chain[i], chain[i + 1]))
                return i;
        }
        return inOrderFrom;
    }

    /** Returns the first stage that can't be without order, as above. */
    public int firstThatNeedsOrder() {
        return firstInOrder(chain(), true);
    }

    int stageCount() {
        return stages.length;
    }

    // What happens.

    /** From now on others see the fold, which has done {@code done} of {@code size} units; -1 if nobody knows. */
    void show(String unit, long size, long start, long done) {
        if (watch == null) watch = new Watch(unit, size, start, done, null, false);
        watch.show();
    }

    /** Notes how the fold runs, and why. */
    void path(String path, String reason) {
        if (watch != null) watch.path(path, reason);
    }
}
