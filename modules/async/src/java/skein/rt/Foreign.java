// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;
import clojure.lang.Symbol;

/**
 * Ports that are not channels of ours: anything that satisfies the port protocols, which are Clojure's. Few programs
 * have any, so the namespace that reaches them is loaded by the first operation on one; it installs its functions here.
 */
public final class Foreign {
  private Foreign() {}

  private static volatile IFn take; // (fn [port waiter]) -> value or Channel.NONE
  private static volatile IFn put; // (fn [port value waiter]) -> true, false or Channel.NONE
  private static volatile IFn alts; // (fn [ports options waiter]) -> [value port] or nil; set last

  /** Installs the functions that reach foreign ports. */
  public static void install(IFn takeFn, IFn putFn, IFn altsFn) {
    take = takeFn;
    put = putFn;
    alts = altsFn;
  }

  private static void load() {
    if (alts == null) Late.var(Symbol.intern("skein.impl.channel", "foreign-alts"));
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
