// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;

/**
 * What one worker makes of its slices, and how two workers' results become one.
 *
 * <p>This is the step and the combine of a parallel fold, and a {@link SliceSource} is its source. An accumulator is used by
 * one thread at a time.
 *
 * @param <A> the implementing class itself
 */
public interface Accumulator<A extends Accumulator<A>> {
    /**
     * Counts the lines of a slice.
     *
     * @throws ArithmeticException when a sum comes to more than 2^63 - 1
     * @throws TooManyKeys when the distinct keys would not fit into memory
     * @throws IOException when something that the accumulator writes can't be written
     */
    void add(Slice slice) throws IOException;

    /** In how many parts another accumulator is merged; the largest should come first. */
    int parts();

    /** Adds one part, from 0 to {@link #parts} - 1, of what {@code other} has counted. Parts may be merged at the same time. */
    void merge(A other, int part);
}
