// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.util.Iterator;

/** The elements of an iterator. */
public final class IteratorFeed extends ItemFeed {
  private final Iterator<?> iterator;
  private final AutoCloseable owner;  // what to close in the end, or null

  /** @param owner closed when the fold is over; may be null */
  public IteratorFeed(Iterator<?> iterator, AutoCloseable owner) {
    this.iterator = iterator;
    this.owner = owner;
  }

  @Override
  boolean hasItem() {
    return iterator.hasNext();
  }

  @Override
  Object item() {
    return iterator.next();
  }

  @Override
  Object reduceItems(IFn step, Object acc, int n) {
    int left = n;
    do {
      left--;
      acc = step.invoke(acc, iterator.next());
    } while (!(acc instanceof Reduced) && left > 0 && iterator.hasNext());
    taken += n - left;
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
