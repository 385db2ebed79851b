// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;

/**
 * Operations on ports that are not Skein's channels: values that satisfy the port protocols, which are in Clojure. The
 * layer above installs these operations.
 */
public final class Foreign {
    private Foreign() {}

    private static volatile IFn take; // (fn [port waiter]) -> value or Channel.NONE
    private static volatile IFn put; // (fn [port value waiter]) -> true, false or Channel.NONE
    private static volatile IFn alts; // (fn [ports options waiter]) -> [value port] or nil

    /** Installs the operations on foreign ports. */
    public static void install(IFn takeFn, IFn putFn, IFn altsFn) {
        take = takeFn;
        put = putFn;
        alts = altsFn;
    }

    public static Object take(Object port, Waiter waiter) {
        return take.invoke(port, waiter);
    }

    public static Object put(Object port, Object value, Waiter waiter) {
        return put.invoke(port, value, waiter);
    }

    public static Object alts(Object ports, Object options, Waiter waiter) {
        return alts.invoke(ports, options, waiter);
    }
}
