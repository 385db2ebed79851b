// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import skein.rt.Channel;
import skein.rt.Waiter;

/**
 * Keeps notes with blocks and records which threads wait. {@link Hooks#inspector} installs one. It then sees every block
 * that is made, and older ones after their next step. It does not see blocks and threads of simulations. Its methods must
 * return soon and must not throw.
 */
public interface Inspector {
    /** Returns the note for {@code frame}, which has just been made, or resumes and has no note yet. */
    Note note(Frame frame, Object conveyed);

    /** The thread of {@code waiter} is about to wait for {@code port}, or for several when that is a vector. */
    void waits(Waiter waiter, Object port);

    /** The thread of {@code waiter} continues. */
    void goesOn(Waiter waiter);

    /** The current thread runs code whose result {@code port} gets. */
    default void makes(Channel port) {}

    /** The code whose result {@code port} gets has ended. */
    default void made(Channel port) {}
}
