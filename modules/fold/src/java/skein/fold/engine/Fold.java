// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.IFn;
import clojure.lang.IReduceInit;
import clojure.lang.RT;
import clojure.lang.Util;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * One fold: its functions, its options, and the three ways in which it begins, one for each kind of source.
 *
 * <p>The transducer in front of the step is divided into stages. Applied one to the other, the last one to the step, they make a
 * chain. It is an array of reducing functions: the first takes the source's elements, and the last is the step. Stages may keep state,
 * so each part of the source has a chain of its own.
 */
public final class Fold {
    /**
     * How to run a fold.
     *
     * @param workers the most threads, the caller's included
     * @param grain units in a block, without a serial start; 0: measured
     * @param ordered whether only neighbouring accumulators may be combined
     * @param pool runs the helpers; null: the engine's crew
     * @param watch records how the fold runs, or null
     */
    public record Options(int workers, long grain, boolean ordered, Executor pool, Watch watch) {}

    /** As many threads as there are processors, blocks as measured, in order, on the crew, unwatched. */
    public static final Options DEFAULTS = new Options(Crew.PROCESSORS, 0, true, null, null);

    /** How long a virtual thread may keep its carrier thread; getting it back takes some 20 us. */
    private static final long SLICE_NANOS = 1_000_000;
    /** The longest slice to compensate for, so that a fold of expensive elements does not park for ever. */
    private static final long MAX_SLICE_NANOS = 20 * SLICE_NANOS;
    /** How many folds are on virtual threads and have parked. */
    private static final AtomicInteger PARKING = new AtomicInteger();
    /** Gives a step the arity of one, which transducers call at the end. */
    private static final IFn COMPLETING = RT.var("clojure.core", "completing");

    private static volatile IFn needsOrder;

    final IFn identity;
    final IFn combine;
    final Options options;
    Watch watch; // written by the caller before it has helpers; null until the fold has taken a while
    final IFn[] stages;
    final IFn rawStep;
    private final IFn step; // rawStep, with an arity of one if a transducer calls that
    private final boolean completes; // whether a part's accumulator must be completed
    private final int inOrderFrom; // the result of firstInOrder if no stage needs order
    private long carried; // the caller's; when a virtual thread got its carrier thread; 0 until its first block ends
    private boolean parks; // the caller's; whether it is in PARKING

    /**
     * @param identity function of no argument; returns the first accumulator
     * @param stages transducers, the first one first
     * @param step a reducing function
     * @param completes whether the step's arity of one, if it has one, completes an accumulator
     * @param stepInOrder whether the step has to see all elements in order
     * @param combine function of two neighbouring accumulators
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
            return source instanceof Span span
                    ? Start.fold(this, span)
                    : source instanceof Feed feed
                            ? new Start(this, feed, null).fold()
                            : Start.fold(this, (IReduceInit) source);
        } catch (Exception e) { // close may throw a checked exception
            throw Util.sneakyThrow(e);
        } finally {
            if (parks) PARKING.decrementAndGet();
            if (watch != null) watch.end();
        }
    }

    // The caller's work between two blocks.

    /**
     * Throws an InterruptedException if the caller has been interrupted. A virtual thread that computes keeps its carrier thread until it
     * parks. Yielding is not enough, since a carrier thread looks for other work only when its own queue is empty. So a caller on a virtual
     * thread parks from time to time. If there are more such folds than carrier threads, they park so long that carrier threads become idle.
     */
    void pause() {
        if (Thread.interrupted()) throw Util.sneakyThrow(interruption());
        if (!Thread.currentThread().isVirtual()) return;
        long now = System.nanoTime();
        if (carried == 0) carried = now;
        if (now - carried < SLICE_NANOS) return;
        int folds = parks ? PARKING.get() : PARKING.incrementAndGet();
        parks = true;
        // With more folds than carrier threads, they park so long that half of the carrier threads' time is free.
        // A slice takes longer when elements are expensive, or when other processes use the processors.
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

    /** Completes the accumulator of a chain that begins with {@code chained}. */
    Object complete(IFn chained, Object acc) {
        return completes ? chained.invoke(acc) : acc;
    }

    /** Sets the function that returns whether a stage needs order. Its arguments: the stage, its result, what the stage was applied to. */
    public static void setOrder(IFn f) {
        needsOrder = f;
    }

    /** Returns the index of the first stage that needs its elements in order: stages.length is the step, and a larger number means none. */
    int firstInOrder(IFn[] chain) {
        for (int i = 0; i < stages.length; i++) {
            if (RT.booleanCast(needsOrder.invoke(stages[i], chain[i], chain[i + 1]))) return i;
        }
        return inOrderFrom;
    }

    // Watching.

    /** Makes the fold visible to watchers. It has done {@code done} of {@code size} units; -1 if unknown. */
    void show(String unit, long size, long start, long done) {
        if (watch == null) watch = new Watch(unit, size, start, done, null);
        watch.show();
    }

    /** Records how the fold runs, and why. */
    void path(String path, String reason) {
        if (watch == null) return;
        watch.path = path;
        watch.reason = reason;
    }
}
