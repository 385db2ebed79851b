// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import skein.rt.Channel;
import skein.rt.Operation;
import skein.rt.Waiter;

/**
 * Hears what happens to blocks, and to threads that wait. {@link Hooks#add} installs one; without any, an event costs one
 * null check. Each method is called on the thread on which the event happens, and must return soon. Its exceptions do not
 * reach the block, and an observer that has thrown a hundred times is removed.
 *
 * <p>An observer may keep an object with each block, see {@link Frame#keep}.
 */
public interface Observer {
    /** A block has been made, on the thread that spawns it. */
    default void spawned(Frame block) {}

    /** The block runs, for the first time or again. */
    default void resumed(Frame block) {}

    /**
     * The block is about to do an operation, which need not wait, at its {@link Frame#state}.
     *
     * @param port the port, or for an alts the ports
     */
    default void parking(Frame block, Operation operation, Object port) {}

    /** The operation of the last {@link #parking} found its channel closed. */
    default void refused(Frame block) {}

    /** The thread leaves the block's code. Another thread may run it already, so nothing of it may be read. */
    default void suspended(Frame block) {}

    /** The block ended with {@code value}, or by {@code thrown}, which is kept by now. Its port is still open. */
    default void ended(Frame block, Object value, Throwable thrown) {}

    /** The block holds up its worker on {@code thread} while other work waits, so another thread serves the worker. */
    default void handedOff(Frame block, Thread thread) {}

    /** The thread of {@code waiter} is about to wait for {@code port}, or for several when that is a vector. */
    default void waits(Waiter waiter, Object port) {}

    /** The thread of {@code waiter} continues. */
    default void goesOn(Waiter waiter) {}

    /** The current thread runs code whose result {@code port} gets. */
    default void makes(Channel port) {}

    /** The code whose result {@code port} gets has ended. */
    default void made(Channel port) {}
}
