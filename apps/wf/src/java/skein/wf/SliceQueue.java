// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Several inputs, each split on its own. All workers take their slices from the first input that is not used up; one that finds it
 * busy, because it is a stream that another worker reads, goes on to the next, and opens it if need be. So one file
 * is shared by all workers, and compressed files are read as many at a time as there are workers.
 */
public final class SliceQueue implements SliceSource {
    /** The default size of a slice: small enough to stay in a core's cache while it is copied and read. */
    public static final int DEFAULT_SLICE_BYTES = 1 << 18;

    private final List<Input> inputs;
    private final int sliceBytes;
    private final AtomicLong inputBytes = new AtomicLong();
    private final List<InputSlices> opened = new ArrayList<>();  // guarded by this
    private volatile List<InputSlices> open = List.of();         // written under this; those not used up, in order

    /**
     * @param inputs what to read
     * @param sliceBytes how many bytes to a slice, 1 or more
     */
    public SliceQueue(List<Input> inputs, int sliceBytes) throws ReadFailure {
        if (sliceBytes < 1) throw new IllegalArgumentException("sliceBytes is " + sliceBytes + ", but must be 1 or more");
        this.inputs = List.copyOf(inputs);
        this.sliceBytes = sliceBytes;
        openNext(open);
    }

    /** How many bytes of the inputs, unpacked, the slices handed out so far stand for. */
    public long inputBytes() {
        return inputBytes.get();
    }

    @Override
    public boolean next(Slice slice) throws IOException {
        for (;;) {
            List<InputSlices> sources = open;
            InputSlices busy = null;
            for (InputSlices source : sources) {
                switch (source.tryNext(slice)) {
                    case FILLED -> {
                        return filled(slice);
                    }
                    case BUSY -> busy = busy == null ? source : busy;
                    case NOTHING_LEFT -> remove(source);
                }
            }
            if (openNext(sources)) continue;
            if (busy == null) return false;
            if (busy.next(slice)) return filled(slice);
            remove(busy);
        }
    }

    private boolean filled(Slice slice) {
        inputBytes.addAndGet(slice.inputBytes);
        return true;
    }

    /** Not closed here: other workers may still read its last slices. */
    private synchronized void remove(InputSlices source) {
        List<InputSlices> rest = new ArrayList<>(open);
        rest.remove(source);
        open = List.copyOf(rest);
    }

    /** Opens the next input, unless another worker has done so since {@code seen} was all; false when there is none left. */
    private synchronized boolean openNext(List<InputSlices> seen) throws ReadFailure {
        if (!seen.containsAll(open)) return true;
        if (opened.size() == inputs.size()) return false;
        Input input = inputs.get(opened.size());
        InputSlices source = input.stream() == null
            ? new FileSlices(input, sliceBytes)
            : new StreamSlices(input, sliceBytes);
        opened.add(source);
        List<InputSlices> more = new ArrayList<>(open);
        more.add(source);
        open = List.copyOf(more);
        return true;
    }

    @Override
    public synchronized void close() throws IOException {
        for (InputSlices source : opened) source.close();
    }
}
