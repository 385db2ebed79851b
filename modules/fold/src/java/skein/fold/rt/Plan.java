// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import java.util.concurrent.Executor;
import skein.fold.spi.Span;

/**
 * What a fold does, and how: functions and options. Immutable but for the builder's setters, which are for
 * whoever makes it, and the caller's pauses.
 *
 * <p>The step that elements meet is a chain: each transducer applied to the one after it, the last to the fold's own step.
 */
public final class Plan {
  final IFn identity;
  final IFn combine;
  private final IFn[] stages;
  private IFn step;
  private final int inOrderFrom;
  private boolean completes;

  int parallelism = Crew.PROCESSORS;
  long grain;
  boolean unordered;
  Executor pool;
  Progress progress;
  Trace trace;
  private Pauses pauses;  // null: it is over before it needs any

  /**
   * @param identity of no argument: an accumulator to begin with
   * @param stages transducers, the first one first
   * @param step a reducing function; called with one argument to complete a strand if it has that arity
   * @param combine of two accumulators, neighbours
   * @param stepInOrder whether {@code step} has to see all elements in order
   */
  public Plan(IFn identity, IFn[] stages, IFn step, IFn combine, boolean stepInOrder) {
    this.identity = identity;
    this.combine = combine;
    this.stages = stages;
    boolean completing = Stages.hasArityOne(step);
    completes = stages.length > 0 || completing;
    this.step = completing || stages.length == 0 ? step : new CompletingStep(step);
    inOrderFrom = stepInOrder ? stages.length : Integer.MAX_VALUE;
  }

  /** At most {@code n} threads, the caller's included; the machine's processors if it is not called. */
  public Plan parallelism(int n) {
    parallelism = n;
    return this;
  }

  /** Blocks of {@code n} units, and no serial start; 0 for measured blocks. */
  public Plan grain(long n) {
    grain = n;
    return this;
  }

  /** The step's arity of one, if it has one, means something else than completion. */
  public Plan neverComplete() {
    if (stages.length > 0) step = new CompletingStep(rawStep()); else completes = false;
    return this;
  }

  /** Whether accumulators may be combined in any order. */
  public Plan unordered(boolean yes) {
    unordered = yes;
    return this;
  }

  /** Where helpers run, if not in the engine's own crew. */
  public Plan pool(Executor executor) {
    pool = executor;
    return this;
  }

  /** Whom to tell how far the fold is. */
  public Plan progress(Progress to) {
    progress = to;
    return this;
  }

  /** Where to write down what ran where. */
  public Plan trace(Trace to) {
    trace = to;
    return this;
  }

  int stageCount() {
    return stages.length;
  }

  IFn stage(int i) {
    return stages[i];
  }

  IFn rawStep() {
    return step instanceof CompletingStep wrapped ? wrapped.step : step;
  }

  /** A fresh chain: at i the step as the elements that leave stage i - 1 meet it, at the end the fold's own step. */
  private IFn[] chain() {
    return chain(stages.length, step);
  }

  /** A fresh chain of the first {@code n} stages, in front of {@code last}. */
  IFn[] chain(int n, IFn last) {
    IFn[] chain = new IFn[n + 1];
    chain[n] = last;
    for (int i = n - 1; i >= 0; i--) chain[i] = (IFn) stages[i].invoke(chain[i + 1]);
    return chain;
  }

  /** A fresh chain for one strand, for the elements of {@code span}, or of any kind if that is null. */
  Chain newChain(Span span) {
    IFn[] steps = chain();
    PrimitiveStep step = span instanceof PrimitiveSpan numbers && numbers.size() >= Primitives.MIN_ELEMENTS
        ? Primitives.stepFor(this, steps, numbers.doubles, numbers.exact)
        : null;
    return new Chain(steps, step == null ? steps[0] : step);
  }

  /** The first stage that has to see its elements in order; {@code stageCount()} for the step, or more for none. */
  int firstInOrder(IFn[] chain) {
    for (int i = 0; i < stages.length; i++) {
      if (Stages.isOrderDependent(stages[i], chain[i], chain[i + 1])) return i;
    }
    return inOrderFrom;
  }

  /**
   * The first stage that depends on order or stops early, for which there is no unordered answer; how many stages there
   * are for the step, or more for none.
   */
  public int firstThatNeedsOrder() {
    IFn[] chain = chain();
    for (int i = 0; i < stages.length; i++) {
      if (Stages.stopsEarly(stages[i]) || Stages.isOrderDependent(stages[i], chain[i], chain[i + 1])) return i;
    }
    return inOrderFrom;
  }

  /** Why a chain that needs order from its very beginning is serial. */
  String inOrderReason() {
    return stages.length == 0 ? "the step needs its elements in order" : "the first transducer needs its elements in order";
  }

  /** What the caller does between blocks, since {@code now} if nothing has been done yet. */
  Pauses pauses(long now) {
    if (pauses == null) pauses = new Pauses(now);
    return pauses;
  }

  /** The fold is over. By the caller. */
  void end() {
    if (pauses != null) pauses.end();
  }

  /** Whether somebody wants to know what the fold does. */
  boolean isWatched() {
    return progress != null || trace != null;
  }

  /** Tells whoever wants to know that a block of {@code units} units of {@code strand} is done. */
  void note(Strand strand, long units, long before, long now) {
    strand.piece = note(strand.piece, strand.from, units, before, now);
  }

  /**
   * As above, for a strand whose blocks so far are written down in {@code piece}, if any and if anybody wants that.
   *
   * @return where to write down the next one
   */
  Trace.Piece note(Trace.Piece piece, long from, long units, long before, long now) {
    if (progress != null) progress.add(units, now);
    if (trace == null) return null;
    if (piece == null) piece = trace.piece(from);
    piece.add(units, now - before);
    return piece;
  }

  Object complete(IFn chained, Object acc) {
    return completes ? chained.invoke(acc) : acc;
  }
}
