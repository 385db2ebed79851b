// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A stream (standard input, a pipe, a device) as slices: reading is one worker's turn at a time, what is done with
 * the lines is not.
 *
 * <p>A slice ends after the last line feed among the bytes read; what follows it is carried over to the next slice.
 */
final class StreamSlices implements InputSlices {
    private final ReentrantLock lock = new ReentrantLock();
    private final String input;
    private final int format;
    private final InputStream stream;
    private final int sliceBytes;
    private final Slice carry = new Slice();  // guarded by lock; its lines are the start of a line without its end
    private long position;                    // guarded by lock
    private boolean ended;                    // guarded by lock

    StreamSlices(Input input, int sliceBytes) throws ReadFailure {
        this.input = input.name();
        this.format = input.format();
        try {
            stream = input.stream().open();
        } catch (IOException e) {
            throw new ReadFailure(ReadFailure.Kind.UNREADABLE, this.input, 0, e);
        }
        this.sliceBytes = sliceBytes;
    }

    @Override
    public Answer tryNext(Slice slice) throws IOException {
        if (!lock.tryLock()) return Answer.BUSY;
        try {
            return next(slice) ? Answer.FILLED : Answer.NOTHING_LEFT;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean next(Slice slice) throws IOException {
        lock.lock();
        try {
            if (ended && carry.to == 0) return false;
            fill(slice);
            if (ended && carry.to == 0) stream.close();
            return true;
        } catch (OutOfMemoryError e) {
            throw new ReadFailure(ReadFailure.Kind.LINE_TOO_LONG, input, position, e);
        } finally {
            lock.unlock();
        }
    }

    private void fill(Slice slice) throws ReadFailure {
        int have = carry.to;
        slice.reserve(have + sliceBytes + 1, 0);
        System.arraycopy(carry.bytes, 0, slice.bytes, 0, have);
        slice.from = 0;
        slice.format = format;
        slice.inputBytes = 0;
        int end = 0;
        for (int room = have + sliceBytes; end == 0; room = grow(slice, have)) {
            int start = have;
            have = read(slice, have, room);
            end = ended ? have : afterLastLineFeed(slice.bytes, start, have);
            if (ended) break;
        }
        keep(slice, end, have);
        if (end > 0 && slice.bytes[end - 1] != '\n') slice.bytes[end++] = '\n';
        slice.to = end;
    }

    private int grow(Slice slice, int have) throws ReadFailure {
        int room = slice.grow(have + 1) - 1;
        if (room <= have) throw new ReadFailure(ReadFailure.Kind.LINE_TOO_LONG, input, position - have, null);
        return room;
    }

    /** Reads until there are {@code room} bytes or the stream ends; returns how many there are. */
    private int read(Slice slice, int have, int room) throws ReadFailure {
        while (have < room) {
            int read;
            try {
                read = stream.read(slice.bytes, have, room - have);
            } catch (IOException | RuntimeException e) {
                // What unpacks a damaged archive may trip over its own feet.
                throw new ReadFailure(ReadFailure.Kind.UNREADABLE, input, position, e);
            }
            if (read < 0) {
                ended = true;
                break;
            }
            have += read;
            position += read;
            slice.inputBytes += read;
        }
        return have;
    }

    private static int afterLastLineFeed(byte[] bytes, int from, int to) {
        while (to > from && bytes[to - 1] != '\n') to--;
        return to > from ? to : 0;
    }

    private void keep(Slice slice, int from, int to) {
        carry.reserve(to - from, 0);
        System.arraycopy(slice.bytes, from, carry.bytes, 0, to - from);
        carry.to = to - from;
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
