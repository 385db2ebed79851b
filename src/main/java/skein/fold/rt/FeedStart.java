// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Reduced;

/** How a fold of a feed begins, and how it goes on when producing the elements takes most of the time. */
final class FeedStart extends Start {
  private final Feed feed;
  private final Pace pace;
  private final Strand strand;

  FeedStart(Plan plan, Feed feed) {
    super(plan, plan.newChain(null), System.nanoTime());
    this.feed = feed;
    pace = new Pace(plan.grain, 1);
    strand = new Strand(pace, -1, -1);
  }

  Object fold() {
    strand.begin(chain.step(), plan.identity.invoke());
    return fold(start);
  }

  /** Goes on, on another thread than before. */
  private Object goOn() {
    strand.piece = null;
    return fold(System.nanoTime());
  }

  private Object fold(long now) {
    if (pace.fixed() && shared && share(now)) return result;
    while (!feed.exhausted()) {
      int n = (int) Math.min(pace.next(Long.MAX_VALUE), 1 << 20);
      long taken = feed.taken();
      strand.acc = feed.reduce(strand.step, strand.acc, n);
      now = note(taken < 0 ? n : feed.taken() - taken, now);
      if (strand.acc instanceof Reduced) break;
      pauses.pause();
      if (questionable(now) && share(now)) return result;
      // The block that told whether to share may have been the last one.
      if (strand.acc instanceof Reduced) break;
    }
    return plan.complete(strand.step, unreduced(strand.acc));
  }

  /** Ends a block of {@code n} units that was begun at {@code before}; returns the time. */
  private long note(long n, long before) {
    long now = System.nanoTime();
    pace.took(n, now - before);
    plan.note(strand, n, before, now);
    return now;
  }

  private boolean share(long now) {
    if (leave(this::goOn)) return true;
    int inOrder = plan.firstInOrder(chain.steps());
    if (inOrder == 0) {
      alwaysAlone(plan.inOrderReason());
      return false;
    }
    return inOrder > plan.stageCount() ? divide(now) : relay(inOrder, now);
  }

  private boolean divide(long now) {
    if (!pace.fixed() && !stepsTakeLong()) {
      if (!(strand.acc instanceof Reduced)) alone(System.nanoTime(), "producing the elements takes most of the time");
      return false;
    }
    because("parallel", "");
    result = new FeedRun(plan, feed, strand).execute();
    return true;
  }

  /** Produces and reduces a block, one after the other, to compare. */
  private boolean stepsTakeLong() {
    long start = System.nanoTime();
    Span block = feed.next((int) Math.min(pace.next(Long.MAX_VALUE), feed.maxBlock()));
    if (block == null) return false;
    long produced = System.nanoTime();
    strand.acc = block.reduce(strand.step, strand.acc, 0, block.size());
    long now = note(block.size(), produced);
    double share = (double) (now - produced) / Math.max(1, now - start);
    return !(strand.acc instanceof Reduced) && worthwhile(share, (double) (now - start) / Math.max(1, block.size()));
  }

  private boolean relay(int inOrder, long now) {
    Relay relay = new Relay(plan, chain, inOrder, Supply.of(feed), strand);
    if (!pace.fixed() && !relay.probe()) {
      strand.acc = relay.ended() ? new Reduced(relay.acc()) : relay.acc();
      alone(System.nanoTime(), "the stages that need no order take too little of the time");
      return false;
    }
    because("in-order", "a transducer needs its elements in order; the ones before it ran in parallel");
    result = relay.execute();
    return true;
  }
}
