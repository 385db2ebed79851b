// SPDX-License-Identifier: Apache-2.0
package skein.fold.memory;

import clojure.lang.AFn;
import clojure.lang.IFn;
import skein.fold.spi.Span;

/**
 * A chain as one loop, made for its functions by {@code skein.fold.primitive}. Each call site of the loop calls one function only, so
 * the JIT compiler can inline it, whatever else the program folds. Numbers pass the loop unboxed.
 */
public final class Fused extends AFn {
    /** The loop. */
    public interface Loop {
        /** Reduces the elements from one index to another, as {@link Span#reduce} does with the first of {@code chain}. */
        Object reduce(Object elements, IFn[] chain, Object acc, long from, long to);
    }

    /** A span whose elements a loop can go over. */
    interface Fusible extends Span {
        /** Returns the kind of the elements, by its name in {@code skein.fold.primitive}. */
        String kind();
    }

    /** With fewer elements, looking for a loop costs more than it saves. */
    private static final int MIN_SIZE = 10_000;
    /** After this many elements the JIT compiler knows which functions a loop calls. */
    private static final long KNOWN = 1_000_000;

    private static volatile IFn maker;

    final IFn[] chain; // what the loop stands for
    private final Loop loop;
    private final Class<?> accType; // of the loop's accumulators, or null
    private final long[] seen; // how many elements the loops of this class have had, roughly: threads race

    public Fused(IFn[] chain, Loop loop, Class<?> accType, long[] seen) {
        this.chain = chain;
        this.loop = loop;
        this.accType = accType;
        this.seen = seen;
    }

    /** Sets the function that makes a Fused, or nil, from a span's kind and size, stages, a step and their chain. */
    public static void setMaker(IFn f) {
        maker = f;
    }

    /** Returns {@code chain}, made of {@code stages} and {@code step}, as one step: fused if {@code span}, which may be null, is worth it. */
    public static IFn stepOf(Span span, IFn[] stages, IFn step, IFn[] chain) {
        if (!(span instanceof Fusible fusible) || span.size() < MIN_SIZE || maker == null) return chain[0];
        IFn fused = (IFn) maker.invoke(fusible.kind(), span.size(), stages, step, chain);
        return fused == null ? chain[0] : fused;
    }

    /** Returns {@code chain} as a step like {@code step}, which was made of another chain of the same functions. */
    public static IFn like(IFn step, IFn[] chain) {
        return step instanceof Fused f ? new Fused(chain, f.loop, f.accType, f.seen) : chain[0];
    }

    @Override
    public Object invoke(Object acc) {
        return chain[0].invoke(acc);
    }

    @Override
    public Object invoke(Object acc, Object x) {
        return chain[0].invoke(acc, x);
    }

    /** Returns whether the loop accepts {@code acc}. A sum of doubles, for example, begins with a long. */
    boolean takes(Object acc) {
        return accType == null || accType.isInstance(acc);
    }

    Object reduce(Object elements, Object acc, long from, long to) {
        return seen[0] < KNOWN ? reduceNew(elements, acc, from, to) : loop.reduce(elements, chain, acc, from, to);
    }

    /**
     * Calls a new loop. If {@link #reduce} did so itself, the JIT compiler could inline a loop there for good, before
     * its functions are known.
     */
    private Object reduceNew(Object elements, Object acc, long from, long to) {
        seen[0] += to - from;
        return loop.reduce(elements, chain, acc, from, to);
    }
}
