// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.AFn;
import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.util.ArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A run of a fold with a stage that has to see its elements in order: the stages before it run in parallel and put what they
 * let through into baskets; the rest of the chain gets the baskets one after the other. There is one accumulator, and
 * nothing to combine. The value, and what is thrown, is what a serial reduction gives.
 *
 * <p>Invariants:
 * <ul>
 * <li>L1: baskets are numbered in the source's order, and emptied in that order by one thread at a time.
 * <li>L2: at most {@link #window} baskets have been taken and not been emptied; so the source is read ahead by so much.
 * <li>L3: a thread waits for the window only while another one fills or empties a basket.
 * </ul>
 */
final class Relay extends Run {
  /** What one block has become. */
  private static final class Basket extends AFn {
    final Span span;
    final long from;
    final long to;
    final Claim claim = new Claim();
    final ArrayList<Object> items = new ArrayList<>();
    Throwable thrown;
    boolean full;  // guarded by the run
    long nanos;

    Basket(Span span, long from, long to) {
      this.span = span;
      this.from = from;
      this.to = to;
    }

    @Override
    public Object invoke(Object acc) {
      return acc;
    }

    @Override
    public Object invoke(Object acc, Object x) {
      items.add(x);
      return acc;
    }
  }

  private static final Claim NO_CLAIM = new Claim();

  private final int stages;
  private final IFn rest;
  private final IFn whole;
  private final Supply supply;
  private final Pace pace;                 // guarded by turn
  private final int window;
  private final Basket[] baskets;          // guarded by lock; those taken and not emptied, at number % window
  private final ReentrantLock turn = new ReentrantLock();  // whose turn it is to take from the supply
  private long taken;                      // guarded by lock
  private long emptied;                    // guarded by lock
  private boolean emptying;                // guarded by lock
  private boolean ended;                   // guarded by lock
  private Object acc;                      // whoever is emptying
  private Trace.Piece piece;               // whoever is emptying
  private volatile Basket latest;          // for what it tells about the cost

  /**
   * @param stages how many stages are in front of the first one that needs order
   * @param strand what the caller has come to, with {@code chain}
   */
  Relay(Plan plan, Chain chain, int stages, Supply supply, Strand strand) {
    super(plan);
    rest = chain.steps()[stages];
    whole = chain.steps()[0];
    this.stages = stages;
    this.supply = supply;
    pace = strand.pace.copy();
    acc = strand.acc;
    piece = strand.piece;
    window = 4 * plan.parallelism;
    baskets = new Basket[window];
  }

  @Override
  void workOnRoot() {
    workOnOthers();
  }

  @Override
  void workOnOthers() {
    boolean first = true;
    for (Basket basket; (basket = take()) != null; pause()) {
      if (first) summonAnother();
      first = false;
      fill(basket);
      deliver(basket);
    }
  }

  @Override
  Object result() {
    return plan.complete(whole, acc);
  }

  /** Does one block on the caller's thread; whether the stages in front take enough of the time for others to help. */
  boolean probe() {
    Basket basket = take();
    if (basket == null) return false;
    fill(basket);
    long start = System.nanoTime();
    deliver(basket);
    long rest = System.nanoTime() - start;
    double share = (double) basket.nanos / Math.max(1, basket.nanos + rest);
    double perUnit = (double) (basket.nanos + rest) / Math.max(1, basket.to - basket.from);
    return !ended() && Start.worthwhile(share, perUnit);
  }

  private Basket take() {
    Turns.await(turn);
    try {
      synchronized (lock) {
        while (taken - emptied >= window && !ended && !failed) lock.wait();
        if (ended || failed) return null;
      }
      Basket done = latest;
      if (done != null && done.to > done.from) pace.took(done.to - done.from, done.nanos);
      return nextBasket();
    } catch (InterruptedException e) {
      throw Sneaky.raise(e);
    } finally {
      turn.unlock();
    }
  }

  private Basket nextBasket() {
    long at = supply.position();
    Span block = null;
    Throwable thrown = null;
    try {
      block = supply.next(pace);
    } catch (Throwable t) {  // thrown again, as in fill()
      if (cancels(NO_CLAIM, t)) throw t;
      supply.shut();
      thrown = t;
    }
    if (block == null && thrown == null) return null;
    synchronized (lock) {
      if (ended) return null;
      long from = Math.max(at, 0);
      Basket basket = new Basket(block, from, block == null ? from : at < 0 ? block.size() : supply.position());
      basket.thrown = thrown;
      return baskets[(int) (taken++ % window)] = basket;
    }
  }

  private void fill(Basket basket) {
    if (basket.thrown != null || !basket.claim.enter()) return;
    long start = System.nanoTime();
    try {
      IFn step = plan.chain(stages, basket)[0];
      // A stage in front may stop early by what an element is: what follows is then left out.
      if (basket.span.reduce(step, null, basket.from, basket.to) instanceof Reduced) basket.items.add(END);
    } catch (Throwable t) {  // thrown again when the elements before have had their turn
      if (cancels(basket.claim, t)) throw Sneaky.raise(t);
      basket.thrown = t;
      supply.shut();
    } finally {
      basket.claim.leave();
    }
    basket.nanos = System.nanoTime() - start;
    latest = basket;
  }

  /** Stands behind the last element that gets through, when a stage in front has stopped. */
  private static final Object END = new Object();

  private void deliver(Basket basket) {
    synchronized (lock) {
      basket.full = true;
      if (emptying) return;
      emptying = true;
    }
    for (Basket next; (next = nextInTurn()) != null; pause()) empty(next);
  }

  private Basket nextInTurn() {
    synchronized (lock) {
      int slot = (int) (emptied % window);
      Basket next = baskets[slot];
      if (ended || failed || next == null || !next.full) {
        emptying = false;
        return null;
      }
      baskets[slot] = null;
      return next;
    }
  }

  private void empty(Basket basket) {
    long start = System.nanoTime();
    boolean end = false;
    for (Object x : basket.items) {
      if (end = x == END) break;
      acc = rest.invoke(acc, x);
      if (end = acc instanceof Reduced) {
        acc = ((Reduced) acc).deref();
        break;
      }
    }
    if (!end && basket.thrown != null) {
      fail(basket.thrown);
      throw Sneaky.raise(basket.thrown);
    }
    long now = System.nanoTime();
    note(basket, now - start, now);
    synchronized (lock) {
      emptied++;
      if (end) end();
      lock.notifyAll();
    }
  }

  /** Nobody wants more of the source, nor the baskets that there are. Under the lock. */
  private void end() {
    ended = true;
    supply.shut();
    for (Basket basket : baskets) if (basket != null) basket.claim.drop();
  }

  private void note(Basket basket, long nanos, long now) {
    long units = basket.to - basket.from;
    if (plan.progress != null) plan.progress.add(units, now);
    if (plan.trace == null) return;
    if (piece == null) piece = plan.trace.piece(basket.from);
    piece.add(units, nanos + basket.nanos);
  }

  boolean ended() {
    synchronized (lock) {
      return ended;
    }
  }

  Object acc() {
    return acc;
  }
}
