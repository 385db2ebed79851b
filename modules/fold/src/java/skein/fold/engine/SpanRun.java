// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.IFn;
import java.util.concurrent.locks.LockSupport;
import skein.fold.memory.Fused;
import skein.fold.spi.Span;

/** A run over a span: a thread without work splits off the later half of the part with the most units left. */
final class SpanRun extends Run {
    /** Work that takes less than this stays with its owner: splitting it off would cost as much. */
    private static final double WORTH_SPLITTING_NANOS = 10_000;

    private static final int SPINS = 200;
    private static final long NAP_NANOS = 20_000;
    /** The value that {@link #split} returns if there may be something to split soon. */
    private static final Part LATER = new Part(null);

    private final Span span;
    private final IFn rootStep; // the caller's

    SpanRun(Fold fold, Span span, Part root) {
        super(fold, root);
        this.span = span;
        rootStep = root.step;
    }

    @Override
    void workOnRoot(Part root) {
        work(root);
    }

    @Override
    void work() {
        for (int waits = 0; ; ) {
            Part part = split();
            if (part == null) return;
            if (part == LATER) {
                await(waits++);
            } else {
                waits = 0;
                invite();
                if (attempt(part, () -> begin(part))) work(part);
            }
        }
    }

    private void begin(Part part) {
        part.step = Fused.like(rootStep, fold.chain());
        part.acc = fold.identity.invoke();
    }

    private void await(int waits) {
        if (waits < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(this, NAP_NANOS);
            pause();
        }
    }

    private void work(Part part) {
        for (long now = System.nanoTime(), end; (end = part.take(now)) >= 0; pause()) {
            long to = end;
            if (!attempt(part, () -> part.acc = span.reduce(part.step, part.acc, part.from, to))) return;
            now = note(part, to - part.from, now);
            endIfReduced(part);
        }
        complete(part);
    }

    /** Splits units off the part with the most left. Returns null if there is nothing to do. */
    private Part split() {
        synchronized (lock) {
            Part victim = hasFailed() ? null : richest();
            if (victim == null) return null;
            if (victim.remainingNanos(System.nanoTime()) < WORTH_SPLITTING_NANOS) return LATER;
            Part later = victim.split();
            if (later == null) return LATER;
            insertAfter(victim, later);
            return later;
        }
    }

    /** Returns the part with the most units that nobody has taken, or null if all are taken. Under the lock. */
    private Part richest() {
        Part richest = null;
        long most = 0;
        for (Part p = head(); p != null; p = p.right) {
            long remaining = p.done ? 0 : p.remaining();
            if (remaining > most) {
                most = remaining;
                richest = p;
            }
        }
        return richest;
    }
}
