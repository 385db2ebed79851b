// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import skein.fold.spi.Slice;

/**
 * The counts of one worker, and how those of two workers are merged.
 *
 * <p>This is the step and the combine of a fold over slices. An accumulator is used by one thread at a time.
 *
 * @param <A> the implementing class itself
 */
public abstract class Accumulator<A extends Accumulator<A>> {
    private long inputBytes;

    /**
     * Counts the lines of a slice. A last line without a line feed gets one.
     *
     * @throws ArithmeticException when a sum comes to more than 2^63 - 1
     * @throws TooManyKeys when the distinct keys would not fit into memory
     * @throws IOException when something that the accumulator writes can't be written
     */
    public final void add(Slice slice) throws IOException {
        if (slice.from == slice.to) return;
        inputBytes += slice.length();
        int to = slice.to;
        if (slice.bytes[to - 1] != '\n') slice.bytes[to++] = '\n';
        addLines(slice.bytes, slice.from, to, slice.file, slice.position);
    }

    /**
     * Counts the lines in {@code bytes[from, to)}, each of which ends with a line feed, of the file with number {@code file}.
     *
     * @param position where the lines begin in the file
     */
    protected abstract void addLines(byte[] bytes, int from, int to, int file, long position) throws IOException;

    /** Returns in how many parts another accumulator is merged, 1 or more; the largest should come first. */
    public abstract int parts();

    /** Adds one part, from 0 to {@link #parts} - 1, of the counts of {@code other}. Several parts may be merged at the same time. */
    public final void merge(A other, int part) {
        if (part == 0) inputBytes += ((Accumulator<A>) other).inputBytes;
        mergePart(other, part);
    }

    /** Like {@link #merge}, for the counts of the implementing class. */
    protected abstract void mergePart(A other, int part);

    /** Writes the counts, without those in a sink, so that {@link #readFrom} can read them in another process. */
    public final void writeTo(DataOutput out) throws IOException {
        out.writeLong(inputBytes);
        write(out);
    }

    /** Like {@link #writeTo}, for the counts of the implementing class. */
    protected abstract void write(DataOutput out) throws IOException;

    /** Reads the counts that an accumulator of the same plan has written. This one must have counted nothing. */
    public final void readFrom(DataInput in) throws IOException {
        inputBytes = in.readLong();
        read(in);
    }

    /** Like {@link #readFrom}, for the counts of the implementing class. */
    protected abstract void read(DataInput in) throws IOException;

    /** Returns how many bytes the slices had. */
    public final long inputBytes() {
        return inputBytes;
    }
}
