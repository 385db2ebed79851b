// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.protocols;

/** Where a channel keeps values, under core.async's name. */
public interface Buffer {
    /** Returns whether a put has to wait. */
    Object full_QMARK_();

    /** Removes and returns the next value. */
    Object remove_BANG_();

    /** Adds a value, or drops it. Returns the buffer. */
    Object add_BANG__STAR_(Object value);

    /** Called when the channel has closed. */
    Object close_buf_BANG_();
}
