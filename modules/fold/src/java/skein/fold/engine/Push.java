// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.IReduceInit;
import clojure.lang.Reduced;
import clojure.lang.Util;
import java.util.ArrayDeque;
import skein.fold.memory.Batch;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * How a fold of a source goes that pushes its elements into a function, on the caller's stack. First the caller steps on each. If helpers
 * are worth their cost it asks for them, and when one has come it collects the elements in blocks, which a short queue makes a feed of.
 */
final class Push extends Start {
    /** How many elements may be stepped on between two looks at the clock. */
    private static final int MAX_UNLOOKED = 1024;
    /** How many elements to probe, to see where their time goes. */
    private static final int PROBED = 64;

    private static final int MAX_BLOCK = 1024;
    private static final int MAX_QUEUED = 2; // blocks for each helper

    /** Blocks that the caller has collected, for helpers to read. Of the one that it collects they take what is there. */
    private static final class Queue implements Feed {
        private static final int SPINS = 200;
        private static final long PATIENCE_MILLIS = 1;
        private static final long MAX_PATIENCE_MILLIS = 16;

        private final ArrayDeque<Span> blocks = new ArrayDeque<>(); // guarded by this
        private volatile int size; // written under this
        private volatile boolean closed; // written under this
        private volatile Batch collected; // written by the caller
        private Throwable thrown; // what the source has thrown at its end; guarded by this
        private final Thread caller = Thread.currentThread();

        /** Adds what is left of the block that is being collected; null if others have taken it. */
        synchronized void add(Span block) {
            collected = null;
            if (block == null) return;
            blocks.addLast(block);
            size = blocks.size();
            notifyAll();
        }

        synchronized void end(Throwable t) {
            thrown = t;
            closed = true;
            notifyAll();
        }

        /** Returns whether the calling thread must not wait: it is the one that collects. */
        private boolean isCollecting() {
            return !closed && Thread.currentThread() == caller;
        }

        @Override
        public Span next(int n) {
            if (size == 0 && isCollecting()) return Batch.EMPTY;
            // A caller that needs helpers will have collected a block before one could fall asleep.
            for (int i = 0; size == 0 && !closed && i < SPINS; i++) Thread.onSpinWait();
            try {
                return await();
            } catch (InterruptedException e) {
                throw Util.sneakyThrow(e);
            }
        }

        private synchronized Span await() throws InterruptedException {
            for (long patience = PATIENCE_MILLIS;
                    size == 0 && !closed;
                    patience = Math.min(2 * patience, MAX_PATIENCE_MILLIS)) {
                wait(patience);
                Batch batch = collected;
                Span ready = size > 0 || batch == null ? null : batch.take();
                if (ready != null) return ready;
            }
            Span block = blocks.pollFirst();
            size = blocks.size();
            if (block == null && thrown != null) throw Util.sneakyThrow(thrown);
            return block;
        }

        @Override
        public Span ready() {
            return isCollecting() ? Batch.EMPTY : null;
        }

        @Override
        public boolean exhausted() {
            return closed && size == 0;
        }
    }

    /** The function that the source pushes its elements into. */
    private final class Receiver extends AFn {
        @Override
        public Object invoke(Object acc) {
            return acc; // some sources complete what they reduce
        }

        @Override
        public Object invoke(Object ignored, Object x) {
            if (isAlone()) stepOn(x);
            else collect(x);
            return ended() ? new Reduced(null) : null;
        }
    }

    private final Queue queue = new Queue();
    private final Claim producer = new Claim(); // of the caller while it is in the source
    private FeedRun run; // null while alone
    private FeedRun.Worker worker; // the caller's; null until the first block is collected
    private CostProbe probe; // null but while it is measured whether to share
    private Batch batch; // what is being collected
    private long since = System.nanoTime(); // when the elements were counted last
    private long count; // elements since then
    private int untilLook = 1;
    private int probed; // the first stage that needs order, when there is a probe

    Push(Fold fold) {
        super(fold, null, null);
    }

    /** Returns whether all that was pushed so far is on the root. After the first block it is not, even if all helpers have left. */
    private boolean isAlone() {
        return worker == null && (run == null || !run.isHelped() && !root.pace.isFixed());
    }

    /** Returns whether the source should stop. */
    private boolean ended() {
        return run != null && run.isShut() || worker == null && root.acc instanceof Reduced;
    }

    Object fold(IReduceInit pusher) {
        int front = root.pace.isFixed() ? front() : 0;
        if (front > 0) share(front);
        producer.enter();
        Throwable thrown = null;
        try {
            pusher.reduce(new Receiver(), null);
        } catch (Throwable t) { // it counts if what the source has pushed before does not end the fold
            if (run == null) throw t;
            // What has interrupted the caller, and what the step on the root has thrown, does not depend on others.
            if (worker == null || t instanceof InterruptedException && !producer.isInterrupted()) run.fail(t);
            thrown = t;
        }
        producer.leave();
        note();
        if (run == null) return fold.complete(root.step, unreduced(root.acc));
        finish(thrown);
        return run.execute();
    }

    /** Ends what the helpers read. */
    private void finish(Throwable thrown) {
        if (batch != null) queue.add(batch.take());
        if (worker == null && root.acc instanceof Reduced reduced) {
            root.acc = reduced.deref();
            run.endAfter(root);
        }
        queue.end(thrown);
    }

    /** Steps on {@code x}. Called while no helper has come. */
    private void stepOn(Object x) {
        count++;
        root.acc = (probe == null ? root.step : probe).invoke(root.acc, x);
        if (--untilLook == 0 && !(root.acc instanceof Reduced)) look();
    }

    /** Looks at the clock, and says when to look again. */
    private void look() {
        long before = since;
        note();
        untilLook = (int) Math.min(root.pace.next(Long.MAX_VALUE), MAX_UNLOOKED);
        pauses.pause();
        if (run != null) return;
        if (probe != null) {
            boolean worthwhile = probe.isWorthwhile(since - before);
            probe = null;
            if (worthwhile) share(probed);
            else stayAlone(probed);
        } else if (isQuestionable(since) && (probed = front()) > 0) {
            untilLook = Math.min(untilLook, PROBED);
            probe = new CostProbe(fold, chain, probed, root.pace);
        }
    }

    /** Says what has been done since it was said last. */
    private void note() {
        since = note(count, since);
        count = 0;
    }

    private void share(int front) {
        run = run(queue, front);
        run.producer = producer;
        run.open();
    }

    /** Collects {@code x} for a worker. */
    private void collect(Object x) {
        if (worker == null) {
            note();
            worker = run.begin(root);
        }
        if (batch == null)
            queue.collected = batch = new Batch((int) Math.min(root.pace.next(Long.MAX_VALUE), MAX_BLOCK));
        batch.add(x);
        if (!batch.isFull()) return;
        queue.add(batch.take());
        batch = null;
        if (queue.size > MAX_QUEUED * (fold.options.parallelism() - 1)) work();
    }

    /** Works on a block of the queue, as the helpers do. */
    private void work() {
        producer.leave();
        try {
            pauses.pause();
            worker.advance();
        } catch (Throwable t) { // not the source's, which must not see it
            run.fail(t);
        } finally {
            producer.enter();
        }
    }
}
