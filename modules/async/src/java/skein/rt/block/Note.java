// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

/**
 * The note that an {@link Inspector} keeps with a block. Only the frame refers to it, so it may hold the same objects as the
 * frame, and is garbage with the frame. Its methods are called on the thread that runs the block. They must return soon and
 * must not throw.
 */
public abstract class Note {
    /** The value that the conveyor has captured for the block, or null. */
    public final Object conveyed;

    protected Note(Object conveyed) {
        this.conveyed = conveyed;
    }

    /**
     * The block is about to do an operation, which need not wait.
     *
     * @param state the place in its code
     * @param op one of {@link skein.rt.World}'s TAKE, PUT and ALTS
     * @param port the port, or for an alts the ports
     */
    public abstract void parking(Frame frame, int state, int op, Object port);

    /** The operation of the last {@link #parking} was refused at once: the channel is closed. */
    public abstract void refused();

    /** The block runs, for the first time or again. */
    public abstract void resumed(Frame frame);

    /** The block ends. */
    public abstract void ended();
}
