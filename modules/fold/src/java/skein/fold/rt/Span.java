// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;

/**
 * A source whose parts can be reduced separately: a vector, an array, a file. Positions count whatever units suit the source
 * (elements, bytes); its elements begin at positions, perhaps not at every one. Safe for use by any number of threads.
 */
public interface Span extends AutoCloseable {
  /** How many units there are. Does not change. */
  long size();

  /**
   * Feeds the elements that begin at positions {@code from} (inclusive) to {@code to} (exclusive), in order, to {@code step}.
   *
   * @return what the last step returned, or {@code acc}. When a step returns a {@code Reduced}, the rest is left out and
   *     it is returned as it is
   */
  Object reduce(IFn step, Object acc, long from, long to);

  /** What the units are, in a word for people: elements, bytes. */
  default String unit() {
    return "elements";
  }

  /** The fewest units that are worth reducing by themselves, unless fewer are left. */
  default long minBlock() {
    return 1;
  }

  /** Whether the first block may take long, however few units it has, so that others should be asked to help at once. */
  default boolean isCoarse() {
    return false;
  }

  /** Frees what the span holds. Called once, when the fold is over. */
  @Override
  default void close() { }
}
