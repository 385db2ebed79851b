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
    /** Where garbage is collected, at least so much at a time, and half of what is taken. */
    private static final long LEAST_GARBAGE_BYTES = 32 << 20;

    private final long limitBytes;
    private final boolean collects;
    private final AtomicLong takenBytes = new AtomicLong();
    private final AtomicLong garbageBytes = new AtomicLong();

    private Budget(long limitBytes, boolean collects) {
        this.limitBytes = limitBytes;
        this.collects = collects;
    }

    /** A budget of {@code limitBytes}. */
    public Budget(long limitBytes) {
        this(limitBytes, false);
    }

    /** What this process's heap allows. */
    public static Budget ofHeap() {
        return new Budget(heapBytes(), false);
    }

    /**
     * As {@link #ofHeap}, in a process that has the heap for this alone. What the tables give back is then collected before it is
     * much: left to itself, a collector that minds speed lets the process grow as long as the heap may.
     */
    public static Budget ofOwnHeap() {
        return new Budget(heapBytes(), true);
    }

    private static long heapBytes() {
        return (long) (Runtime.getRuntime().maxMemory() * PART_OF_HEAP);
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

    /** Gives {@code bytes} back; nothing refers to them any more. */
    void release(long bytes) {
        takenBytes.addAndGet(-bytes);
        garbageBytes.addAndGet(bytes);
        if (collects && isMuchGarbage()) collect();
    }

    private boolean isMuchGarbage() {
        return garbageBytes.get() > Math.max(LEAST_GARBAGE_BYTES, takenBytes.get() >> 1);
    }

    /** Of several workers that see much garbage, the first collects it. */
    private synchronized void collect() {
        if (!isMuchGarbage()) return;
        garbageBytes.set(0);
        System.gc();
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
