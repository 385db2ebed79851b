// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;

/**
 * What the code of go blocks calls, beside the frame's own methods: to write primitive fields, of which Clojure's
 * {@code set!} makes objects on the way, and for what it would look up in classes with hundreds of methods.
 */
public final class FrameOps {
    /** What a part of a large body returns to have the frame go on in another part, at {@code frame.state}. */
    public static final Object JUMP = new Object();

    private FrameOps() {}

    /** {@code f}, which must be a function: a call checks that before its arguments are evaluated. */
    public static IFn function(Object f) {
        return (IFn) f;
    }

    /** The state in a loop's local, which is a long, as the int that a {@code case} wants. */
    public static int number(long state) {
        return (int) state;
    }

    /** Whether {@code state} is one of those before {@code limit}. */
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

    /** Empties the slots {@code from} to {@code to - 1} of those beyond the fields. */
    public static void clear(Frame frame, int from, int to) {
        java.util.Arrays.fill(frame.more, from, to, null);
    }

    public static void moreLongs(Frame frame, int index, long v) {
        frame.moreLongs[index] = v;
    }
}
