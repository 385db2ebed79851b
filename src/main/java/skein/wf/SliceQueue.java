// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Several inputs, one after the other, each split on its own. An input is opened when the one before is used up.
 *
 * <p>An input is the path of a file, or {@code -} for standard input. Anything that is not a regular file (a pipe, a device)
 * is read as a stream.
 */
public final class SliceQueue implements SliceSource {
    /** The default size of a slice: small enough to stay in a core's cache while it is copied and read. */
    public static final int DEFAULT_SLICE_BYTES = 1 << 18;

    private final List<String> inputs;
    private final int sliceBytes;
    private final AtomicLong inputBytes = new AtomicLong();
    private final List<SliceSource> opened = new ArrayList<>();  // guarded by this
    private volatile SliceSource current;                         // written under this; null: nothing left

    /**
     * @param inputs paths, or {@code -}
     * @param sliceBytes how many bytes to a slice, 1 or more
     */
    public SliceQueue(List<String> inputs, int sliceBytes) throws ReadFailure {
        if (sliceBytes < 1) throw new IllegalArgumentException("sliceBytes is " + sliceBytes + ", but must be 1 or more");
        this.inputs = List.copyOf(inputs);
        this.sliceBytes = sliceBytes;
        advance(null);
    }

    /** How many bytes of the inputs the slices handed out so far stand for. */
    public long inputBytes() {
        return inputBytes.get();
    }

    @Override
    public boolean next(Slice slice) throws IOException {
        for (SliceSource source; (source = current) != null; advance(source)) {
            if (source.next(slice)) {
                inputBytes.addAndGet(slice.inputBytes);
                return true;
            }
        }
        return false;
    }

    /** Opens the next input, unless another worker has done so since {@code exhausted} was current. */
    private synchronized void advance(SliceSource exhausted) throws ReadFailure {
        if (current != exhausted) return;
        int n = opened.size();
        if (n == inputs.size()) {
            current = null;
        } else {
            SliceSource source = open(inputs.get(n));
            opened.add(source);
            current = source;
        }
    }

    private SliceSource open(String input) throws ReadFailure {
        try {
            if (input.equals("-")) return new StreamSlices(input, new FileInputStream(FileDescriptor.in), sliceBytes);
            Path path = Path.of(input);
            return Files.isRegularFile(path)
                ? new FileSlices(input, path, sliceBytes)
                : new StreamSlices(input, Files.newInputStream(path), sliceBytes);
        } catch (ReadFailure e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            throw new ReadFailure(ReadFailure.Kind.UNREADABLE, input, 0, e);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        for (SliceSource source : opened) source.close();
    }
}
