// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;

/**
 * Operations on ports that are not Skein's channels: values that satisfy the port protocols, which are in Clojure. The
 * layer above installs them. A single take or put is an alts of one operation, which can be withdrawn.
 */
public final class Foreign {
    private static volatile IFn alts; // (fn [ports options waiter]) -> [value port] or nil

    private Foreign() {}

    /** Installs the operations on foreign ports. */
    public static void install(IFn altsFn) {
        alts = altsFn;
    }

    /** Does one of several operations, see {@link Alts#choose}. Returns {@code [value port]}, or null when {@code waiter} waits. */
    public static Object alts(Object ports, Object options, Waiter waiter) {
        return alts.invoke(ports, options, waiter);
    }
}
