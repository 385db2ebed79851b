// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.Util;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * What a fold does between two blocks. A virtual thread that computes keeps its carrier until it parks; to yield is not enough, since a
 * carrier looks for other work only when it finds none where it found the last. So a fold on a virtual thread parks now and then. If there
 * are more such folds than carriers, they park so long that carriers run out of work.
 */
final class Pauses {
    /** How long a virtual thread may keep its carrier; to come back to it takes some 20 us. */
    private static final long SLICE_NANOS = 1_000_000;
    /** How many folds are on virtual threads and have parked. */
    private static final AtomicInteger STAYING = new AtomicInteger();

    private long since; // when this thread got its carrier
    private boolean stays;

    Pauses(long now) {
        since = now;
    }

    /** Throws an InterruptedException if somebody has interrupted the thread. Leaves the carrier to others if it is time. */
    void pause() {
        if (Thread.interrupted()) throw Util.sneakyThrow(interruption());
        if (!Thread.currentThread().isVirtual() || System.nanoTime() - since < SLICE_NANOS) return;
        int folds = stays ? STAYING.get() : STAYING.incrementAndGet();
        stays = true;
        // Of more folds than carriers, so long that they leave a third of the carriers' time.
        long turns = 3 * SLICE_NANOS * folds / (2 * Crew.PROCESSORS);
        LockSupport.parkNanos(this, folds <= Crew.PROCESSORS ? 1 : turns - SLICE_NANOS);
        since = System.nanoTime();
    }

    /** Says that the fold is over. */
    void end() {
        if (stays) STAYING.decrementAndGet();
        stays = false;
    }

    static InterruptedException interruption() {
        return new InterruptedException("interrupted while folding");
    }
}
