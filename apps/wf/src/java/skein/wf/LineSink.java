// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes lines of several workers to one file, the lines of a slice at a time. Safe for use by any number of threads.
 *
 * <p>The file stays as it is until {@link #start}, so a refused command destroys nothing.
 */
public final class LineSink implements Closeable {
    private final String path;
    private OutputStream out; // guarded by this; null before start

    /** Makes a sink for the file {@code path}. */
    public LineSink(String path) {
        this.path = path;
    }

    /**
     * Empties the file.
     *
     * @throws WriteFailure when it can't be written
     */
    public synchronized void start() throws WriteFailure {
        close();
        try {
            out = new FileOutputStream(path);
        } catch (IOException e) {
            throw new WriteFailure(path, e);
        }
    }

    /** Writes the lines of {@code text} and empties it. */
    void write(Text text) throws WriteFailure {
        if (text.length == 0) return;
        synchronized (this) {
            if (out == null) start();
            try {
                out.write(text.bytes, 0, text.length);
            } catch (IOException e) {
                throw new WriteFailure(path, e);
            }
        }
        text.length = 0;
    }

    @Override
    public synchronized void close() throws WriteFailure {
        OutputStream open = out;
        out = null;
        try {
            if (open != null) open.close();
        } catch (IOException e) {
            throw new WriteFailure(path, e);
        }
    }
}
