// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * A feed that produces one element after the other. While one thread fills a block and perhaps waits for an element, others may
 * take those that are in it.
 */
abstract class ItemFeed implements Feed {
  private static final int FIRST_BLOCK = 64;

  private static final VarHandle FILLED;

  static {
    try {
      FILLED = MethodHandles.lookup().findVarHandle(ItemFeed.class, "filled", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private long taken;
  private Throwable broken;         // what ended the production of a block that has been handed out
  private volatile Object[] items;  // the block that is being filled, or null
  private int filled;               // how many elements are in it; released by who fills it
  private int handed;               // guarded by this; how many of them others have taken

  /** Whether there is another element; may produce it. */
  abstract boolean hasItem();

  /** The next element; there is one. */
  abstract Object item();

  @Override
  public final boolean exhausted() {
    if (broken != null) throw Sneaky.raise(broken);
    return !hasItem();
  }

  @Override
  public final long taken() {
    return taken;
  }

  @Override
  public final Span next(int n) {
    Span rest = null;
    while (rest == null && !exhausted()) rest = rest(fill(n));
    return rest;
  }

  /** Produces up to {@code n} elements, where others find them; returns how many. */
  private int fill(int n) {
    Object[] block = items = new Object[Math.min(n, FIRST_BLOCK)];
    int i = 0;
    try {
      do {
        if (i == block.length) items = block = Arrays.copyOf(block, Math.min(n, 4 * i));
        block[i] = item();
        FILLED.setRelease(this, ++i);
      } while (i < n && hasItem());
    } catch (Throwable t) {  // kept, or thrown again
      if (t instanceof InterruptedException) rest(i);
      broken = Feed.later(t, i);
    }
    taken += i;
    return i;
  }

  /** What nobody has taken of the block of {@code n} elements, which is full; null if that is nothing. */
  private synchronized Span rest(int n) {
    Span rest = handed == 0 ? new ArraySpan(items, n) : handed < n ? copy(n) : null;
    filled = 0;
    handed = 0;
    items = null;
    return rest;
  }

  @Override
  public final synchronized Span ready() {
    int n = (int) FILLED.getAcquire(this);
    if (n == handed) return null;
    Span ready = copy(n);
    handed = n;
    return ready;
  }

  private Span copy(int to) {
    return new ArraySpan(Arrays.copyOfRange(items, handed, to), to - handed);
  }

  @Override
  public final Object reduce(IFn step, Object acc, int n) {
    for (int i = 0; i < n && !exhausted(); i++) {
      taken++;
      acc = step.invoke(acc, item());
      if (acc instanceof Reduced) return acc;
    }
    return acc;
  }
}
