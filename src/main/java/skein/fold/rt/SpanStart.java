// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Reduced;

/** How a fold of a span begins. */
final class SpanStart extends Start {
  private final Span span;
  private final long size;
  private final Strand strand;
  private Object result;

  SpanStart(Plan plan, Span span) {
    super(plan, span, span.size() <= 1 && plan.trace == null);
    this.span = span;
    size = span.size();
    strand = new Strand(new Pace(plan.grain, span.minBlock()), 0, size);
  }

  Object fold() {
    strand.begin(chain.step(), plan.identity.invoke());
    boolean watched = plan.progress != null || plan.trace != null;
    boolean atOnce = strand.pace.fixed() && size > plan.grain;
    long now = start;
    if (atOnce && shared && share(now)) return result;
    for (long end; (end = strand.take(now)) >= 0; ) {
      strand.acc = span.reduce(strand.step, strand.acc, strand.from, end);
      if (end == size && !watched) break;
      long before = now;
      now = System.nanoTime();
      plan.note(strand, end - strand.from, before, now);
      if (strand.acc instanceof Reduced) break;
      if (end < size) checkInterrupt();
      if (questionable(now) && strand.remainingNanos(now) > WORTH_HELP_NANOS && share(now)) return result;
    }
    return plan.complete(strand.step, unreduced(strand.acc));
  }

  /** Goes on with others; whether that is the end of it. */
  private boolean share(long now) {
    int inOrder = plan.firstInOrder(chain.steps());
    if (inOrder > plan.stageCount()) {
      because("parallel", "");
      result = new SpanRun(plan, span, strand).execute();
      return true;
    }
    if (inOrder == 0) {
      alwaysAlone(plan.inOrderReason());
      return false;
    }
    return relay(inOrder, now);
  }

  private boolean relay(int inOrder, long now) {
    Relay relay = new Relay(plan, chain, inOrder, Supply.of(span, strand), strand);
    if (!strand.pace.fixed() && !relay.probe()) {
      strand.acc = relay.acc();
      alone(System.nanoTime(), "the stages that need no order take too little of the time");
      return false;
    }
    because("in-order", "a transducer needs its elements in order; the ones before it ran in parallel");
    result = relay.execute();
    return true;
  }
}
