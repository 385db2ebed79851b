// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.Counted;

/**
 * Holds the values of a channel that were put and not yet taken. Every method is called under the lock
 * of the one channel that owns the buffer, so an implementation needs no synchronisation of its own.
 * {@code count()} is the number of values that can be removed now.
 */
public interface Buffer extends Counted {

    /** Returns whether a put has to wait. A buffer that is never full makes puts complete at once. */
    boolean full();

    /** Removes and returns the next value. Only called when {@code count()} is positive. */
    Object remove();

    /** Adds {@code value}, or drops it or another value if that is the buffer's policy. */
    void add(Object value);

    /** Called once, when the channel has closed. */
    default void close() {}

    /** Returns the number of values at which the buffer is full, or -1 if it has no such number. */
    default int capacity() {
        return -1;
    }
}
