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
    /** The kind of array that holds the elements of a loop. */
    public enum Kind {
        /** An {@code Object[]}. */
        OBJECTS,
        /** A {@code long[]}. */
        LONGS,
        /** An {@code int[]}. */
        INTS,
        /** A {@code double[]}. */
        DOUBLES,
        /** A {@code long[]} of two: the first element and the distance from one to the next. */
        RANGE
    }

    /** The loop. */
    public interface Loop {
        /** Reduces the elements from one index to another; as {@link Span#reduce}. */
        Object reduce(Object elements, Object acc, long from, long to);
    }

    /** A span whose elements a loop can go over. */
    interface Fusible extends Span {
        Kind kind();
    }

    /** With fewer elements, looking for a loop costs more than it saves. */
    private static final int MIN_SIZE = 10_000;

    private static volatile IFn maker;

    private final IFn chained;
    private final Loop loop;
    private final Class<?> accType;

    /**
     * @param chained the chain as a function of one element
     * @param accType the class of the loop's accumulators, or null
     */
    public Fused(IFn chained, Loop loop, Class<?> accType) {
        this.chained = chained;
        this.loop = loop;
        this.accType = accType;
    }

    /** Sets the function of a kind, a number of elements, stages, a step and their chain that returns a Fused, or nil. */
    public static void setMaker(IFn f) {
        maker = f;
    }

    /** Returns {@code chain}, made of {@code stages} and {@code step}, as a step for {@code span}: fused if that is worthwhile. */
    public static IFn stepOf(Span span, IFn[] stages, IFn step, IFn[] chain) {
        if (!(span instanceof Fusible fusible) || span.size() < MIN_SIZE || maker == null) return chain[0];
        IFn fused = (IFn) maker.invoke(fusible.kind(), span.size(), stages, step, chain);
        return fused == null ? chain[0] : fused;
    }

    @Override
    public Object invoke(Object acc) {
        return chained.invoke(acc);
    }

    @Override
    public Object invoke(Object acc, Object x) {
        return chained.invoke(acc, x);
    }

    /** Returns whether the loop accepts {@code acc}. A sum of doubles, for example, begins with a long. */
    boolean takes(Object acc) {
        return accType == null || accType.isInstance(acc);
    }

    Object reduce(Object elements, Object acc, long from, long to) {
        return loop.reduce(elements, acc, from, to);
    }
}
