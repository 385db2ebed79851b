// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;

/** Longs at equal distances. */
public final class RangeSpan implements Span {
    private final long start;
    private final long distance;
    private final long size;

    /** The longs {@code start}, {@code start + distance} and so on, {@code size} of them. */
    public RangeSpan(long start, long distance, long size) {
        this.start = start;
        this.distance = distance;
        this.size = size;
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public Object reduce(IFn step, Object acc, long from, long to) {
        long x = start + from * distance;
        for (long i = from; i < to; i++, x += distance) {
            acc = step.invoke(acc, x);
            if (acc instanceof Reduced) return acc;
        }
        return acc;
    }
}
