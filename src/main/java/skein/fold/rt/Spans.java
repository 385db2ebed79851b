// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.util.List;

/** Spans of what gives its elements by index. */
public final class Spans {
    private Spans() { }

    /** The elements of an array of any type, boxed as Clojure does, or null if {@code array} is none. */
    public static Span ofArray(Object array) {
        return switch (array) {
            case Object[] a -> new ArraySpan(a, a.length);
            case long[] a -> new IndexedSpan(a.length, i -> a[i]);
            case double[] a -> new IndexedSpan(a.length, i -> a[i]);
            case int[] a -> new IndexedSpan(a.length, i -> a[i]);
            case float[] a -> new IndexedSpan(a.length, i -> a[i]);
            case byte[] a -> new IndexedSpan(a.length, i -> a[i]);
            case short[] a -> new IndexedSpan(a.length, i -> a[i]);
            case char[] a -> new IndexedSpan(a.length, i -> a[i]);
            case boolean[] a -> new IndexedSpan(a.length, i -> a[i]);
            default -> null;
        };
    }

    /** The elements of a list with random access. */
    public static Span ofList(List<?> list) {
        return new IndexedSpan(list.size(), list::get);
    }

    /** The characters of {@code text}. */
    public static Span ofText(CharSequence text) {
        return new IndexedSpan(text.length(), text::charAt);
    }
}
