// SPDX-License-Identifier: Apache-2.0
package skein.rt.watch;

import skein.rt.Frame;
import skein.rt.Hooks;
import skein.rt.Waiter;

/**
 * Keeps notes with blocks and knows which threads wait. There is none unless one is installed by {@link Hooks#inspector};
 * then it sees every block that is made, and older ones from their next step on. Blocks and threads of simulations are not
 * shown to it. Its methods must return soon and must not throw.
 */
public interface Inspector {
    /** Returns the note for {@code frame} to carry: it has just been made, or goes on and has none yet. */
    Note note(Frame frame, Object conveyed);

    /** The thread of {@code waiter} is about to wait for {@code port}, or for several when that is a vector. */
    void waits(Waiter waiter, Object port);

    /** The thread of {@code waiter} goes on. */
    void goesOn(Waiter waiter);
}
