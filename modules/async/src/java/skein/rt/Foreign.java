// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;

/**
 * Operations on ports that are not Skein's channels: values that satisfy the port protocols, which are in Clojure. Few
 * programs have such ports, so the layer above installs these operations when the first one is used.
 */
public final class Foreign {
    private Foreign() {}

    private static volatile IFn loader; // (fn []): calls install
    private static volatile IFn take; // (fn [port waiter]) -> value or Channel.NONE
    private static volatile IFn put; // (fn [port value waiter]) -> true, false or Channel.NONE
    private static volatile IFn alts; // (fn [ports options waiter]) -> [value port] or nil; set last

    /** Sets {@code load}, which is called before the first operation on a foreign port and calls {@link #install}. */
    public static void loadBy(IFn load) {
        loader = load;
    }

    /** Installs the operations on foreign ports. */
    public static void install(IFn takeFn, IFn putFn, IFn altsFn) {
        take = takeFn;
        put = putFn;
        alts = altsFn;
    }

    private static void load() {
        if (alts == null) loader.invoke();
    }

    public static Object take(Object port, Waiter waiter) {
        load();
        return take.invoke(port, waiter);
    }

    public static Object put(Object port, Object value, Waiter waiter) {
        load();
        return put.invoke(port, value, waiter);
    }

    public static Object alts(Object ports, Object options, Waiter waiter) {
        load();
        return alts.invoke(ports, options, waiter);
    }
}
