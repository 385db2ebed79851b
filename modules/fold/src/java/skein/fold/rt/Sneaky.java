// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

/** Throws checked exceptions from where none is declared, as Clojure's functions do. */
final class Sneaky {
  private Sneaky() { }

  /** Throws {@code t}; to be called as {@code throw Sneaky.raise(t)}. */
  static RuntimeException raise(Throwable t) {
    return Sneaky.<RuntimeException>as(t);
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> RuntimeException as(Throwable t) throws T {
    throw (T) t;
  }
}
