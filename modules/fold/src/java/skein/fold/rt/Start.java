// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Reduced;
import java.util.function.Supplier;
import skein.thread.Shared;

/**
 * How a fold begins: on the caller's thread, alone, since most folds are over before another thread could come. Only when it
 * has taken {@link #ALONE_NANOS} and what is left should take longer than calling for help is it made a run.
 */
abstract class Start {
  /** How long a fold runs on the caller's thread before others are asked. */
  static final long ALONE_NANOS = 60_000;
  /** How long what is left must take for that; a helper needs half of it to come. */
  static final long WORTH_HELP_NANOS = 100_000;
  /** What part of a block's time must be in what can run in parallel. */
  static final double WORTH_SHARE = 0.35;
  /** How long an element's parallel part must take, at the least: handing it over costs a cache miss or two. */
  static final double WORTH_ELEMENT_NANOS = 15;
  static final String FRONT_IS_CHEAP = "the stages that need no order take too little of the time";
  static final String PRODUCTION_IS_DEAR = "producing the elements takes most of the time";
  /** How much longer than before to wait until the question is asked again whether sharing is worthwhile. */
  private static final int PATIENCE = 16;

  final Plan plan;
  final Chain chain;
  final long start;
  final Pauses pauses;
  private long nextQuestion;
  private boolean stays;  // even if it is on a virtual thread
  boolean shared;
  Object result;

  Start(Plan plan, Chain chain, long start) {
    this.plan = plan;
    this.chain = chain;
    this.start = start;
    pauses = plan.pauses(start);
    nextQuestion = start + ALONE_NANOS;
    shared = plan.parallelism > 1;
    because("serial", shared ? "it was over before help would have paid" : "parallelism is 1");
  }

  static Object unreduced(Object acc) {
    return acc instanceof Reduced reduced ? reduced.deref() : acc;
  }

  /** Has {@code rest}, what is left to do, done by a platform thread if this is one that others wait for; whether there is a result now. */
  final boolean leave(Supplier<Object> rest) {
    if (stays || !Shared.isHere()) return false;
    stays = true;
    pauses.end();
    Host host = Host.find(rest);
    if (host == null) return false;
    result = host.await();
    return true;
  }

  /** Whether it is time to see whether others should help. */
  final boolean questionable(long now) {
    return shared && now >= nextQuestion;
  }

  /** Others would not help now; perhaps later. */
  final void alone(long now, String reason) {
    nextQuestion = now + PATIENCE * (now - start);
    because("serial", reason);
  }

  /** Nothing that comes later can change that the fold is serial. */
  final void alwaysAlone(String reason) {
    shared = false;
    because("serial", reason);
  }

  final void because(String path, String reason) {
    if (plan.trace != null) plan.trace.path(path, reason);
  }
}
