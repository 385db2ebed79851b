// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Reduced;
import java.util.ArrayDeque;
import skein.fold.spi.Span;

/**
 * A run over elements that the caller pushes, as a reducible collection does: helpers take blocks from a short queue, and when it
 * is full, so does the caller. Always ordered. Until a helper has come, the caller had better step on what it gets, as it may have
 * to wait for more; then helpers do so, also with a block that is not full.
 */
final class PushRun extends Run {
  /** Elements, and the strand that they belong to. */
  private record Block(Strand strand, Span span) { }

  private static final int MAX_BLOCK = 1024;
  private static final int SPINS = 200;
  /** How long a helper waits for a block before it looks for what the producer has collected of one; longer each time. */
  private static final long PATIENCE_MILLIS = 1;
  private static final long MOST_PATIENCE_MILLIS = 16;

  private final Bursts bursts = new Bursts();
  private final ArrayDeque<Block> queue = new ArrayDeque<>();  // guarded by lock
  private volatile boolean isEmpty = true;                    // written under lock; whether the queue is
  private volatile boolean closed;                            // written under lock
  private boolean producing = true;                           // guarded by lock; the caller is in the source's code
  private volatile boolean ended;                             // a strand was reduced: nobody wants more
  private volatile boolean helped;                            // somebody looks for blocks, until the end
  private volatile Batch collected;                           // what has not been pushed; null: nothing
  private boolean pushed;                                     // the caller's; whether anything was

  /** @param root what the caller has come to; it may go on with it until it pushes something */
  PushRun(Plan plan, Strand root) {
    super(plan);
    append(root);
    callerWorks(true);
    open();
  }

  /** Whether a helper has come. */
  boolean isHelped() {
    return helped;
  }

  /** The source, or the step on the root while it was the caller's, has thrown {@code t} after all that was pushed. */
  void producerFailed(Throwable t) {
    if (!pushed) fail(t);
    synchronized (lock) {
      if (!ended) sourceThrew(t);
    }
  }

  /** The caller leaves the source's code or comes back to it. */
  void producing(boolean yes) {
    synchronized (lock) {
      producing = yes;
      if (!failed) forgetInterrupt();
    }
  }

  /** Whether the producer should stop. */
  boolean enough() {
    return ended || failed;
  }

  /** The caller begins a block, which others may take from until it is flushed. */
  Batch collect(Pace pace) {
    pushed = true;
    return collected = new Batch(bursts.next((int) Math.min(pace.next(Long.MAX_VALUE), MAX_BLOCK)));
  }

  /** Puts the present block, or what nobody has taken of it, behind what there is. The caller may then have to reduce one. */
  void flush() {
    Batch batch = collected;
    collected = null;
    Span rest = batch.take();
    if (rest == null) return;
    producing(false);
    try {
      pause();
      push(rest);
    } catch (Throwable t) {  // not the source's, which must not see it
      fail(t);
    }
    producing(true);
  }

  private void push(Span span) {
    Block first;
    synchronized (lock) {
      if (ended) return;
      queue.addLast(blockOf(span));
      isEmpty = false;
      // Taken here, while others are behind it that helpers may turn to.
      first = queue.size() > 2 * maxHelpers() ? nextBlock() : null;
      lock.notify();
    }
    if (first != null) reduce(first);
  }

  private Block blockOf(Span span) {
    Block block = new Block(new Strand(null, -1, -1), span);
    append(block.strand);
    return block;
  }

  @Override
  void workOnRoot() {
    complete(root());
    synchronized (lock) {
      closed = true;
      lock.notifyAll();
    }
  }

  @Override
  void workOnOthers() {
    helped = true;
    for (Block block; (block = poll()) != null; pause()) {
      summonAnother();
      reduce(block);
    }
  }

  private void reduce(Block block) {
    Strand strand = block.strand;
    long before = System.nanoTime();
    if (!attempt(strand, () -> reduce(strand, block.span))) return;
    plan.note(strand, block.span.size(), before, System.nanoTime());
    if (strand.acc instanceof Reduced reduced) {
      strand.acc = reduced.deref();
      endAfter(strand);
    }
    complete(strand);
  }

  private void reduce(Strand strand, Span span) {
    strand.begin(plan.newChain(null).step(), plan.identity.invoke());
    strand.acc = span.reduce(strand.step, strand.acc, 0, span.size());
  }

  @Override
  void endAfter(Strand strand) {
    synchronized (lock) {
      ended = true;
      dropAfter(strand);
      if (producing) interruptCaller();
    }
  }

  /** Waits for a block; null if no more will come or are wanted. */
  private Block poll() {
    // A producer that needs a helper will have collected a block before that could fall asleep.
    for (int i = 0; isEmpty && !closed && i < SPINS; i++) Thread.onSpinWait();
    synchronized (lock) {
      for (long patience = PATIENCE_MILLIS; ; patience = Math.min(2 * patience, MOST_PATIENCE_MILLIS)) {
        Block block = nextBlock();
        if (failed || block != null || closed) return failed ? null : block;
        try {
          lock.wait(patience);
        } catch (InterruptedException e) {
          throw Sneaky.raise(e);
        }
        if (queue.isEmpty() && (block = collectedBlock()) != null) return block;
      }
    }
  }

  /** The next block that somebody wants, or null. Under the lock. */
  private Block nextBlock() {
    Block block;
    do block = queue.pollFirst(); while (block != null && block.strand.isDropped());
    isEmpty = queue.isEmpty();
    return block;
  }

  /** What the producer, which perhaps waits, has collected so far; or null. Under the lock. */
  private Block collectedBlock() {
    Batch batch = collected;
    Span ready = batch == null || ended || failed ? null : batch.take();
    if (ready == null) return null;
    bursts.taken(ready.size());
    return blockOf(ready);
  }
}
