// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.io.IOException;
import java.io.InputStream;

/** A file, a pipe or an open stream, as the sources need it; {@code skein.fold.input} makes it. */
public interface InputFile {
    /** Returns how many unpacked bytes are skipped at the beginning. */
    long start();

    /** Returns how many bytes were there to be read when this object was made; compressed ones if it is compressed. */
    long length();

    /** Returns whether the file can only be read from its beginning to its end: it is compressed, a pipe or a device. */
    boolean isSerial();

    /** Opens the unpacked contents. The caller closes the stream. May wait for the first bytes of a pipe. */
    InputStream open() throws IOException;

    /** Opens the file for reads by position. */
    PositionChannel channel() throws IOException;

    /**
     * Throws the error that {@code cause} means when it was thrown at {@code position}. An OutOfMemoryError means that a record is too long,
     * an EOFException that the file ended too early. An interrupt becomes an InterruptedException, and the thread's interrupt is cleared.
     */
    RuntimeException fail(Throwable cause, long position);
}
