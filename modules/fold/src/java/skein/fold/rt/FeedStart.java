// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import skein.fold.spi.Feed;

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
    if (pace.fixed() && shared && share()) return result;
    while (!(strand.acc instanceof Reduced) && !feed.exhausted()) {
      long units = reduce(strand.step, (int) Math.min(pace.next(Long.MAX_VALUE), 1 << 20));
      if (!plan.isWatched() && (strand.acc instanceof Reduced || feed.exhausted())) break;
      now = note(units, now);
      if (strand.acc instanceof Reduced) break;
      pauses.pause();
      if (questionable(now)) {
        if (share()) return result;
        now = System.nanoTime();
      }
    }
    return plan.complete(strand.step, unreduced(strand.acc));
  }

  /** Feeds about {@code n} units to {@code step}, each when it has come; returns how many there were. */
  private long reduce(IFn step, int n) {
    long taken = feed.taken();
    strand.acc = feed.reduce(step, strand.acc, n);
    return taken < 0 ? n : feed.taken() - taken;
  }

  /** Ends a block of {@code units} units that was begun at {@code before}; returns the time. */
  private long note(long units, long before) {
    long now = System.nanoTime();
    if (units > 0) pace.took(units, now - before);
    plan.note(strand, units, before, now);
    return now;
  }

  private boolean share() {
    if (leave(this::goOn)) return true;
    int inOrder = plan.firstInOrder(chain.steps());
    if (inOrder == 0) {
      alwaysAlone(plan.inOrderReason());
      return false;
    }
    boolean relay = inOrder <= plan.stageCount();
    if (!pace.fixed() && !worthwhile(inOrder)) {
      if (!(strand.acc instanceof Reduced)) alone(System.nanoTime(), relay ? FRONT_IS_CHEAP : PRODUCTION_IS_DEAR);
      return false;
    }
    if (relay) {
      because("in-order", "a transducer needs its elements in order; the ones before it ran in parallel");
      result = new Relay(plan, chain, inOrder, Supply.of(feed), strand).execute();
    } else {
      because("parallel", "");
      result = new FeedRun(plan, feed, strand).execute();
    }
    return true;
  }

  /** Goes on for one block, to see where its time goes; false too if that was the end. */
  private boolean worthwhile(int inOrder) {
    Probe probe = new Probe(plan, chain, inOrder, pace);
    long before = System.nanoTime();
    long now = note(reduce(probe, (int) Math.min(pace.next(Long.MAX_VALUE), feed.maxBlock())), before);
    return !(strand.acc instanceof Reduced) && probe.worthwhile(now - before);
  }
}
