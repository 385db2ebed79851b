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
  /** How many elements may be stepped on between two looks at the clock. */
  private static final int MAX_UNLOOKED = 1024;
  /** How many to see where their time goes. */
  private static final int PROBED = 64;

  private final Pace pace;
  private final Strand strand;
  private PushRun run;          // null while alone
  private Probe probe;          // null but while it is measured whether to share
  private Batch batch;          // what is being collected for the run
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
      if (run == null || !run.isHelped() && !pace.fixed()) return stepOn(x);
      if (batch == null) batch = run.collect(pace);
      batch.add(x);
      if (batch.isFull()) flush();
      return run.enough() ? new Reduced(null) : null;
    }
  }

  Object fold(IReduceInit pusher) {
    strand.begin(chain.step(), plan.identity.invoke());
    if (pace.fixed() && shared && mayShare()) share();
    try {
      pusher.reduce(new Receiver(), null);
      if (plan.isWatched()) note(System.nanoTime());
      flush();
    } catch (Throwable t) {  // it counts if what the source has pushed before does not end the fold
      if (run == null) throw t;
      flush();
      run.producerFailed(t);
    }
    strand.acc = unreduced(strand.acc);
    if (run == null) return plan.complete(strand.step, strand.acc);
    run.producing(false);
    return run.execute();
  }

  private Object stepOn(Object x) {
    count++;
    strand.acc = (probe == null ? strand.step : probe).invoke(strand.acc, x);
    if (strand.acc instanceof Reduced) return new Reduced(null);
    if (--untilLook == 0) look();
    return null;
  }

  /** Looks at the clock, and says when to look again. */
  private void look() {
    long now = System.nanoTime();
    pace.took(count, now - since);
    boolean worthwhile = probe != null && probe.worthwhile(now - since);
    note(now);
    untilLook = (int) Math.min(pace.next(Long.MAX_VALUE), MAX_UNLOOKED);
    pauses.pause();
    if (run != null) return;
    if (probe != null) {
      probe = null;
      if (worthwhile) share(); else alone(now, PRODUCTION_IS_DEAR);
    } else if (questionable(now) && mayShare()) {
      untilLook = Math.min(untilLook, PROBED);
      probe = new Probe(plan, chain, Integer.MAX_VALUE, pace);
    }
  }

  /** Says what has been done since it was said last. */
  private void note(long now) {
    if (count > 0) plan.note(strand, count, since, now);
    since = now;
    count = 0;
  }

  /** Whether the chain lets others help. */
  private boolean mayShare() {
    int inOrder = plan.firstInOrder(chain.steps());
    if (inOrder > plan.stageCount()) return true;
    alwaysAlone(inOrder == 0 ? plan.inOrderReason() : "the source pushes its elements, and a transducer needs them in order");
    return false;
  }

  private void flush() {
    if (batch == null) return;
    batch = null;
    run.flush();
  }

  private void share() {
    because("parallel", "");
    run = new PushRun(plan, strand);
  }
}
