// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.protocols;

/** A pending operation, under core.async's name. */
public interface Handler {
    /** Returns whether the operation can still complete. */
    Object active_QMARK_();

    /** Returns whether the operation may wait. */
    Object blockable_QMARK_();

    /** Returns the place in the order of locking, or 0 if the handler has no lock. */
    Object lock_id();

    /** Completes the operation. Returns the function of its result. */
    Object commit();
}
