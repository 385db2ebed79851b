// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;

/** An input could not be read to its end; says which input and what kind of trouble. */
public final class ReadFailure extends IOException {
    /** Kinds of trouble. */
    public enum Kind {
        /** The input can't be opened or read; the cause says why. */
        UNREADABLE,
        /** The file became shorter while it was read. */
        TRUNCATED,
        /** A line is longer than an array or the heap can hold. */
        LINE_TOO_LONG
    }

    private static final long serialVersionUID = 1L;

    /** What kind of trouble. */
    public final Kind kind;
    /** The input's name, as the caller gave it. */
    public final String input;
    /** Where in the input, in bytes from its start. */
    public final long position;

    ReadFailure(Kind kind, String input, long position, Throwable cause) {
        super(input + ": " + kind + " at byte " + position, cause);
        this.kind = kind;
        this.input = input;
        this.position = position;
    }
}
