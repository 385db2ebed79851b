// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.Reduced;
import clojure.lang.Var;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * One fold under way on several threads: the list of its strands, its helpers, and how it ends.
 *
 * <p>Invariants:
 * <ul>
 * <li>R1: the strands in the list stand in the source's order, and what they and their accumulators stand for is all of the
 *     source up to the first {@code Reduced} or exception.
 * <li>R2: of two neighbours that are done the right one has thrown: whoever finishes combines with the others, outside the lock.
 * <li>R3: no step runs after {@link #execute} has returned or thrown: it waits until every helper has left.
 * <li>R4: a thread waits only for helpers that run, never for one that may come; so nested folds can't deadlock.
 * </ul>
 *
 * <p>A {@code Reduced} and an exception of a strand end what is to the right of it: that is dropped, and interrupted. What is to
 * the left goes on, so that the value, or what is thrown, is the sequential one. What is not a strand's, such as an interrupt
 * of the caller, ends the run at once, as does any exception of an unordered fold: all stop at their next block, helpers
 * are interrupted, and the caller gets that exception.
 */
abstract class Run {
  private static final int SPINS = 2000;

  final Plan plan;
  final Object lock = new Object();
  private final Object bindings = Var.cloneThreadBindingFrame();
  private final Thread caller = Thread.currentThread();
  private final Pauses pauses;
  private final List<Thread> helpers = new ArrayList<>();  // guarded by lock

  private Strand head;                     // guarded by lock
  private Strand tail;                     // guarded by lock
  private int joined;                      // guarded by lock; helpers at work
  private boolean opened;                  // the caller's
  volatile long combineNanos;              // how long the last combination took
  private Throwable failure;               // guarded by lock
  private volatile int helperCount;        // as joined, for a look without the lock
  volatile boolean failed;                 // written under lock; workers look at every block
  private volatile boolean over;           // no more helpers are wanted
  private boolean callerWorks;             // guarded by lock; the caller is in user code that may wait
  private final Nudge nudge = new Nudge();  // guarded by lock; ours, to the caller

  Run(Plan plan) {
    this.plan = plan;
    pauses = plan.pauses(System.nanoTime());
  }

  /** Does the first strand's work, and more, until there is nothing to do. */
  abstract void workOnRoot();

  /** Looks for work and does it, until there is none. */
  abstract void workOnOthers();

  int maxHelpers() {
    return plan.parallelism - 1;
  }

  boolean wantsHelp() {
    return !over && !failed && helperCount < maxHelpers();
  }

  /** Asks for the first helper, unless that has been done. By the caller. */
  final void open() {
    if (opened || maxHelpers() == 0) return;
    opened = true;
    if (plan.pool == null) Crew.OWN.open(this); else enlist(1);
  }

  /** Runs the fold; returns its accumulator, complete and combined. */
  final Object execute() {
    open();
    try {
      participate();
    } finally {
      awaitHelpers();
      if (opened && plan.pool == null) Crew.OWN.close(this);
    }
    synchronized (lock) {
      if (failure != null) throw Sneaky.raise(failure);
      return result();
    }
  }

  /** The value of a run that has not failed, or what its leftmost failed strand has thrown. Under the lock. */
  Object result() {
    if (tail.thrown != null && (head == tail || head.done && head.right == tail)) throw Sneaky.raise(tail.thrown);
    if (head == null || head != tail || !head.done) throw new AssertionError("strands are left");
    return head.acc;
  }

  private void enlist(int n) {
    for (int i = 0; i < n; i++) {
      try {
        plan.pool.execute(this::help);
      } catch (java.util.concurrent.RejectedExecutionException e) {
        return;  // a pool that is full or shut down helps nobody; the caller does the work
      }
    }
  }

  /** Asks for one more helper, since there was work for this one. */
  final void summonAnother() {
    if (plan.pool == null) {
      Crew.OWN.summonAnother(this);
    } else if (wantsHelp()) {
      enlist(1);
    }
  }

  private void participate() {
    callerWorks(true);
    try {
      workOnRoot();
      workOnOthers();
    } catch (Throwable t) {  // whatever a step throws is the caller's; Errors too
      fail(t);
    } finally {
      callerWorks(false);
    }
  }

  /** The caller, which calls this, begins or ends what {@link #fail} may interrupt. */
  final void callerWorks(boolean yes) {
    synchronized (lock) {
      callerWorks = yes;
      forgetInterrupt();
    }
  }

  /** Interrupts the caller, since nobody wants what it does. Under the lock. */
  final void interruptCaller() {
    if (Thread.currentThread() != caller) nudge.send(caller);
  }

  /** Takes back an interrupt of ours. By the caller, under the lock. */
  final void forgetInterrupt() {
    nudge.takeBack();
  }

  /** A helper's whole visit. */
  final void help() {
    if (!join()) return;
    Object before = Var.getThreadBindingFrame();
    Var.resetThreadBindingFrame(bindings);
    try {
      workOnOthers();
      // Nothing is left to take, and nothing will be: others need not come to see that.
      over = true;
    } catch (Throwable t) {  // as in participate
      fail(t);
    } finally {
      Var.resetThreadBindingFrame(before);
      leave();
    }
  }

  private boolean join() {
    synchronized (lock) {
      Thread visitor = Thread.currentThread();
      // A pool that runs its tasks at once, on the thread that brings them, is no help.
      if (!wantsHelp() || visitor == caller || helpers.contains(visitor)) return false;
      helpers.add(visitor);
      helperCount = ++joined;
      return true;
    }
  }

  private void leave() {
    synchronized (lock) {
      helpers.remove(Thread.currentThread());
      helperCount = --joined;
      // An interrupt that came through the run is over with it.
      if (failed) Thread.interrupted();
      if (joined > 0) return;
    }
    LockSupport.unpark(caller);
  }

  final void fail(Throwable t) {
    synchronized (lock) {
      if (failure != null) return;
      failure = t;
      failed = true;
      for (Thread helper : helpers) {
        if (helper != Thread.currentThread()) helper.interrupt();
      }
      if (callerWorks) interruptCaller();
      lock.notifyAll();
    }
  }

  /** Between two blocks; of no concern to helpers, which only we interrupt. */
  final void pause() {
    if (Thread.currentThread() == caller) pauses.pause();
  }

  /** Waits until all helpers have left; those that could come no longer can. */
  private void awaitHelpers() {
    over = true;
    boolean interrupted = false;
    for (int spins = SPINS; helpersWork(); spins--) {
      if (spins > 0) {
        Thread.onSpinWait();
      } else {
        LockSupport.park(this);
      }
      if (Thread.interrupted()) {
        interrupted = true;
        fail(Pauses.interruption());
      }
    }
    // An interrupt that is not what the caller gets must not be lost.
    if (interrupted && !(failure instanceof InterruptedException)) caller.interrupt();
  }

  private boolean helpersWork() {
    synchronized (lock) {
      return joined > 0;
    }
  }

  // The list of strands.

  /** Appends a strand; the caller of this method holds what makes its place right. */
  final void append(Strand strand) {
    synchronized (lock) {
      strand.left = tail;
      if (tail == null) head = strand; else tail.right = strand;
      tail = strand;
    }
  }

  /** Puts {@code strand} right of {@code of}. Under the lock. */
  final void insertAfter(Strand of, Strand strand) {
    strand.left = of;
    strand.right = of.right;
    if (of.right == null) tail = strand; else of.right.left = strand;
    of.right = strand;
  }

  final Strand root() {
    synchronized (lock) {
      return head;
    }
  }

  final boolean isTail(Strand strand) {
    synchronized (lock) {
      return tail == strand;
    }
  }

  /** The strand with the most units that nobody has taken, or null if all are taken. Under the lock. */
  final Strand richest() {
    Strand richest = null;
    long most = 0;
    for (Strand s = head; s != null; s = s.right) {
      long remaining = s.done ? 0 : s.remaining();
      if (remaining > most) {
        most = remaining;
        richest = s;
      }
    }
    return richest;
  }

  /** Leaves out all that nobody has taken. */
  final void closeAll() {
    synchronized (lock) {
      for (Strand s = head; s != null; s = s.right) s.close();
    }
  }

  private void unlink(Strand strand) {
    if (strand.left == null) head = strand.right; else strand.left.right = strand.right;
    if (strand.right == null) tail = strand.left; else strand.right.left = strand.left;
  }

  /** Nobody wants what is right of {@code strand}. */
  final void dropAfter(Strand strand) {
    synchronized (lock) {
      if (strand.isDropped()) return;
      for (Strand s = strand.right; s != null; s = s.right) s.drop();
      strand.right = null;
      tail = strand;
    }
  }

  /** The value is known from {@code strand} on: no more of the source is wanted. */
  void endAfter(Strand strand) {
    dropAfter(strand);
  }

  /** Whether the owner of {@code strand} should stop. */
  final boolean stopped(Strand strand) {
    return failed || strand.isDropped();
  }

  /** Does {@code work}, which calls the user's functions for {@code strand}; whether the strand goes on. */
  final boolean attempt(Strand strand, Runnable work) {
    if (failed || !strand.enter()) return false;
    try {
      work.run();
      return !stopped(strand);
    } catch (Throwable t) {  // whatever a step throws is the caller's; Errors too
      thrown(strand, t);
      return false;
    } finally {
      strand.leave();
    }
  }

  /** Ends {@code strand} with what it has thrown. */
  private void thrown(Strand strand, Throwable t) {
    if (plan.unordered || cancels(strand, t)) {
      fail(t);
      return;
    }
    synchronized (lock) {
      if (stopped(strand)) return;
      strand.thrown = t;
      strand.done = true;
      strand.close();
      endAfter(strand);
    }
  }

  /** Whether {@code t}, which came of work for {@code claim}, says that somebody has interrupted the caller. */
  final boolean cancels(Claim claim, Throwable t) {
    return t instanceof InterruptedException && Thread.currentThread() == caller && !claim.isInterrupted();
  }

  /** The source has thrown {@code t} after all that is in the list; nothing there has ended the run. Under the lock. */
  final void sourceThrew(Throwable t) {
    Strand end = new Strand(null, -1, -1);
    append(end);
    thrown(end, t);
  }

  /** Ends {@code strand}: completes its accumulator. */
  final void complete(Strand strand) {
    attempt(strand, () -> finish(strand, plan.complete(strand.step, strand.acc)));
  }

  /** Ends {@code strand} with the complete accumulator {@code acc}: combines it with neighbours that are done. */
  private void finish(Strand strand, Object acc) {
    strand.acc = null;
    for (;;) {
      Object other;
      boolean left;
      synchronized (lock) {
        if (stopped(strand)) return;
        if (left = strand.left != null && strand.left.done) {
          other = strand.left.acc;
          unlink(strand.left);
        } else if (strand.right != null && strand.right.done && strand.right.thrown == null) {
          other = strand.right.acc;
          unlink(strand.right);
        } else {
          strand.acc = acc;
          strand.done = true;
          return;
        }
      }
      long start = System.nanoTime();
      acc = left ? plan.combine.invoke(other, acc) : plan.combine.invoke(acc, other);
      combineNanos = System.nanoTime() - start;
      if (acc instanceof Reduced reduced) {
        acc = reduced.deref();
        endAfter(strand);
      }
    }
  }
}
