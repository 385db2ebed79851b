// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/** What lines look like, compiled; safe for use by any number of threads. */
public interface LogFormat {
    /** A scanner for one thread. */
    Scanner scanner();

    /** What can keep a line out of the format, by the number that a scanner gives; the first is an empty line. */
    List<String> faults();

    /** Returns whether the log may have lines in several parts, for {@link PartialLines}; the last fault is that of a line without its end. */
    default boolean mayBeCut() {
        return false;
    }
}
