// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** The code of one go block as the go compiler emits it: one instance serves many frames. */
public interface Body {
    /**
     * Runs the blocks of code from {@code frame.state} on.
     *
     * @return {@link Frame#PARKED} when a parking operation has to wait, in which case the frame must not be
     *     touched any more; else the go block's value
     */
    Object run(Frame frame);

    /** The block at which to go on when an exception is thrown in {@code state}, or -1. */
    int handler(int state);

    /** Where the block parks: {@code {:file string, :sites {state [op line column form-string]}}}. */
    Object sites();
}
