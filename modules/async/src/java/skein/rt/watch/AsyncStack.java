// SPDX-License-Identifier: Apache-2.0
package skein.rt.watch;

import java.util.ArrayList;
import java.util.List;

/**
 * The suppressed exception that {@code -Dskein.async-trace=suppressed} adds to an exception that ended a block. Its stack
 * trace has the code that waited for the block, and the code that spawned it. It is never thrown.
 */
public final class AsyncStack extends Exception {
    private static final long serialVersionUID = 1;

    AsyncStack(StackTraceElement[] elements) {
        super("the code that waited for the block that failed", null, false, true);
        setStackTrace(elements);
    }

    @Override
    public Throwable fillInStackTrace() {
        return this; // the stack on which it is made is of no interest
    }

    List<StackTraceElement> frames() {
        return new ArrayList<>(List.of(getStackTrace()));
    }
}
