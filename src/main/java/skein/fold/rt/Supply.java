// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

/** Blocks of a source in its order, be it a span or a feed. For one thread at a time. */
abstract class Supply {
  /** The next block, or null. For a span it is the span itself, from the position before to the one after the call. */
  abstract Span next(Pace pace);

  /** Where the next block begins, or -1 if the source has no positions. */
  abstract long position();

  /** Nobody wants more. */
  abstract void shut();

  /** What nobody has taken of {@code strand}, which is of {@code span}. */
  static Supply of(Span span, Strand strand) {
    return new Supply() {
      @Override
      Span next(Pace pace) {
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
      Span next(Pace pace) {
        return tap.next((int) Math.min(feed.maxBlock(), pace.next(Long.MAX_VALUE)));
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
