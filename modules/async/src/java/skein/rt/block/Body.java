// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

/** The code of one go block as the go compiler emits it: one instance serves many frames. */
public interface Body {
    /**
     * Runs the blocks of code from {@code frame.state} on.
     *
     * @return {@link Frame#PARKED} if a parking operation has to wait; the caller must then leave the frame
     *     alone. Otherwise the go block's value
     */
    Object run(Frame frame);

    /** Returns the basic block that handles an exception thrown in {@code state}, or -1. */
    int handler(int state);

    /**
     * Returns where the block parks: {@code {:file string, :sites {state [op line column form-string]}}}. A fifth element, true, says
     * that the operation is in a try.
     */
    Object sites();
}
