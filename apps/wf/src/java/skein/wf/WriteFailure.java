// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;

/** Thrown when a file can't be written; has its name. */
public final class WriteFailure extends IOException {
    private static final long serialVersionUID = 1L;

    /** The file's name, as the caller gave it. */
    public final String output;

    WriteFailure(String output, IOException cause) {
        super(output + ": " + cause.getMessage(), cause);
        this.output = output;
    }
}
