// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Reduced;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * A run over a feed: whoever is free takes the next elements, one thread at a time, and goes on with its strand as long as
 * nobody else has taken any in between.
 *
 * <p>Invariants, besides those of {@link Run}:
 * <ul>
 * <li>F1: a block's strand is in the list before the next block is taken, so the list is in the feed's order.
 * <li>F2: at most one block for each thread has been taken and not been reduced.
 * <li>F3: nothing that has been read is left while its reader waits for more: others come for it, and who is alone steps on each
 *     element before the next one is read.
 * </ul>
 */
final class FeedRun extends Run {
  /** How many times as long as a combination a block should take. */
  private static final int COMBINE_SHARE = 16;

  private final Tap tap;
  private final int maxBlock;
  private final Pace measured;
  private final Turns turns = new Turns();  // at the tap

  FeedRun(Plan plan, Feed feed, Strand root) {
    super(plan);
    tap = new Tap(feed);
    maxBlock = feed.maxBlock();
    measured = root.pace.copy();
    append(root);
  }

  @Override
  void workOnRoot() {
    work(root());
  }

  @Override
  void workOnOthers() {
    work(null);
  }

  private void work(Strand mine) {
    Worker worker = new Worker(mine, measured.copy());
    turns.enter();
    try {
      while (!failed && worker.stepAlone() && worker.advance()) pause();
    } finally {
      turns.leave();
    }
  }

  @Override
  void endAfter(Strand strand) {
    synchronized (lock) {
      tap.shut();
      if (!plan.unordered) dropAfter(strand);
    }
  }

  /** What one thread does. */
  private final class Worker {
    private Strand strand;  // null: none yet
    private final Pace pace;

    Worker(Strand strand, Pace pace) {
      this.strand = strand;
      this.pace = pace;
    }

    /** Steps on element by element as long as nobody else is there; whether there may be more. */
    boolean stepAlone() {
      if (strand == null || !turns.alone() || !turns.take()) return true;
      try {
        for (int n; turns.alone() && isTail(strand) && (n = pace.nextAlone()) > 1; pause()) {
          if (!reduce(tap.live(n))) return false;
        }
        return true;
      } finally {
        turns.end();
      }
    }

    /** Takes a block and reduces it; whether there may be more. */
    boolean advance() {
      Strand before = strand;
      Span block = takeBlock();
      if (before != null && before != strand) complete(before);
      if (block == null) {
        if (strand != null && strand == before) complete(strand);
        return false;
      }
      if (strand != before) summonAnother();
      return (strand == before || attempt(strand, this::begin)) && reduce(block);
    }

    private void begin() {
      strand.begin(plan.newChain(null).step(), plan.identity.invoke());
    }

    private Span takeBlock() {
      Span ready = turns.await(this::takeReady, COMBINE_SHARE * combineNanos);
      if (ready != null) return ready;
      try {
        Span block = next();
        if (block != null) place();
        return block;
      } finally {
        turns.end();
      }
    }

    /** What whoever has the turn has read so far, or null. */
    private Span takeReady() {
      synchronized (lock) {
        Span ready = tap.ready();
        if (ready != null) place();
        return ready;
      }
    }

    /** Sees to it that what was taken from the feed just now is this strand's. */
    private void place() {
      synchronized (lock) {
        if (strand != null && (plan.unordered || isTail(strand))) return;
        strand = new Strand(pace, -1, -1);
        // Since it was taken a strand to the left may have been reduced.
        if (tap.isShut()) strand.drop(); else append(strand);
      }
    }

    private Span next() {
      try {
        return tap.next(turns.alone() ? 1 : blockSize());
      } catch (Throwable t) {  // it counts if what comes before does not end the fold
        synchronized (lock) {
          if (!tap.isShut()) sourceThrew(t);
        }
        return null;
      }
    }

    private int blockSize() {
      if (pace.fixed()) return (int) Math.min(pace.next(Long.MAX_VALUE), Integer.MAX_VALUE);
      long forCombining = (long) (COMBINE_SHARE * combineNanos / Math.max(1, pace.nanosPerUnit()));
      return (int) Math.max(1, Math.min(maxBlock, Math.max(pace.next(Long.MAX_VALUE), forCombining)));
    }

    private boolean reduce(Span block) {
      long before = System.nanoTime();
      if (!attempt(strand, () -> strand.acc = block.reduce(strand.step, strand.acc, 0, block.size()))) return false;
      long units = block.size();
      if (units > 0) {
        long now = System.nanoTime();
        pace.took(units, now - before);
        plan.note(strand, units, before, now);
        if (!(strand.acc instanceof Reduced reduced)) return true;
        strand.acc = reduced.deref();
        endAfter(strand);
      } else if (!tap.isShut()) {
        return true;  // a block may be empty, and more come
      }
      complete(strand);
      return false;
    }
  }
}
