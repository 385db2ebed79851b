// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;

/**
 * Ports that are not channels of ours: anything that satisfies the port protocols, which are Clojure's. The
 * namespace that defines them installs the two functions here.
 */
public final class Foreign {
  private Foreign() {}

  private static volatile IFn take; // (fn [port waiter]) -> value or Channel.NONE
  private static volatile IFn put; // (fn [port value waiter]) -> true, false or Channel.NONE
  private static volatile IFn alts; // (fn [ports options waiter]) -> [value port] or nil

  /** Installs the functions that reach foreign ports. */
  public static void install(IFn takeFn, IFn putFn, IFn altsFn) {
    take = takeFn;
    put = putFn;
    alts = altsFn;
  }

  static Object take(Object port, Waiter waiter) {
    return take.invoke(port, waiter);
  }

  static Object put(Object port, Object value, Waiter waiter) {
    return put.invoke(port, value, waiter);
  }

  static Object alts(Object ports, Object options, Waiter waiter) {
    return alts.invoke(ports, options, waiter);
  }
}
