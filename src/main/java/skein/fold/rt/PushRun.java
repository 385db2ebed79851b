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
  private boolean producing = true;                           // guarded by lock; the caller is in the source's code
  private volatile boolean ended;                             // a strand was reduced: nobody wants more

  PushRun(Plan plan, Strand root) {
    super(plan);
    append(root);
    keepRoot();
    callerWorks(true);
  }

  /** The source has thrown {@code t}: that is the fold's failure, unless nobody wanted more of the source. */
  void producerFailed(Throwable t) {
    if (!ended) fail(t);
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

  /** Puts a block behind what there is. By the caller's thread only, which may then have to reduce one. */
  void push(Span block, Pace pace) {
    producing(false);
    append(block, pace);
    producing(true);
  }

  private void append(Span block, Pace pace) {
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
      endAfter(strand);
    }
    if (!stopped(strand)) finish(strand, plan.complete(strand.step, strand.acc));
    return true;
  }

  @Override
  void endAfter(Strand strand) {
    synchronized (lock) {
      ended = true;
      dropAfter(strand);
      if (producing) interruptCaller();
    }
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
