// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IPersistentMap;
import clojure.lang.IPersistentVector;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.PersistentArrayMap;
import clojure.lang.RT;
import java.util.Collection;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/**
 * A thread or a block, as something that can be cancelled. It is in a stack of {@link Region}s; a frame without any
 * has no strand, and pays one null check a step and a park.
 */
public final class Strand {
  /*
   * Where the strand is, and how a cancellation of its top region is delivered there:
   *
   *   FRESH     begun == false       the block or function is not run at all
   *   RUNNING   thread != null       the thread is interrupted
   *   PARKED    wait != null         the wait is withdrawn; the exception is thrown where the block parked
   *   BETWEEN   neither              its wait is claimed, so it is about to run: as RUNNING, when it does
   *
   *   S1  A cancelled wait is never completed, and a completed one never cancelled: claiming it decides. So a
   *       value that has been taken reaches its block, and a put that was withdrawn is never delivered.
   *   S2  A region's cancellation is delivered once, when it is the strand's top and no shield is up inside it. The
   *       regions inside are cancelled with it, but for those that such a shield keeps; and so is one that is entered
   *       before the cancellation has been noticed.
   *   S3  The thread is interrupted only while it runs the strand, and an interrupt that nobody has noticed goes
   *       when the region is left or the step ends.
   *   S4  A strand that was cancelled before it began is not run.
   *
   * Lock order: channels, then the strand's monitor. A wait is withdrawn, and owners are told, outside of both.
   */

  private static final ThreadLocal<Strand> OF_THREAD = new ThreadLocal<>();

  // All of these are guarded by this.
  private Frame frame; // null: a thread
  private Thread thread; // that runs it now
  private Withdrawable wait; // by which the block is parked
  private Region top;
  private Region interruptedFor; // its thread was interrupted, and has not been seen to notice
  private boolean begun;
  private int shields;

  private Strand(Frame frame, Thread thread) {
    this.frame = frame;
    this.thread = thread;
    this.begun = thread != null;
  }

  /** One that has not begun. */
  Strand() {
    this(null, null);
  }

  /** The strand of the block that runs on this thread, or else of the thread. */
  public static Strand current() {
    Runner runner = Runner.current();
    Frame frame = runner == null ? null : runner.frame;
    if (frame != null) {
      if (frame.strand == null) frame.strand = new Strand(frame, Thread.currentThread());
      return frame.strand;
    }
    Strand strand = OF_THREAD.get();
    if (strand == null) OF_THREAD.set(strand = new Strand(null, Thread.currentThread()));
    return strand;
  }

  /** The strand of the block that {@code runner} runs on this thread, or else of the thread, or null. */
  static Strand of(Runner runner) {
    return runner == null || runner.frame == null ? OF_THREAD.get() : runner.frame.strand;
  }

  /** The innermost region that this thread or its block is in, or null. */
  public static Region innermost() {
    Strand strand = of(Runner.current());
    return strand == null ? null : strand.top();
  }

  private synchronized Region top() {
    return top;
  }

  // Regions

  /** A region entered while an interrupt for the one around it has not been noticed is itself cancelled. */
  synchronized void push(Region region) {
    Region outer = top;
    region.outer = outer;
    region.shields = shields;
    top = region;
    if (outer == null || interruptedFor != outer) return;
    interruptedFor = null;
    if (!Thread.currentThread().isInterrupted()) return;
    outer.delivered = false;
    region.requested = true;
    region.delivered = true;
    interruptedFor = region;
  }

  /** Ends {@code region}, and those in it; what is left of its interrupt goes with it. */
  synchronized void pop(Region region, boolean tellsOuter) {
    while (top != null && !region.left) {
      top.left = true;
      if (interruptedFor == top) takeInterrupt();
      top = top.outer;
    }
    if (tellsOuter && top != null && top.requested) top.delivered = true;
    deliver();
    detach();
  }

  /** A block that is in no region any more goes without a strand. */
  private void detach() {
    if (top == null && shields == 0 && frame != null) frame.strand = null;
  }

  private boolean takeInterrupt() {
    interruptedFor = null;
    return Thread.interrupted();
  }

  /** From now on cancellations wait, until {@link #unshield} has been called as often. */
  public synchronized void shield() {
    Region region = interruptedFor;
    if (region != null && takeInterrupt()) region.delivered = false;
    shields++;
  }

  /** Ends what {@link #shield} began. */
  public synchronized void unshield() {
    shields--;
    deliver();
    detach();
  }

  /**
   * Marks {@code region} cancelled, and adds to {@code inner} those inside it that are cancelled with it: all but those
   * entered behind a shield. False when it has been already, or has ended.
   */
  boolean cancel(Region region, Collection<Region> inner) {
    Withdrawable withdrawn;
    synchronized (this) {
      if (region.requested || region.left) return false;
      region.requested = true;
      for (Region r = top; r != null && r != region; r = r.outer) {
        if (r.shields == region.shields) inner.add(r);
      }
      withdrawn = deliver();
    }
    if (withdrawn != null && withdrawn.withdraw()) resumeCancelled();
    return true;
  }

  /** Under the monitor. Returns a wait for the caller to withdraw outside of it, or null. */
  private Withdrawable deliver() {
    Region region = top;
    if (region == null || !region.requested || region.delivered || shields > region.shields) return null;
    if (thread == null) return wait;
    region.delivered = true;
    interruptedFor = region;
    thread.interrupt();
    return null;
  }

  /** Takes back what the parked block waits in. False when it waits for nothing. */
  boolean withdraw() {
    Withdrawable waits;
    synchronized (this) {
      waits = wait;
    }
    if (waits == null || !waits.withdraw()) return false;
    synchronized (this) {
      wait = null;
    }
    return true;
  }

  /** The parked block is now the caller's, who withdrew its wait. */
  private void resumeCancelled() {
    synchronized (this) {
      wait = null;
      if (top != null) top.delivered = true;
    }
    frame.throwAtPark(cancellation());
  }

  private static CancellationException cancellation() {
    return new CancellationException("Cancelled: its scope is ending, or its time is up.");
  }

  // The life of the block or thread

  synchronized void bind(Frame child) {
    frame = child;
  }

  /** A step begins on this thread. False when the strand was cancelled before its first step. */
  synchronized boolean enter() {
    wait = null;
    thread = Thread.currentThread();
    if (frame == null) OF_THREAD.set(this);
    if (!begun) {
      begun = true;
      if (top.requested) return false;
    }
    deliver();
    return true;
  }

  /** The step that this thread ran has ended. The block may be running on another by now. */
  synchronized void exit() {
    if (thread != Thread.currentThread()) return;
    if (interruptedFor != null) takeInterrupt();
    thread = null;
  }

  /** The child throws. */
  void failed(Throwable thrown) {
    Region child = child();
    if (child != null && child.owner != null) child.owner.failed(child, thrown);
  }

  /** The outermost region. */
  private synchronized Region child() {
    Region child = top;
    while (child != null && child.outer != null) child = child.outer;
    return child;
  }

  /** The child has ended, and its result is where it belongs. */
  void ended(Object value, Throwable thrown) {
    Region child = child();
    synchronized (this) {
      for (Region r = top; r != null; r = r.outer) r.left = true;
      top = null;
    }
    if (child != null && child.owner != null) child.owner.ended(child, value, thrown);
  }

  // Parking

  /** Throws if the block has been cancelled and nothing has told it yet. */
  private synchronized void check() {
    if (interruptedFor != null && takeInterrupt()) throw cancellation();
  }

  /** The block is about to wait by {@code w}: from now on whoever withdraws that has the block. */
  synchronized void parks(Withdrawable w) {
    check();
    wait = w;
    thread = null;
  }

  /** It need not wait after all. */
  private synchronized void unparks() {
    wait = null;
    thread = Thread.currentThread();
    deliver();
  }

  /** As {@link Frame#take}; a channel's NONE when the block waits. */
  Object take(Object source, Runner runner) {
    check();
    if (source instanceof Channel channel) return operate(channel, null, runner);
    return foreign(LazilyPersistentVector.createOwning(source));
  }

  /** As {@link Frame#put}; a channel's NONE when the block waits. */
  Object put(Object target, Object value, Runner runner) {
    check();
    if (target instanceof Channel channel) {
      if (value == null) return channel.put(null, null, runner); // which refuses it
      return operate(channel, value, runner);
    }
    return foreign(LazilyPersistentVector.createOwning(LazilyPersistentVector.createOwning(target, value)));
  }

  private Object operate(Channel channel, Object toPut, Runner runner) {
    for (;;) {
      Object result = toPut == null ? channel.take(null, runner) : channel.put(toPut, null, runner);
      if (result != Channel.NONE) return result;
      Wait w = new Wait(frame, channel);
      parks(w);
      try {
        if (channel.enlist(w, toPut)) return Channel.NONE;
      } catch (Throwable t) { // too many wait
        if (!w.claim()) return Channel.NONE;
        unparks();
        throw t;
      }
      if (!w.claim()) return Channel.NONE; // cancelled: the block goes on elsewhere
      unparks();
    }
  }

  /** As {@link Frame#alts}; null when the block waits. */
  Object alts(Object ports, IPersistentMap options, Runner runner) {
    check();
    return choose(ports, options, frame, runner);
  }

  private Object choose(Object ports, IPersistentMap options, Waiter owner, Runner runner) {
    Object chosen;
    try {
      chosen = Alts.choose(ports, options, owner, runner);
    } catch (Throwable t) { // the block does not wait
      unparks();
      throw t;
    }
    if (chosen != null) unparks();
    return chosen;
  }

  /** One operation on a port of another kind: as a choice of one, which can be withdrawn. */
  private Object foreign(IPersistentVector operation) {
    Object chosen = choose(operation, PersistentArrayMap.EMPTY, new ForeignWait(frame), null);
    return chosen == null ? Channel.NONE : RT.nth(chosen, 0);
  }

  /** Waits for {@code [value port]} and gives the block the value. */
  private static final class ForeignWait extends Waiter {
    private final Frame owner;

    ForeignWait(Frame owner) {
      this.owner = owner;
    }

    @Override void complete(Object result, Runner runner) {
      owner.complete(RT.nth(result, 0), runner);
    }

    @Override public void withdrawal(BooleanSupplier withdraw) {
      owner.withdrawal(withdraw);
    }

    @Override public Frame frame() {
      return owner;
    }
  }
}
