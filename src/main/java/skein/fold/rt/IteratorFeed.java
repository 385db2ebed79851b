// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.util.Arrays;
import java.util.Iterator;

/** The elements of an iterator. */
public final class IteratorFeed implements Feed {
  private static final int FIRST_BLOCK = 64;

  private final Iterator<?> iterator;
  private final AutoCloseable owner;  // what to close in the end, or null
  private long taken;
  private Throwable broken;           // what ended the production of a block that has been handed out

  /** @param owner closed when the fold is over; may be null */
  public IteratorFeed(Iterator<?> iterator, AutoCloseable owner) {
    this.iterator = iterator;
    this.owner = owner;
  }

  @Override
  public boolean exhausted() {
    if (broken != null) throw Sneaky.raise(broken);
    return !iterator.hasNext();
  }

  @Override
  public long taken() {
    return taken;
  }

  @Override
  public Span next(int n) {
    if (exhausted()) return null;
    Object[] block = new Object[Math.min(n, FIRST_BLOCK)];
    int filled = 0;
    try {
      do {
        if (filled == block.length) block = Arrays.copyOf(block, Math.min(n, 4 * filled));
        Object x = iterator.next();
        block[filled++] = x;
      } while (filled < n && iterator.hasNext());
    } catch (Throwable t) {
      broken = Feed.later(t, filled);
    }
    taken += filled;
    return new ArraySpan(block, filled);
  }

  @Override
  public Object reduce(IFn step, Object acc, int n) {
    for (int i = 0; i < n && !exhausted(); i++) {
      taken++;
      acc = step.invoke(acc, iterator.next());
      if (acc instanceof Reduced) return acc;
    }
    return acc;
  }

  @Override
  public void close() {
    try {
      if (owner != null) owner.close();
    } catch (Exception e) {
      throw Sneaky.raise(e);
    }
  }
}
