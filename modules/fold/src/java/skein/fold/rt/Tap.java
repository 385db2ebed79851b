// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * A feed that several threads take turns at, until one of them shuts it. Whoever is waiting for the feed's next elements
 * then, perhaps for ones that will never come, is interrupted.
 */
final class Tap {
  private final Feed feed;
  private final Bursts bursts = new Bursts();
  private Thread producer;      // guarded by this; who is in feed.next()
  private final Nudge nudge = new Nudge();  // guarded by this; shut()'s, to the producer
  private volatile boolean shut;

  Tap(Feed feed) {
    this.feed = feed;
  }

  boolean isShut() {
    return shut;
  }

  /** What whoever is in {@link #next} has read so far; null if that is nothing or nobody wants it. */
  Span ready() {
    Span ready = shut ? null : feed.ready();
    if (ready != null) bursts.taken(ready.size());
    return ready;
  }

  /**
   * About {@code n} units that are read as they are stepped on. For one thread at a time, which nobody but itself keeps from
   * going on; if there are none, the tap is shut.
   */
  Span live(int n) {
    return new Span() {
      private long units;

      @Override
      public long size() {
        return units;
      }

      @Override
      public Object reduce(IFn step, Object acc, long from, long to) {
        if (shut || feed.exhausted()) {
          shut = true;
          return acc;
        }
        long taken = feed.taken();
        Object result = feed.reduce(step, acc, n);
        units = taken < 0 ? n : Math.max(1, feed.taken() - taken);  // a block may be empty, which is not the end
        return result;
      }
    };
  }

  /** The next elements, or null if there are none or nobody wants them. By one thread at a time. */
  Span next(int n) {
    synchronized (this) {
      if (shut) return null;
      producer = Thread.currentThread();
    }
    try {
      Span block = feed.next(bursts.next(n));
      if (block == null) shut = true;
      return shut ? null : block;
    } catch (Throwable t) {
      if (shut) return null;  // it comes of an interrupt, or nobody asked for it
      throw t;
    } finally {
      synchronized (this) {
        producer = null;
        nudge.takeBack();
      }
    }
  }

  synchronized void shut() {
    shut = true;
    if (producer != null && producer != Thread.currentThread()) nudge.send(producer);
  }
}
