// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import clojure.lang.IFn;

/**
 * Methods for the code of go blocks, besides those of the frame. Some write primitive fields, because Clojure's
 * {@code set!} would box the values. The others are here because the same methods of Clojure are in classes with
 * hundreds of methods, in which a look-up takes long.
 */
public final class FrameOps {
    /** The value that a part of a large body returns if the frame continues in another part, at {@code frame.state}. */
    public static final Object JUMP = new Object();

    private FrameOps() {}

    /** Returns {@code f}, which must be a function: a call checks that before its arguments are evaluated. */
    public static IFn function(Object f) {
        return (IFn) f;
    }

    /** Returns the state, which is a long in a loop's local, as the int that a {@code case} needs. */
    public static int number(long state) {
        return (int) state;
    }

    /** Returns whether {@code state} is one of those before {@code limit}. */
    public static boolean below(int state, int limit) {
        return state < limit;
    }

    public static void state(Frame frame, int state) {
        frame.state = state;
    }

    public static void l0(Frame frame, long v) {
        frame.l0 = v;
    }

    public static void l1(Frame frame, long v) {
        frame.l1 = v;
    }

    public static void more(Frame frame, int index, Object v) {
        frame.more[index] = v;
    }

    /** Clears the slots {@code from} to {@code to - 1} of {@code more}. */
    public static void clear(Frame frame, int from, int to) {
        java.util.Arrays.fill(frame.more, from, to, null);
    }

    public static void moreLongs(Frame frame, int index, long v) {
        frame.moreLongs[index] = v;
    }
}
