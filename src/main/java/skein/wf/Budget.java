// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much memory the tables of all workers may take together. A table asks before it grows, while the old array and the
 * new one are both alive, so that the answer is an exception that says why and not an exhausted heap.
 */
public final class Budget {
    /** Of the heap: the generation of a serial collector that large arrays live in has two thirds. */
    private static final double PART_OF_HEAP = 0.6;

    private final long limitBytes;
    private final AtomicLong takenBytes = new AtomicLong();

    /** A budget of {@code limitBytes}. */
    public Budget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** What this process's heap allows. */
    public static Budget ofHeap() {
        return new Budget((long) (Runtime.getRuntime().maxMemory() * PART_OF_HEAP));
    }

    /** How many bytes are taken. */
    public long takenBytes() {
        return takenBytes.get();
    }

    /** Takes {@code bytes}. */
    void take(long bytes) {
        if (takenBytes.addAndGet(bytes) > limitBytes) {
            takenBytes.addAndGet(-bytes);
            throw new TooManyKeys(limitBytes);
        }
    }

    /** Gives {@code bytes} back. */
    void release(long bytes) {
        takenBytes.addAndGet(-bytes);
    }

    /** Takes what a {@code long[]} of {@code n} elements needs. */
    void takeLongs(long n) {
        take(n << 3);
    }

    /** Gives back what a {@code long[]} of {@code n} elements needed. */
    void releaseLongs(long n) {
        release(n << 3);
    }
}
