// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/** A compiled format of lines. Safe for use by any number of threads. */
public interface LogFormat {
    /** Returns a scanner for one thread. */
    Scanner scanner();

    /** Returns the names of the faults by the numbers that a scanner returns. The first fault is an empty line. */
    List<String> faults();
}
