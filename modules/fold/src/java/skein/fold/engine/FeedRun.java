// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * A run over a feed: a free thread takes its turn at the feed, reads a block, and works on it. It goes on with its part as long as no
 * other thread has read in between.
 *
 * <p>If a stage needs its elements in order, the run is <em>in order</em>: each block becomes a part, whose accumulator is a list of what
 * the stages in front let through. The first part alone has the fold's accumulator. To combine it with its neighbour
 * is to feed it the neighbour's list through the rest of the chain.
 *
 * <p>Invariants, besides those of {@link Run}:
 * <ul>
 * <li>FR1: a block's part is in the list before the next block is read, so the list is in the feed's order.
 * <li>FR2: each thread has at most one block that is read and not reduced; in order there are at most {@link #window} parts.
 * <li>FR3: no element lies unused while the reader waits for another one. A thread that has waited for its turn takes the elements read
 *     so far. As long as there is no helper, the caller steps on each element before it reads the next.
 * </ul>
 */
final class FeedRun extends Run {
    /** How many times as long as a combination a block should take. */
    private static final int COMBINE_SHARE = 16;
    /** Most turns take a few microseconds, in which a thread can't even fall asleep. */
    private static final int SPINS = 200;
    /** How long to wait for a turn before taking what the reader has read. */
    private static final long PATIENCE_NANOS = 4_000_000;

    /** Collects what the stages in front let through. */
    private static final IFn COLLECT = new AFn() {
        @Override
        @SuppressWarnings("unchecked")
        public Object invoke(Object items, Object x) {
            ((ArrayList<Object>) items).add(x);
            return items;
        }
    };

    private final Start alone; // what the caller was before
    private final Feed feed;
    private final int front; // how many stages are in front of the one that needs order; -1: none does
    private final int window;
    private final Pace measured;
    private final Claim source = new Claim(); // of the thread that reads; dropped when nobody wants more
    private final ReentrantLock turn = new ReentrantLock(); // held by the thread that reads

    /** @param front how many stages are in front of the first one that needs order, or -1 if none does */
    FeedRun(Start alone, int front) {
        super(alone.fold, alone.root);
        this.alone = alone;
        this.front = front;
        feed = alone.feed;
        measured = alone.root.pace.copy();
        window = 4 * fold.options.parallelism();
    }

    private boolean isInOrder() {
        return front >= 0;
    }

    @Override
    void shut() {
        source.drop();
    }

    /** Returns whether nobody wants more of the source. */
    private boolean isShut() {
        return source.isDropped();
    }

    @Override
    void workOnRoot(Part root) throws InterruptedException {
        if (!stepAlone(root)) return;
        if (isInOrder()) complete(root);
        work(new Worker(isInOrder() ? null : root));
    }

    @Override
    void work() throws InterruptedException {
        work(new Worker(null));
    }

    private void work(Worker worker) throws InterruptedException {
        while (!hasFailed() && worker.advance()) pause();
    }

    /**
     * Steps on element after element until there is a helper. Dear elements are left to the worker, which does not hold its turn
     * while it steps. Returns whether {@code root} goes on.
     */
    private boolean stepAlone(Part root) {
        if (!turn.tryLock()) return true;
        try {
            for (int n; !isHelped() && !isShut() && (n = root.pace.nextAlone()) > 1; pause()) {
                int most = n;
                boolean goesOn = attempt(root, () -> {
                    if (alone.step(root.step, most) < 0) endAfter(root);
                    endIfReduced(root);
                });
                if (!goesOn) return false;
            }
            return true;
        } finally {
            turn.unlock();
        }
    }

    /** What one thread does. */
    private final class Worker {
        private Part part; // null: none yet
        private final Pace pace;

        Worker(Part part) {
            this.part = part;
            pace = part == null ? measured.copy() : part.pace;
        }

        /** Takes a block and reduces it. Returns whether there may be more. */
        boolean advance() throws InterruptedException {
            Part before = part;
            Span block = takeBlock();
            if (before != null && (block == null || before != part)) complete(before);
            boolean more = block != null && workOn(part, part != before, block);
            if (!more || isInOrder()) part = null;
            return more;
        }

        /** Works on a block of {@code part}, which may be new. Returns whether there may be more. */
        private boolean workOn(Part part, boolean isNew, Span block) {
            if (isNew) invite();
            if (isNew && !attempt(part, () -> beginPart(part))) return false;
            long before = System.nanoTime();
            if (!attempt(part, () -> reduce(part, block))) return false;
            if (block.size() > 0) pace.took(block.size(), note(part, block.size(), before) - before);
            if (isInOrder()) complete(part);
            else endIfReduced(part);
            return true; // as far as this thread knows
        }

        private Span takeBlock() throws InterruptedException {
            for (int tries = 0; !turn.tryLock(); tries++) {
                if (tries < SPINS) {
                    Thread.onSpinWait();
                } else if (turn.tryLock(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
                    break;
                } else {
                    Span unused = takeUnused();
                    if (unused != null) return unused;
                }
            }
            try {
                return read();
            } finally {
                turn.unlock();
            }
        }

        /** Takes the elements that the thread whose turn it is has read so far, or returns null. */
        private Span takeUnused() {
            synchronized (lock) {
                Span unused = isShut() || !hasRoom() ? null : feed.ready();
                if (unused != null) place();
                return unused;
            }
        }

        /** Reads a block, or returns null. It is this thread's turn. */
        private Span read() throws InterruptedException {
            synchronized (lock) {
                while (!hasRoom() && !isShut()) lock.wait();
            }
            if (!source.enter()) return null;
            Span block = null;
            Throwable thrown = null;
            try {
                block = feed.next(isHelped() ? blockSize() : 1);
            } catch (Throwable t) { // it counts if what comes before does not end the fold
                thrown = t;
            } finally {
                source.leave();
            }
            synchronized (lock) {
                if (isShut()) return null;
                if (thrown != null) throwAfter(tail(), thrown);
                else if (block == null) shut();
                else place();
            }
            return block;
        }

        private boolean hasRoom() {
            if (!isInOrder()) return true;
            int n = 0;
            for (Part p = head(); p != null && n < window; p = p.right) n++;
            return n < window;
        }

        /** Sees to it that what was read just now belongs to this thread's part. Under the lock. */
        private void place() {
            if (part != null && (fold.options.unordered() || part == tail())) return;
            part = new Part(pace);
            insertAfter(tail(), part);
        }

        private void beginPart(Part part) {
            part.step = isInOrder() ? fold.chain(front, COLLECT)[0] : fold.stepOf(fold.chain(), null);
            part.acc = isInOrder() ? new ArrayList<>() : fold.identity.invoke();
        }

        private int blockSize() {
            long n = pace.next(Long.MAX_VALUE);
            if (!pace.isFixed())
                n = Math.max(n, (long) (COMBINE_SHARE * combineNanos() / Math.max(1, pace.nanosPerUnit())));
            return Math.clamp(n, 1, feed.maxBlock());
        }

        private void reduce(Part part, Span block) {
            if (isInOrder()) collect(part, block);
            else part.acc = block.reduce(part.step, part.acc, 0, block.size());
        }

        /** Feeds {@code block} to the stages in front, which put what they let through into the part's list. */
        private void collect(Part part, Span block) {
            try {
                if (block.reduce(part.step, part.acc, 0, block.size()) instanceof Reduced) endAfter(part);
            } catch (Throwable t) { // it counts when the elements before have had their turn
                if (isCancellation(part, t)) throw t;
                throwAfter(part, t);
            }
        }
    }

    // In order.

    @Override
    Object completed(Part part) {
        return isInOrder() ? part.acc : super.completed(part);
    }

    @Override
    boolean isCombinable(Part part) {
        return !isInOrder() || part == head();
    }

    @Override
    Object combine(Object acc, Object right) {
        if (!isInOrder()) return super.combine(acc, right);
        for (Object item : (ArrayList<?>) right) {
            acc = alone.chain[front].invoke(acc, item);
            if (acc instanceof Reduced) return acc;
        }
        return acc;
    }

    @Override
    Object result() {
        Object acc = super.result();
        return isInOrder() ? fold.complete(alone.chain[0], acc) : acc;
    }
}
