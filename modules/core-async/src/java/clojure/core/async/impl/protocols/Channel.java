// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.protocols;

/** A port that can be closed, under core.async's name. */
public interface Channel {
    /** Closes the port. */
    Object close_BANG_();

    /** Returns whether the port has been closed. */
    Object closed_QMARK_();
}
