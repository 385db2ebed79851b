// SPDX-License-Identifier: Apache-2.0
package skein.fold.spi;

import clojure.lang.IFn;

/**
 * A source whose parts can be reduced separately: a vector, an array, a file. Positions count the units that suit the source
 * (elements, bytes); each element begins at a position, but not every position begins one. Any number of threads may use a span.
 */
public interface Span extends AutoCloseable {
    /** Returns how many units there are. Always returns the same number. */
    long size();

    /**
     * Feeds the elements that begin at positions {@code from} (inclusive) to {@code to} (exclusive), in order, to {@code step}.
     *
     * @return the result of the last step, or {@code acc} if there was no element. A {@code Reduced} ends the reduction and is
     *     returned unchanged
     */
    Object reduce(IFn step, Object acc, long from, long to);

    /** Returns the name of the units: elements, bytes. */
    default String unit() {
        return "elements";
    }

    /** Returns the fewest units worth reducing at a time. */
    default long minBlock() {
        return 1;
    }

    /** Returns whether even the first block may take long, so that helpers should be asked for at once. */
    default boolean isCoarse() {
        return false;
    }

    /** Frees what the span holds. Called once, when the fold is over. */
    @Override
    default void close() {}
}
