// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;

/**
 * A source that can only be read on: a lazy sequence, an iterator, a stream. Used by one thread at a time, under the run's
 * lock, so that its elements are produced serially while the steps on them run in parallel.
 */
public interface Feed extends AutoCloseable {
  /** Hands out the next elements, at most {@code n}; null when there are none left. */
  Span next(int n);

  /**
   * Feeds the next elements, at most {@code n}, to {@code step}; as {@link Span#reduce}.
   *
   * @param n as many as fit if it is {@code Integer.MAX_VALUE}
   */
  default Object reduce(IFn step, Object acc, int n) {
    Span block = next(n);
    return block == null ? acc : block.reduce(step, acc, 0, block.size());
  }

  /** Whether there are no more elements. May produce one to know, which {@link #next} will hand out. */
  boolean exhausted();

  /**
   * What to do about {@code t}, thrown by the production of an element after {@code filled} others of a block: throw it,
   * or hand out the others first, and throw it when the next ones are wanted. An interrupt can't wait.
   */
  static Throwable later(Throwable t, int filled) {
    if (filled == 0 || t instanceof InterruptedException) throw Sneaky.raise(t);
    return t;
  }

  /** Frees what the feed holds. Called once, when the fold is over. */
  @Override
  default void close() { }
}
