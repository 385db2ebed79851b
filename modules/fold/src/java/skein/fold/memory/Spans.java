// SPDX-License-Identifier: Apache-2.0
package skein.fold.memory;

import clojure.lang.IFn;
import clojure.lang.PersistentVector;
import clojure.lang.Reduced;
import clojure.lang.Util;
import java.util.function.LongFunction;
import skein.fold.spi.Span;

/** Sources with access by index: vectors, arrays, ranges. */
public final class Spans {
    /** How many elements are looked at to choose the kind of loop. */
    private static final int SAMPLE = 16;
    /** A multiplier that scatters small numbers: 2^64 divided by the golden ratio. */
    private static final long SCATTER = 0x9E3779B97F4A7C15L;
    /** How many objects a loop for numbers gets at a time. From the first other object on, it leaves the rest of them to the chain. */
    private static final int PIECE = 128;

    private Spans() {}

    /** Returns a source of {@code size} elements; {@code elementAt} returns the element at an index. */
    public static Span ofIndexed(long size, LongFunction<?> elementAt) {
        return new Indexed(size, elementAt);
    }

    /** Returns the elements of {@code vector} from {@code start} (inclusive) to {@code end} (exclusive). */
    public static Span ofVector(PersistentVector vector, int start, int end) {
        return new Vector(vector, start, end - start);
    }

    /** Returns the elements of {@code array} from {@code from} (inclusive) to {@code to} (exclusive). */
    public static Span ofObjects(Object[] array, int from, int to) {
        return new Objects(array, from, to - from);
    }

    /** Returns the elements of an array of any type, boxed as Clojure does, or null if {@code array} is none. */
    public static Span ofArray(Object array) {
        return switch (array) {
            case Object[] a -> ofObjects(a, 0, a.length);
            case long[] a -> new Numbers("longs", a, a.length, i -> a[(int) i]);
            case int[] a -> new Numbers("ints", a, a.length, i -> a[(int) i]);
            case double[] a -> new Numbers("doubles", a, a.length, i -> a[(int) i]);
            case float[] a -> ofIndexed(a.length, i -> a[(int) i]);
            case byte[] a -> ofIndexed(a.length, i -> a[(int) i]);
            case short[] a -> ofIndexed(a.length, i -> a[(int) i]);
            case char[] a -> ofIndexed(a.length, i -> a[(int) i]);
            case boolean[] a -> ofIndexed(a.length, i -> a[(int) i]);
            default -> null;
        };
    }

    /** Returns the longs {@code start}, {@code start + distance} and so on, {@code size} of them. */
    public static Span ofRange(long start, long distance, long size) {
        return new Numbers("range", new long[] {start, distance}, size, i -> start + i * distance);
    }

    /** Returns the kind of loop for objects: one for numbers if a sample has only Longs, or only Doubles. It handles others too. */
    private static String kindOf(long size, LongFunction<?> elementAt) {
        Class<?> type = Util.classOf(elementAt.apply(0));
        for (int i = 1; i < SAMPLE; i++)
            if (Util.classOf(elementAt.apply((i * SCATTER >>> 1) % size)) != type) return "objects";
        return type == Long.class ? "boxed-longs" : type == Double.class ? "boxed-doubles" : "objects";
    }

    /** The elements that {@code elementAt} returns. */
    private record Indexed(long size, LongFunction<?> elementAt) implements Span {
        @Override
        public Object reduce(IFn step, Object acc, long from, long to) {
            for (long i = from; i < to; i++) {
                acc = step.invoke(acc, elementAt.apply(i));
                if (acc instanceof Reduced) return acc;
            }
            return acc;
        }
    }

    /** Numbers, unboxed for a step that accepts that, otherwise boxed. */
    private record Numbers(String kind, Object elements, long size, LongFunction<?> boxed) implements Fused.Fusible {
        @Override
        public Object reduce(IFn step, Object acc, long from, long to) {
            Fused fused = step instanceof Fused f ? f : null;
            for (long i = from; i < to; i++) {
                if (fused != null && fused.takes(acc)) return fused.reduce(elements, acc, i, to);
                acc = step.invoke(acc, boxed.apply(i));
                if (acc instanceof Reduced) return acc;
            }
            return acc;
        }
    }

    /** The elements of an array from {@code start} on. */
    private record Objects(Object[] array, int start, long size) implements Fused.Fusible {
        @Override
        public String kind() {
            return kindOf(size, i -> array[start + (int) i]);
        }

        @Override
        public Object reduce(IFn step, Object acc, long from, long to) {
            return reduce(step, acc, array, start + (int) from, start + (int) to);
        }

        static Object reduce(IFn step, Object acc, Object[] array, int from, int to) {
            for (int i = from; i < to && !(acc instanceof Reduced); ) {
                if (step instanceof Fused fused) {
                    int end = Math.min(i + PIECE, to);
                    acc = fused.takes(acc)
                            ? fused.reduce(array, acc, i, end)
                            : reduce(fused.chain[0], acc, array, i, end);
                    i = end;
                } else {
                    acc = step.invoke(acc, array[i++]);
                }
            }
            return acc;
        }
    }

    /** A part of a persistent vector, leaf by leaf. */
    private record Vector(PersistentVector vector, int start, long size) implements Fused.Fusible {
        private static final int LEAF_MASK = 31;

        @Override
        public String kind() {
            return kindOf(size, i -> vector.nth(start + (int) i));
        }

        @Override
        public Object reduce(IFn step, Object acc, long from, long to) {
            int end = start + (int) to;
            for (int i = start + (int) from; i < end; ) {
                Object[] leaf = vector.arrayFor(i);
                int first = i & LEAF_MASK;
                int last = Math.min(leaf.length, first + end - i);
                acc = Objects.reduce(step, acc, leaf, first, last);
                if (acc instanceof Reduced) return acc;
                i += last - first;
            }
            return acc;
        }
    }
}
