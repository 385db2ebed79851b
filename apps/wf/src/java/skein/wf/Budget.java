// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that the tables of all workers may take together. A table asks before it grows, for the time when both its old array
 * and its new one are alive. If the memory is used up, the table gets an exception that says why, before the heap is exhausted.
 */
public final class Budget {
    /** The share of the heap. Large arrays are in the old generation, which has two thirds with the serial collector. */
    private static final double PART_OF_HEAP = 0.6;
    /** Garbage is collected when it exceeds this size and half of the bytes that are taken. */
    private static final long LEAST_GARBAGE_BYTES = 32 << 20;

    private final long limitBytes;
    private final boolean collects;
    private final AtomicLong takenBytes = new AtomicLong();
    private final AtomicLong garbageBytes = new AtomicLong();

    private Budget(long limitBytes, boolean collects) {
        this.limitBytes = limitBytes;
        this.collects = collects;
    }

    /** Makes a budget of {@code limitBytes}. */
    public Budget(long limitBytes) {
        this(limitBytes, false);
    }

    /** Returns a budget for this process's heap. */
    public static Budget ofHeap() {
        return new Budget(heapBytes(), false);
    }

    /**
     * Like {@link #ofHeap}, in a process that uses its heap for nothing else. Memory that tables give back is then collected early.
     * Otherwise a collector that is tuned for speed lets the process grow up to the limit of the heap.
     */
    public static Budget ofOwnHeap() {
        return new Budget(heapBytes(), true);
    }

    private static long heapBytes() {
        return (long) (Runtime.getRuntime().maxMemory() * PART_OF_HEAP);
    }

    /** Returns how many bytes are taken. */
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

    /** Gives {@code bytes} back; nothing refers to them any more. */
    void release(long bytes) {
        takenBytes.addAndGet(-bytes);
        garbageBytes.addAndGet(bytes);
        if (collects && isMuchGarbage()) collect();
    }

    private boolean isMuchGarbage() {
        return garbageBytes.get() > Math.max(LEAST_GARBAGE_BYTES, takenBytes.get() >> 1);
    }

    /** If several workers see much garbage, the first one collects it. */
    private synchronized void collect() {
        if (!isMuchGarbage()) return;
        garbageBytes.set(0);
        System.gc();
    }

    /** Takes the bytes of a {@code long[]} of {@code n} elements. */
    void takeLongs(long n) {
        take(n << 3);
    }

    /** Gives back the bytes of a {@code long[]} of {@code n} elements. */
    void releaseLongs(long n) {
        release(n << 3);
    }
}
