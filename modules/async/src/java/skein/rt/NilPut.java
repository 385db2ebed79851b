// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import skein.base.Assertion;
import skein.base.IllegalArgument;

/** The errors for a put of nil. Their classes and their first lines are core.async's. */
public final class NilPut {
    private static final String REMEDY = "\nA take returns nil when the channel is closed, so nil can't be a value."
            + " Put a value such as ::none, or close the channel. [:skein/nil-put]";

    private NilPut() {}

    /** Returns the error of an operation that puts nil. */
    public static IllegalArgumentException refused() {
        return Refusal.fromCaller(new IllegalArgument("Can't put nil on channel" + REMEDY, Refusal.data("nil-put")));
    }

    /** Returns the error of adding nil to a buffer. */
    public static AssertionError refusedInBuffer() {
        return Refusal.fromCaller(
                new Assertion("Assert failed: a buffer can't hold nil\n(some? val)" + REMEDY, Refusal.data("nil-put")));
    }

    /** Returns the error of an alts of which one operation puts nil. */
    static AssertionError refusedInAlts() {
        return Refusal.fromCaller(new Assertion(
                "Assert failed: can't put nil on channel\n(some? (port 1))" + REMEDY, Refusal.data("nil-put")));
    }
}
