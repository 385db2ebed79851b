// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IReduceInit;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/** Runs a plan over a source: the three kinds of source, and what is common to them. */
public final class Engine {
  private Engine() { }

  /** Folds {@code span}; returns the combined accumulators, each complete. Closes the span. */
  public static Object fold(Plan plan, Span span) {
    try (span) {
      return finished(plan, SpanStart.fold(plan, span));
    } finally {
      plan.end();
    }
  }

  /** Folds {@code feed}; as above. */
  public static Object fold(Plan plan, Feed feed) {
    try (feed) {
      return finished(plan, new FeedStart(plan, feed).fold());
    } finally {
      plan.end();
    }
  }

  /** Folds what only pushes its elements; as above. */
  public static Object fold(Plan plan, IReduceInit pusher) {
    try {
      return finished(plan, new PushStart(plan).fold(pusher));
    } finally {
      plan.end();
    }
  }

  private static Object finished(Plan plan, Object result) {
    if (plan.progress != null) plan.progress.finish();
    return result;
  }
}
