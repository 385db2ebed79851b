// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.Counted;

/**
 * Where a channel keeps values that were put and not yet taken. Every method is called under the lock
 * of the one channel that owns the buffer, so an implementation needs no synchronisation of its own.
 * {@code count()} is the number of values that can be removed now.
 */
public interface Buffer extends Counted {

    /** Whether a put has to wait. A buffer that is never full makes puts complete at once. */
    boolean full();

    /** Removes and returns the next value. Only called when {@code count()} is positive. */
    Object remove();

    /** Keeps {@code value}, or drops it or another where that is the buffer's policy. */
    void add(Object value);

    /** Told once that the channel has closed. */
    default void close() {}

    /** The greatest number of values it is meant to keep, or -1 where it has no such number. */
    default int capacity() {
        return -1;
    }
}
