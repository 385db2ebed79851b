// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.AFn;
import clojure.lang.IFn;

/**
 * A step that measures how much of a fold's time is spent in what others could do: the chain, or the stages in front of the first
 * one that needs order. Its elements are stepped on as they come, so that nothing is read ahead for it.
 *
 * <p>Reading the clock takes as long as many a step. So a sample of the calls is timed, which becomes sparser with their number, and
 * how long the clock takes is measured with each.
 */
final class Probe extends AFn {
  /** After so many calls not every one is timed. */
  private static final int DENSE = 16;
  /** How often the clock is read for one call that is timed. */
  private static final int READINGS = 3;

  /** What the chain goes on with, where order is needed. */
  private final class Rest extends AFn {
    private final IFn step;

    Rest(IFn step) {
      this.step = step;
    }

    @Override
    public Object invoke(Object acc, Object x) {
      if (!timing) return step.invoke(acc, x);
      long before = System.nanoTime();
      long start = System.nanoTime();
      Object result = step.invoke(acc, x);
      inRest += System.nanoTime() - before;
      clock += start - before;
      return result;
    }
  }

  private final IFn step;
  private final Pace pace;
  private final double nanosPerUnit;
  private long calls;
  private long nextTimed;
  private boolean timing;
  private long inRest;        // of the call that is being timed, with two of the three readings of the clock
  private long clock;         // of the call that is being timed: for one of the three
  private double nanos;       // in the part of the chain that is of interest
  private double clockNanos;  // for all readings

  /**
   * @param inOrder the first stage of {@code chain} that needs order, or more than there are stages
   * @param pace how long units have taken so far, and, once they are done, the ones that this sees
   */
  Probe(Plan plan, Chain chain, int inOrder, Pace pace) {
    this.pace = pace;
    nanosPerUnit = pace.nanosPerUnit();
    step = inOrder > plan.stageCount() ? chain.steps()[0] : plan.chain(inOrder, new Rest(chain.steps()[inOrder]))[0];
  }

  @Override
  public Object invoke(Object acc, Object x) {
    return calls++ < nextTimed ? step.invoke(acc, x) : timed(acc, x);
  }

  private Object timed(Object acc, Object x) {
    int weight = (int) (1 + nextTimed / DENSE);
    nextTimed += weight;
    timing = true;
    inRest = 0;
    clock = 0;
    long before = System.nanoTime();
    long start = System.nanoTime();
    Object result = step.invoke(acc, x);
    long end = System.nanoTime();
    timing = false;
    clock += start - before;
    clockNanos += READINGS * clock;
    nanos += (double) weight * Math.max(0, end - start - inRest - clock);
    return result;
  }

  /** Whether it is worthwhile for others to help, going by a block that took {@code total} nanoseconds. */
  boolean worthwhile(long total) {
    double all = Math.max(1, total - clockNanos);
    // A step that is timed takes longer than one in a loop, and even the others have to come by here.
    double unprobed = nanosPerUnit == 0 ? all : total * nanosPerUnit / pace.nanosPerUnit();
    double share = Math.min(1, nanos / all);
    return calls > 0 && share >= Start.WORTH_SHARE && share * Math.min(all, unprobed) / calls >= Start.WORTH_ELEMENT_NANOS;
  }
}
