// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/** Blocks of a source in its order, be it a span or a feed. For one thread at a time. */
abstract class Supply {
  /**
   * The next block, or null. For a span it is the span itself, from the position before to the one after the call.
   *
   * @param alone whether nobody would call {@link #ready}
   */
  abstract Span next(Pace pace, boolean alone);

  /** A block that is read as it is stepped on, as {@link Tap#live}; null if the source makes nobody wait. */
  Span live(Pace pace) {
    return null;
  }

  /** What is there of the block that another thread is in {@link #next} for; null if that is nothing. */
  Span ready() {
    return null;
  }

  /** Where the next block begins, or -1 if the source has no positions. */
  abstract long position();

  /** Nobody wants more. */
  abstract void shut();

  /** What nobody has taken of {@code strand}, which is of {@code span}. */
  static Supply of(Span span, Strand strand) {
    return new Supply() {
      @Override
      Span next(Pace pace, boolean alone) {
        return strand.take(pace) < 0 ? null : span;
      }

      @Override
      long position() {
        return strand.position();
      }

      @Override
      void shut() {
        strand.close();
      }
    };
  }

  /** The elements of {@code feed}. */
  static Supply of(Feed feed) {
    Tap tap = new Tap(feed);
    return new Supply() {
      @Override
      Span next(Pace pace, boolean alone) {
        return tap.next((int) Math.min(feed.maxBlock(), alone ? 1 : pace.next(Long.MAX_VALUE)));
      }

      @Override
      Span live(Pace pace) {
        int n = pace.nextAlone();
        return n == 1 ? null : tap.live(n);
      }

      @Override
      Span ready() {
        return tap.ready();
      }

      @Override
      long position() {
        return -1;
      }

      @Override
      void shut() {
        tap.shut();
      }
    };
  }
}
