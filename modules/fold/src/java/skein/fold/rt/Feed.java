// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;

/**
 * A source that can only be read on: a lazy sequence, an iterator, a stream. Used by one thread at a time, under the run's
 * lock, so that its elements are produced serially while the steps on them run in parallel.
 */
public interface Feed extends AutoCloseable {
  /**
   * Hands out the next elements, about {@code n} units of them at most; null when there are none left. If it has some and has to
   * wait for more, it returns those, or else hands them out by {@link #ready}.
   */
  Span next(int n);

  /**
   * Hands out what {@link #next}, which another thread is in, has produced so far; null if that is nothing. What next() returns comes
   * after it. The caller sees to it that this is called by one thread at a time.
   */
  default Span ready() {
    return null;
  }

  /** Feeds the next elements, about {@code n} units at most, to {@code step}, each when it has come; as {@link Span#reduce}. */
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

  /** How many units {@link #next} and {@link #reduce} have taken so far; -1 if nobody counts. */
  default long taken() {
    return -1;
  }

  /** The most units worth taking at a time: bounds how far the source is read ahead. */
  default int maxBlock() {
    return 4096;
  }

  /** What the units are, in a word for people: elements, bytes. */
  default String unit() {
    return "elements";
  }

  /** Frees what the feed holds. Called once, when the fold is over. */
  @Override
  default void close() { }
}
