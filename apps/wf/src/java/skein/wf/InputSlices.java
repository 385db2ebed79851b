// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;

/** The slices of one input, which may be such that only one worker at a time can get one. */
interface InputSlices extends SliceSource {
    /** What came of an attempt. */
    enum Answer {
        /** The slice was filled. */
        FILLED,
        /** Another worker is at it. */
        BUSY,
        /** There are no more. */
        NOTHING_LEFT
    }

    /** As {@link #next}, but does not wait for another worker. */
    Answer tryNext(Slice slice) throws IOException;
}
