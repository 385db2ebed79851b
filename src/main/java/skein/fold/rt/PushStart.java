// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.AFn;
import clojure.lang.IReduceInit;
import clojure.lang.Reduced;

/**
 * How a fold of a reducible collection goes, which pushes its elements: this is the function that it pushes them into. First
 * it steps on each, then, if the steps take long, it makes blocks of them for others.
 */
final class PushStart extends Start {
  private static final int MAX_BLOCK = 1024;
  private static final int PROBE = 32;

  private final Pace pace;
  private final Strand strand;
  private PushRun run;          // null while alone
  private Object[] block;       // null while alone
  private int filled;
  private long since = start;   // when the elements were counted last
  private long count;           // elements since then
  private int untilLook = 1;

  PushStart(Plan plan) {
    super(plan, plan.newChain(null), System.nanoTime());
    pace = new Pace(plan.grain, 1);
    strand = new Strand(pace, -1, -1);
  }

  /** Collects for the run, or steps at once. */
  private final class Receiver extends AFn {
    @Override
    public Object invoke(Object ignored, Object x) {
      return run != null ? collect(x) : stepOn(x);
    }
  }

  Object fold(IReduceInit pusher) {
    strand.begin(chain.step(), plan.identity.invoke());
    if (pace.fixed() && shared) share(0);
    try {
      pusher.reduce(new Receiver(), null);
      flush();
      if (run == null && plan.isWatched()) note(System.nanoTime());
    } catch (Throwable t) {  // it counts if what the source has pushed before does not end the fold
      if (run == null) throw t;
      flush();
      run.producerFailed(t);
    }
    if (run != null) {
      run.producing(false);
      return run.execute();
    }
    return plan.complete(strand.step, unreduced(strand.acc));
  }

  private Object stepOn(Object x) {
    boolean probe = count == 0 && questionable(since);
    long before = probe ? System.nanoTime() : 0;
    count++;
    strand.acc = strand.step.invoke(strand.acc, x);
    if (strand.acc instanceof Reduced) return new Reduced(null);
    if (probe) share(System.nanoTime() - before);
    if (--untilLook == 0 && run == null) look();
    return null;
  }

  /** Looks at the clock, and says when to look again. */
  private void look() {
    long now = System.nanoTime();
    pace.took(count, now - since);
    note(now);
    untilLook = (int) Math.min(pace.next(Long.MAX_VALUE), MAX_BLOCK);
    checkInterrupt();
  }

  /** Says what has been done since it was said last. */
  private void note(long now) {
    if (count > 0) plan.note(strand, count, since, now);
    since = now;
    count = 0;
  }

  /** Makes a run of it if the step on one element, without its production, takes long enough. */
  private void share(long stepNanos) {
    int inOrder = plan.firstInOrder(chain.steps());
    if (inOrder <= plan.stageCount()) {
      alwaysAlone(inOrder == 0 ? plan.inOrderReason() : "the source pushes its elements, and a transducer needs them in order");
    } else if (pace.fixed() || stepNanos > PROBE && stepNanos > WORTH_SHARE * pace.nanosPerUnit()) {
      because("parallel", "");
      note(System.nanoTime());
      run = new PushRun(plan, strand);
    } else {
      alone(System.nanoTime(), PRODUCTION_IS_DEAR);
    }
  }

  private Object collect(Object x) {
    if (block == null) block = new Object[(int) Math.min(pace.next(Long.MAX_VALUE), MAX_BLOCK)];
    block[filled++] = x;
    if (filled == block.length) flush();
    return run.enough() ? new Reduced(null) : null;
  }

  private void flush() {
    if (filled == 0) return;
    run.push(new ArraySpan(block, filled), pace);
    block = null;
    filled = 0;
  }
}
