// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/** What lines look like, compiled; safe for use by any number of threads. */
public interface LogFormat {
    /** A scanner for one thread. */
    Scanner scanner();

    /** What can keep a line out of the format, by the number that a scanner gives; the first is an empty line. */
    List<String> faults();
}
