// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * Where a traced piece of code is: the number of the form that it began last, written just before every call,
 * so that one {@code try} around all of it can tell which form threw.
 *
 * <p>One thread at a time uses a trail, or one frame, so its fields are plain. The code that
 * {@code skein.trace.form} emits calls the static methods; the JIT makes a store of each.
 */
public final class Trail {
  private int at = -1;
  private Object args; // of that form, as a vector, where they are asked for
  private Throwable caught; // by a catch of the traced code, in case that throws it on
  private int caughtAt;
  private Object caughtArgs;

  /** Form {@code n} begins. */
  public static void mark(Trail trail, long n) {
    trail.at = (int) n;
  }

  /** Form {@code n} begins, with the arguments in the vector {@code args}. */
  public static void mark(Trail trail, long n, Object args) {
    trail.at = (int) n;
    trail.args = args;
  }

  /** A catch clause begins: what it does must not hide where {@code thrown} came from. */
  public static void caught(Trail trail, Throwable thrown) {
    if (thrown == trail.caught) return;
    trail.caught = thrown;
    trail.caughtAt = trail.at;
    trail.caughtArgs = trail.args;
  }

  /** Returns what {@link #restore} needs at the end of a finally clause, which may run because of an exception. */
  public static Object[] save(Trail trail) {
    return new Object[] {trail.at, trail.args};
  }

  /** Ends a finally clause that has not thrown. */
  public static void restore(Trail trail, Object[] saved) {
    trail.at = (int) saved[0];
    trail.args = saved[1];
  }

  /** The number of the form that threw {@code thrown}, or -1. */
  public int at(Throwable thrown) {
    return thrown == caught ? caughtAt : at;
  }

  /** The arguments of the form that threw {@code thrown}, as a vector, or null. */
  public Object args(Throwable thrown) {
    return thrown == caught ? caughtArgs : args;
  }
}
