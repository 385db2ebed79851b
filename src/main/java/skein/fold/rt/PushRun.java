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
    callerWorks(true);
  }

  /** The source has thrown {@code t} after all that it has pushed. */
  void producerFailed(Throwable t) {
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

  /** Puts a block behind what there is. By the caller's thread only, which may then have to reduce one. */
  void push(Span block, Pace pace) {
    producing(false);
    try {
      pause();
      append(block, pace);
    } catch (Throwable t) {  // not the source's, which must not see it
      fail(t);
    }
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
    complete(root());
    synchronized (lock) {
      closed = true;
      lock.notifyAll();
    }
  }

  @Override
  void workOnOthers() {
    while (reduceOne(true)) pause();
  }

  private boolean reduceOne(boolean wait) {
    Block block = poll(wait);
    if (block == null) return false;
    Strand strand = block.strand;
    if (wait) summonAnother();
    long before = System.nanoTime();
    if (!attempt(strand, () -> reduce(strand, block.span))) return true;
    plan.note(strand, block.span.size(), before, System.nanoTime());
    if (strand.acc instanceof Reduced reduced) {
      strand.acc = reduced.deref();
      endAfter(strand);
    }
    complete(strand);
    return true;
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

  private Block poll(boolean wait) {
    synchronized (lock) {
      for (;;) {
        if (failed) return null;
        Block block = queue.pollFirst();
        if (block != null && block.strand.isDropped()) continue;
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
