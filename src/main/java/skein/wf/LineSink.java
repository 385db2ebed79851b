// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;

/** Writes lines of several workers to one stream, whole slices' worth at a time. Safe for use by any number of threads. */
public final class LineSink implements Closeable {
    private final OutputStream out;

    /** Writes to {@code out}. */
    public LineSink(OutputStream out) {
        this.out = out;
    }

    /** Writes the lines of {@code text} and empties it. */
    void write(Text text) throws IOException {
        if (text.length == 0) return;
        synchronized (this) {
            out.write(text.bytes, 0, text.length);
        }
        text.length = 0;
    }

    @Override
    public synchronized void close() throws IOException {
        out.close();
    }
}
