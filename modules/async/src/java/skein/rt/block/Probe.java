// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

/**
 * Receives the events of frames. {@link Hooks#addProbe} installs one; without a probe an event costs one field read. The
 * methods are called on the thread on which the event happens, and must return soon. Their exceptions do not reach the
 * block. A probe that has thrown a hundred times is removed.
 */
public interface Probe {
    /** A block was made. */
    default void spawned(Frame frame) {}

    /** The block runs, for the first time or again. */
    default void resumed(Frame frame) {}

    /** The block is about to wait at {@code state} for {@code port}, or for several when that is a vector. */
    default void parking(Frame frame, int state, Object port) {}

    /** The thread leaves the block's code, because the block waits or has ended. Another thread may run it already. */
    default void suspended(Frame frame) {}

    /** The block ended with {@code value}. */
    default void finished(Frame frame, Object value) {}

    /** The block ended by an exception. */
    default void failed(Frame frame, Throwable thrown) {}

    /** The block blocks its thread while other work waits, so another thread will serve its worker. */
    default void handedOff(Frame frame, Thread thread) {}
}
