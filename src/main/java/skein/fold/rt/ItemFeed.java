// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.util.Arrays;

/** A feed that produces one element after the other. */
abstract class ItemFeed implements Feed {
  private static final int FIRST_BLOCK = 64;

  private long taken;
  private Throwable broken;  // what ended the production of a block that has been handed out

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
    if (exhausted()) return null;
    Object[] block = new Object[Math.min(n, FIRST_BLOCK)];
    int filled = 0;
    try {
      do {
        if (filled == block.length) block = Arrays.copyOf(block, Math.min(n, 4 * filled));
        Object x = item();
        block[filled++] = x;
      } while (filled < n && hasItem());
    } catch (Throwable t) {
      broken = Feed.later(t, filled);
    }
    taken += filled;
    return new ArraySpan(block, filled);
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
