// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;

/**
 * A part of a fold with an accumulator of its own. Of its units, nobody has taken [at, end) yet.
 *
 * <pre>
 *   RUNNING -> DONE      // its units are used up; the accumulator waits for a neighbour's
 *   RUNNING -> THROWN    // done, with an exception instead; it counts if the strands to the left don't end the fold
 *   DONE -> (unlinked)   // a neighbour took the accumulator
 *   any -> dropped       // a strand to the left was reduced or has thrown: nobody wants this one
 * </pre>
 */
final class Strand extends Claim {
  final Pace pace;

  IFn step;                 // the owner's
  Object acc;               // the owner's; once done, guarded by the run
  boolean done;             // guarded by the run
  Throwable thrown;         // guarded by the run; done, but with this
  Strand left;              // guarded by the run
  Strand right;             // guarded by the run

  long from;                // the owner's; where its present block begins

  private long at;          // guarded by this
  private long end;         // guarded by this
  private long blockUnits;  // guarded by this
  private long blockStart;  // guarded by this; when the owner took its present block
  Trace.Piece piece;        // the owner's; null when nobody traces

  Strand(Pace pace, long at, long end) {
    this.pace = pace;
    this.at = at;
    this.end = end;
  }

  /** Ends the owner's block, if any, at time {@code now}, and takes another: [from, returned), or -1 if there is none. */
  synchronized long take(long now) {
    if (blockUnits > 0) pace.took(blockUnits, now - blockStart);
    blockUnits = 0;
    from = at;
    if (end <= at) return -1;
    blockUnits = pace.next(end - at);
    blockStart = now;
    return at += blockUnits;
  }

  /** Takes a block sized by {@code other}, whose cost is measured elsewhere; returns where it ends, or -1. */
  synchronized long take(Pace other) {
    blockUnits = 0;
    if (end <= at) return -1;
    return at += other.next(end - at);
  }

  /** Where the next block begins. */
  synchronized long position() {
    return at;
  }

  /** How many units nobody has taken. */
  synchronized long remaining() {
    return end - at;
  }

  /** How long the units that nobody has taken should take, going by the present block if it is slower than expected. */
  synchronized double remainingNanos(long now) {
    if (pace.fixed()) return Double.MAX_VALUE;
    double perUnit = pace.nanosPerUnit();
    if (blockUnits > 0) perUnit = Math.max(perUnit, (double) (now - blockStart) / blockUnits);
    return perUnit * (end - at);
  }

  /** Gives away the later half of what nobody has taken, or null if there is nothing. */
  synchronized Strand cut() {
    if (end <= at) return null;
    Strand cut = new Strand(pace.copy(), at + (end - at) / 2, end);
    end = cut.at;
    return cut;
  }

  /** Takes over what was cut from another strand; unordered folds only. */
  synchronized void refill(Strand cut) {
    at = cut.at;
    end = cut.end;
  }

  /** What the owner begins with. */
  void begin(IFn chained, Object identity) {
    step = chained;
    acc = identity;
  }

  /** Leaves out what nobody has taken. */
  synchronized void close() {
    end = at;
  }
}
