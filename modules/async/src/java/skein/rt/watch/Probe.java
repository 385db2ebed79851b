// SPDX-License-Identifier: Apache-2.0
package skein.rt.watch;

import skein.rt.Frame;
import skein.rt.Hooks;

/**
 * Sees what happens to frames. There is none unless somebody installs one by {@link Hooks#addProbe},
 * and then it costs one field read per event. Its methods are called on the thread where the event happens, must
 * return soon. What they throw does not reach the block; a probe that has thrown a hundred times is taken out.
 */
public interface Probe {
    /** A block was made. */
    default void spawned(Frame frame) {}

    /** The block runs, for the first time or again. */
    default void resumed(Frame frame) {}

    /** The block is about to wait at {@code state} for {@code port}, or for several when that is a vector. */
    default void parking(Frame frame, int state, Object port) {}

    /** The thread leaves the block's code, since the block waits or has ended: another thread may run it already. */
    default void suspended(Frame frame) {}

    /** The block ended with {@code value}. */
    default void finished(Frame frame, Object value) {}

    /** The block ended by an exception. */
    default void failed(Frame frame, Throwable thrown) {}

    /** The block blocks its thread while work waits behind it, so another thread is to serve its worker. */
    default void handedOff(Frame frame, Thread thread) {}
}
