// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Reduced;
import java.util.concurrent.locks.LockSupport;
import skein.fold.spi.Span;

/** A run over a span: who has nothing to do cuts off the later half of the strand with the most left. */
final class SpanRun extends Run {
  /** Work that takes less than this is left to whoever has it: a strand of its own would cost as much. */
  private static final double WORTH_CUTTING_NANOS = 10_000;
  private static final int SPINS = 200;
  private static final long NAP_NANOS = 20_000;
  /** What {@link #cut} answers when there may be something to cut in a moment. */
  private static final Strand LATER = new Strand(null, 0, 0);

  private final Span span;

  /** @param root the caller's strand, which may have come some way already */
  SpanRun(Plan plan, Span span, Strand root) {
    super(plan);
    this.span = span;
    append(root);
  }

  @Override
  void workOnRoot() {
    work(root());
  }

  @Override
  void workOnOthers() {
    for (int waits = 0; ; ) {
      Strand strand = cut(null);
      if (strand == null) return;
      if (strand == LATER) {
        await(waits++);
      } else {
        waits = 0;
        summonAnother();
        if (attempt(strand, () -> strand.begin(plan.newChain(span).step(), plan.identity.invoke()))) work(strand);
      }
    }
  }

  private void await(int waits) {
    if (waits < SPINS) {
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(this, NAP_NANOS);
      pause();
    }
  }

  private void work(Strand strand) {
    long now = System.nanoTime();
    while (!stopped(strand)) {
      long end = strand.take(now);
      if (end < 0) {
        if (plan.unordered && cut(strand) == strand) continue;
        complete(strand);
        return;
      }
      if (!attempt(strand, () -> strand.acc = span.reduce(strand.step, strand.acc, strand.from, end))) return;
      long before = now;
      now = System.nanoTime();
      plan.note(strand, end - strand.from, before, now);
      if (strand.acc instanceof Reduced reduced) {
        strand.acc = reduced.deref();
        strand.close();
        endAfter(strand);
      }
      pause();
    }
  }

  @Override
  void endAfter(Strand strand) {
    if (plan.unordered) closeAll(); else dropAfter(strand);
  }

  /** Cuts a part off the strand with the most left, for {@code into} or else as a new strand to the right of it. */
  private Strand cut(Strand into) {
    synchronized (lock) {
      Strand victim = failed ? null : richest();
      if (victim == null) return null;
      if (victim.remainingNanos(System.nanoTime()) < WORTH_CUTTING_NANOS) return LATER;
      Strand cut = victim.cut();
      if (cut == null) return LATER;
      if (into == null) {
        insertAfter(victim, cut);
        return cut;
      }
      into.refill(cut);
      return into;
    }
  }
}
