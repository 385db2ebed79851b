// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * A feed that produces one element after the other. While one thread fills a block and perhaps waits for an element, others may
 * take those that are in it.
 */
abstract class ItemFeed implements Feed {
  long taken;                        // elements handed out or stepped on
  private Throwable broken;          // what ended the production of a block that has been handed out
  private volatile Batch producing;  // the block that is being filled, or null

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
    while (rest == null && !exhausted()) rest = produce(n);
    return rest;
  }

  /** Produces up to {@code n} elements, where others find them; returns what these have left, or null. */
  private Span produce(int n) {
    Batch batch = new Batch(n);
    producing = batch;
    try {
      do {
        batch.add(item());
      } while (!batch.isFull() && hasItem());
    } catch (Throwable t) {  // thrown at once or later
      // The elements before are handed out first; but an interrupt can't wait.
      if (batch.size() == 0 || t instanceof InterruptedException) throw Sneaky.raise(t);
      broken = t;
    } finally {
      producing = null;
    }
    taken += batch.size();
    return batch.take();
  }

  @Override
  public final Span ready() {
    Batch batch = producing;
    return batch == null ? null : batch.take();
  }

  @Override
  public final Object reduce(IFn step, Object acc, int n) {
    return exhausted() ? acc : reduceItems(step, acc, n);
  }

  /** Steps on up to {@code n} elements, each as soon as there is one, and adds to {@link #taken}. There is one. */
  abstract Object reduceItems(IFn step, Object acc, int n);
}
