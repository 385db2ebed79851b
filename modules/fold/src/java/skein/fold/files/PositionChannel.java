// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;

/** An open file that is read by position. Any number of threads may use it at once. */
public interface PositionChannel extends Channel {
    /** Reads some bytes from {@code position} on into {@code bytes}, which has an array. Returns how many, 0 or less at the file's end. */
    int read(ByteBuffer bytes, long position) throws IOException;
}
