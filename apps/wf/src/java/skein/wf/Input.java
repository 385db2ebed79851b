// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;
import java.io.InputStream;

/**
 * Something to read.
 *
 * @param name what it is called in messages; the path of a file
 * @param format the number of its format
 * @param stream opens it, when it is read from its beginning to its end: compressed, a pipe, a device; null for a regular file,
 *     which is read by position
 * @param limit of a regular file, how many bytes are read at most
 */
public record Input(String name, int format, Opener stream, long limit) {
    /** Opens a stream. */
    @FunctionalInterface
    public interface Opener {
        /** The stream; whoever called closes it. */
        InputStream open() throws IOException;
    }
}
