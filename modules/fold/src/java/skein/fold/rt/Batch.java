// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import skein.fold.spi.Span;

/** Elements that one thread collects, of which others may take those that are there while it waits for more. */
final class Batch {
  private static final int FIRST_SIZE = 1024;
  private static final VarHandle FILLED;

  static {
    try {
      FILLED = MethodHandles.lookup().findVarHandle(Batch.class, "filled", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int limit;
  private Object[] items;  // replaced under this
  private int filled;      // how many there are; released by who collects
  private int handed;      // guarded by this; how many of them have been taken

  /** @param limit how many elements to collect at most */
  Batch(int limit) {
    this.limit = limit;
    items = new Object[Math.min(limit, FIRST_SIZE)];
  }

  /** Adds an element. By one thread only, as the next two. */
  void add(Object x) {
    int i = filled;
    if (i == items.length) grow();
    items[i] = x;
    FILLED.setRelease(this, i + 1);
  }

  int size() {
    return filled;
  }

  boolean isFull() {
    return filled == limit;
  }

  private synchronized void grow() {
    items = Arrays.copyOf(items, (int) Math.min(limit, 4L * items.length));
  }

  /** Takes the elements that nobody has taken; null if there are none. By any thread. */
  synchronized Span take() {
    int n = (int) FILLED.getAcquire(this);
    if (n == handed) return null;
    Span taken = new ArraySpan(handed == 0 ? items : Arrays.copyOfRange(items, handed, n), n - handed);
    handed = n;
    return taken;
  }
}
