// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** The errors for a put of nil. Their classes and their first lines are core.async's. */
public final class NilPut {
    private static final String REMEDY = "\nA take returns nil when the channel is closed, so nil can't be a value."
            + " Put a value such as ::none, or close the channel.";

    private NilPut() {}

    /** Returns the error of an operation that puts nil. */
    public static IllegalArgumentException refused() {
        return Refusal.fromCaller(new IllegalArgumentException("Can't put nil on channel" + REMEDY));
    }

    /** Returns the error of an alts of which one operation puts nil. */
    static AssertionError refusedInAlts() {
        return Refusal.fromCaller(
                new AssertionError("Assert failed: can't put nil on channel\n(some? (port 1))" + REMEDY));
    }
}
