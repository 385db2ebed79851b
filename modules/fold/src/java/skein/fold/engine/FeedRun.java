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
 * A run over a feed: a free thread takes its turn at the feed, reads a block, and works on it. It continues its part as long as no
 * other thread has read in between.
 *
 * <p>If a stage needs its elements in order, the run is <em>in order</em>: each block becomes a part. Its accumulator is a list of the
 * elements that come out of the stages before that one. Only the first part has the fold's accumulator. Combining it with its neighbour
 * means passing the neighbour's list through the rest of the chain.
 *
 * <p>Invariants, besides those of {@link Run}:
 * <ul>
 * <li>FR1: a block's part is in the list before the next block is read, so the list is in the feed's order.
 * <li>FR2: each thread has at most one block that is read and not reduced; in order there are at most {@link #window} parts.
 * <li>FR3: no element stays unused while the reader waits for another one. A thread that has waited for its turn takes the elements read
 *     so far. As long as there is no helper, the caller steps on each element before it reads the next.
 * </ul>
 */
final class FeedRun extends Run {
    /** A block should take this many times as long as a combination. */
    private static final int COMBINE_SHARE = 16;
    /** How long to spin for a turn: most turns take a few microseconds, less than a thread takes to park. */
    private static final int SPINS = 200;
    /** How long to wait for a turn before taking what the reader has read. */
    private static final long PATIENCE_NANOS = 4_000_000;

    /** Collects the elements that come out of the stages in front. */
    private static final IFn COLLECT = new AFn() {
        @Override
        @SuppressWarnings("unchecked")
        public Object invoke(Object items, Object x) {
            ((ArrayList<Object>) items).add(x);
            return items;
        }
    };

    private final Start alone; // the caller's fold before it became a run
    private final Feed feed;
    private final int front; // how many stages are in front of the one that needs order; -1: none does
    private final int window;
    private final Pace measured;
    private final Claim source = new Claim(); // of the thread that reads; dropped when no more elements are wanted
    private final ReentrantLock turn = new ReentrantLock(); // held by the thread that reads

    /** @param front how many stages are in front of the first one that needs order, or -1 if none does */
    FeedRun(Start alone, int front) {
        super(alone.fold, alone.root);
        this.alone = alone;
        this.front = front;
        feed = alone.feed;
        measured = alone.root.pace.copy();
        window = 4 * fold.options.workers();
    }

    private boolean isInOrder() {
        return front >= 0;
    }

    @Override
    void shut() {
        source.drop();
    }

    /** Returns whether no more elements of the source are wanted. */
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
     * Steps on element after element until there is a helper. Expensive elements are left to the worker, which does not hold its
     * turn while it steps. Returns whether {@code root} continues.
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

    /** The work of one thread. */
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
            return true; // this thread can't know that there are no more
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
            } catch (Throwable t) { // it counts if no earlier element ends the fold
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

        /** Adds the elements just read to this thread's part, or to a new one. Called under the lock. */
        private void place() {
            if (part != null && (!fold.options.ordered() || part == tail())) return;
            part = new Part(pace);
            insertAfter(tail(), part);
        }

        private void beginPart(Part part) {
            part.step = isInOrder() ? fold.chain(front, COLLECT)[0] : fold.chain()[0];
            part.acc = isInOrder() ? new ArrayList<>() : fold.identity.invoke();
        }

        private int blockSize() {
            long n = pace.next(Long.MAX_VALUE);
            if (!pace.isFixed())
                n = Math.max(n, (long) (COMBINE_SHARE * combineNanos / Math.max(1, pace.nanosPerUnit())));
            return Math.clamp(n, 1, feed.maxBlock());
        }

        private void reduce(Part part, Span block) {
            if (isInOrder()) collect(part, block);
            else part.acc = block.reduce(part.step, part.acc, 0, block.size());
        }

        /** Feeds {@code block} to the stages in front. Their results go to the part's list. */
        private void collect(Part part, Span block) {
            try {
                if (block.reduce(part.step, part.acc, 0, block.size()) instanceof Reduced) endAfter(part);
            } catch (Throwable t) { // it counts after the earlier elements
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
