// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;

/**
 * What the code of go blocks calls to write a frame's primitive fields and arrays: Clojure's own {@code set!}
 * of a primitive field makes an object on the way.
 */
public final class Slots {
  /** What a part of a large body returns to have the frame go on in another part, at {@code frame.state}. */
  public static final Object JUMP = new Object();

  private Slots() {}

  /** {@code f}, which must be a function: a call checks that before its arguments are evaluated. */
  public static IFn function(Object f) {
    return (IFn) f;
  }

  public static void state(Frame frame, int state) {
    frame.state = state;
  }

  public static void l0(Frame frame, long v) {
    frame.l0 = v;
  }

  public static void l1(Frame frame, long v) {
    frame.l1 = v;
  }

  public static void more(Frame frame, int index, Object v) {
    frame.more[index] = v;
  }

  public static void moreLongs(Frame frame, int index, long v) {
    frame.moreLongs[index] = v;
  }
}
