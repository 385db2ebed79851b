// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Reduced;
import java.util.ArrayDeque;

/**
 * A run over elements that the caller pushes, as a reducible collection does: helpers take blocks from a short queue, and when it
 * is full, so does the caller. Always ordered.
 */
final class PushRun extends Run {
    /** Elements, and the strand that they belong to. */
    private record Block(Strand strand, Span span) { }

    private final ArrayDeque<Block> queue = new ArrayDeque<>();  // guarded by lock
    private boolean closed;                                     // guarded by lock
    private volatile boolean ended;                             // a strand was reduced: nobody wants more

    PushRun(Plan plan, Strand root) {
        super(plan);
        append(root);
        keepRoot();
    }

    /** Whether the producer should stop. */
    boolean enough() {
        return ended || failed;
    }

    /** Puts a block behind what there is. By the caller's thread only, which may then have to reduce one. */
    void push(Span block, Pace pace) {
        Strand strand = new Strand(pace.copy(), -1, -1);
        boolean full;
        synchronized (lock) {
            if (ended) return;
            append(strand);
            queue.addLast(new Block(strand, block));
            full = queue.size() > 2 * maxHelpers();
            lock.notify();
        }
        open();
        if (full) reduceOne(false);
    }

    @Override
    void workOnRoot() {
        Strand root = root();
        if (!stopped(root)) finish(root, plan.complete(root.step, root.acc));
        synchronized (lock) {
            closed = true;
            lock.notifyAll();
        }
    }

    @Override
    void workOnOthers() {
        while (reduceOne(true)) checkInterrupt();
    }

    private boolean reduceOne(boolean wait) {
        Block block = poll(wait);
        if (block == null) return false;
        Strand strand = block.strand;
        if (wait) summonAnother();
        long before = System.nanoTime();
        strand.begin(plan.newChain(null).step(), plan.identity.invoke());
        strand.acc = block.span.reduce(strand.step, strand.acc, 0, block.span.size());
        plan.note(strand, block.span.size(), before, System.nanoTime());
        if (strand.acc instanceof Reduced reduced) {
            strand.acc = reduced.deref();
            ended = true;
            dropAfter(strand);
        }
        if (!stopped(strand)) finish(strand, plan.complete(strand.step, strand.acc));
        return true;
    }

    private Block poll(boolean wait) {
        synchronized (lock) {
            for (;;) {
                if (failed) return null;
                Block block = queue.pollFirst();
                if (block != null && block.strand.dropped) continue;
                if (block != null || !wait || closed) return block;
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    throw Sneaky.raise(e);
                }
            }
        }
    }
}
