// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.Closeable;
import java.io.IOException;

/** Where slices come from. Every line of the input is in exactly one slice. Safe for use by any number of threads. */
public interface SliceSource extends Closeable {
    /**
     * Fills {@code slice} with the next lines, perhaps none.
     *
     * @return false when nothing is left; the slice is then undefined
     * @throws ReadFailure when the input can't be read to its end
     * @throws IOException never another kind, from this package's own sources
     */
    boolean next(Slice slice) throws IOException;
}
