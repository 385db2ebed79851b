// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;
import skein.fold.spi.Span;

/** How a fold of a span begins. */
final class SpanStart extends Start {
  /** So few units are not worth a look at the clock: after the first there is but one left. */
  private static final int FEW = 2;

  /** How many units may follow the first two blocks unmeasured, if these took little time. */
  private static final int UNMEASURED = Pace.GROWTH;

  private final Span span;
  private final long size;
  private final boolean watched;
  private final Pace pace;
  private Object acc;
  private long at;             // where the units begin that are left
  private long now;
  private Trace.Piece piece;

  private SpanStart(Plan plan, Span span, Chain chain, Object acc, long start) {
    super(plan, chain, start);
    this.span = span;
    this.acc = acc;
    size = span.size();
    watched = plan.isWatched();
    pace = new Pace(plan.grain, span.minBlock());
    now = start;
  }

  /** Folds {@code span}. Most of what is small ends here, without more than a chain and a look or two at the clock. */
  static Object fold(Plan plan, Span span) {
    long size = span.size();
    Chain chain = plan.newChain(span);
    IFn step = chain.step();
    Object acc = plan.identity.invoke();
    if (plan.grain > 0 || plan.isWatched()) return new SpanStart(plan, span, chain, acc, System.nanoTime()).finish();
    if (size <= FEW) return plan.complete(step, unreduced(span.reduce(step, acc, 0, size)));
    long start = System.nanoTime();
    if (size > UNMEASURED || span.minBlock() > 1 || span.isCoarse()) return new SpanStart(plan, span, chain, acc, start).finish();
    long before = start;
    for (long from = 0, to = 1; ; from = to, to = to == 1 ? Math.min(1 + Pace.SECOND, size) : size) {
      acc = span.reduce(step, acc, from, to);
      if (to == size || acc instanceof Reduced) return plan.complete(step, unreduced(acc));
      long now = System.nanoTime();
      if ((now - before) * size > ALONE_NANOS * (to - from)) {
        return new SpanStart(plan, span, chain, acc, start).foldOn(to, to - from, before, now);
      }
      before = now;
    }
  }

  /** Goes on at {@code at}, when the last {@code units} units have taken from {@code before} to {@code now}. */
  private Object foldOn(long at, long units, long before, long now) {
    this.at = at;
    this.now = now;
    pace.took(units, now - before);
    return worthSharing() && share() ? result : finish();
  }

  /** As {@link #finish}, on another thread than before. */
  private Object goOn() {
    now = System.nanoTime();
    piece = null;
    return finish();
  }

  private Object finish() {
    return foldByBlocks(chain.step()) ? result : plan.complete(chain.step(), unreduced(acc));
  }

  /** Goes on block by block; whether others have helped, and there is a result. */
  private boolean foldByBlocks(IFn step) {
    if ((pace.fixed() ? size > plan.grain : span.isCoarse()) && shared && share()) return true;
    while (at < size) {
      long from = at;
      at += pace.next(size - from);
      acc = span.reduce(step, acc, from, at);
      if (at == size && !watched) break;
      long before = now;
      now = System.nanoTime();
      pace.took(at - from, now - before);
      piece = plan.note(piece, from, at - from, before, now);
      if (acc instanceof Reduced) break;
      if (at < size) pauses.pause();
      if (worthSharing() && share()) return true;
    }
    return false;
  }

  private boolean worthSharing() {
    return questionable(now) && remainingNanos() > WORTH_HELP_NANOS;
  }

  private double remainingNanos() {
    return pace.fixed() ? Double.MAX_VALUE : pace.nanosPerUnit() * (size - at);
  }

  /** Goes on with others; whether that is the end of it. */
  private boolean share() {
    if (leave(this::goOn)) return true;
    int inOrder = plan.firstInOrder(chain.steps());
    if (inOrder == 0) {
      alwaysAlone(plan.inOrderReason());
      return false;
    }
    boolean relay = inOrder <= plan.stageCount();
    if (relay && !pace.fixed() && !worthwhile(inOrder)) return false;
    Strand strand = new Strand(pace, at, size);
    strand.begin(chain.step(), acc);
    strand.piece = piece;
    if (relay) {
      because("in-order", "a transducer needs its elements in order; the ones before it ran in parallel");
      result = new Relay(plan, chain, inOrder, Supply.of(span, strand), strand).execute();
    } else {
      because("parallel", "");
      result = new SpanRun(plan, span, strand).execute();
    }
    return true;
  }

  /** Goes on for one block, to see whether the stages in front take enough of the time; false too if that was the end. */
  private boolean worthwhile(int inOrder) {
    Probe probe = new Probe(plan, chain, inOrder, pace);
    long before = System.nanoTime();
    long from = at;
    at += pace.next(size - from);
    acc = span.reduce(probe, acc, from, at);
    now = System.nanoTime();
    pace.took(at - from, now - before);
    piece = plan.note(piece, from, at - from, before, now);
    if (acc instanceof Reduced) at = size;
    if (at == size) return false;
    boolean yes = probe.worthwhile(now - before);
    if (!yes) alone(now, FRONT_IS_CHEAP);
    return yes;
  }
}
