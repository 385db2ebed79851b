// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;

/**
 * Ports that are not channels of ours: anything that satisfies the port protocols, which are Clojure's. Few programs
 * have any, so what reaches them is loaded by the first operation on one: the layer above says how, and installs it.
 */
public final class Foreign {
    private Foreign() {}

    private static volatile IFn loader; // (fn []): sees to it that install has been called
    private static volatile IFn take; // (fn [port waiter]) -> value or Channel.NONE
    private static volatile IFn put; // (fn [port value waiter]) -> true, false or Channel.NONE
    private static volatile IFn alts; // (fn [ports options waiter]) -> [value port] or nil; set last

    /** Has {@code load} called before the first operation on a foreign port; it calls {@link #install}. */
    public static void loadBy(IFn load) {
        loader = load;
    }

    /** Installs the functions that reach foreign ports. */
    public static void install(IFn takeFn, IFn putFn, IFn altsFn) {
        take = takeFn;
        put = putFn;
        alts = altsFn;
    }

    private static void load() {
        if (alts == null) loader.invoke();
    }

    static Object take(Object port, Waiter waiter) {
        load();
        return take.invoke(port, waiter);
    }

    static Object put(Object port, Object value, Waiter waiter) {
        load();
        return put.invoke(port, value, waiter);
    }

    static Object alts(Object ports, Object options, Waiter waiter) {
        load();
        return alts.invoke(ports, options, waiter);
    }
}
