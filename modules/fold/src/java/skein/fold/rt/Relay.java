// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.AFn;
import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.util.ArrayList;
import skein.fold.spi.Span;

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
 * <li>L4: nothing that has been read is left while its reader waits for more: others come for it, and who is alone steps on each
 *     element before the next one is read.
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
  private final Pace pace;                  // whoever has the turn
  private final int window;
  private final Basket[] baskets;          // guarded by lock; those taken and not emptied, at number % window
  private final Turns turns = new Turns();  // at the supply
  private long taken;                      // guarded by lock
  private long emptied;                    // guarded by lock
  private boolean emptying;                // guarded by lock
  private boolean ended;                   // guarded by lock
  private Object acc;                      // whoever is emptying, or steps on elements alone
  private Trace.Piece piece;               // the same
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
    turns.enter();
    try {
      boolean first = true;
      for (Basket basket; stepAlone() && (basket = take()) != null; pause()) {
        if (first) summonAnother();
        first = false;
        fill(basket);
        deliver(basket);
      }
    } finally {
      turns.leave();
    }
  }

  @Override
  Object result() {
    return plan.complete(whole, acc);
  }

  /** Steps on what may come late element by element, as long as nobody else is there; whether there may be more. */
  private boolean stepAlone() {
    if (!turns.alone() || !turns.take()) return true;
    try {
      for (Span block; turns.alone() && isEmptied() && (block = supply.live(pace)) != null; pause()) {
        if (!step(block)) return false;
      }
      return true;
    } finally {
      turns.end();
    }
  }

  private boolean isEmptied() {
    synchronized (lock) {
      return taken == emptied && !emptying && !ended && !failed;
    }
  }

  private boolean step(Span block) {
    long before = System.nanoTime();
    Object reduced = block.reduce(whole, acc, 0, Long.MAX_VALUE);
    acc = Start.unreduced(reduced);
    long units = block.size();
    long now = System.nanoTime();
    if (units > 0) {
      pace.took(units, now - before);
      piece = plan.note(piece, 0, units, before, now);
      if (acc == reduced) return true;
    }
    synchronized (lock) {
      end();
    }
    return false;
  }

  private Basket take() {
    Basket ready = turns.await(this::takeReady, 0);
    if (ready != null) return ready;
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
      turns.end();
    }
  }

  /** What whoever has the turn has read so far, if there is room for it and what will be read then; or null. */
  private Basket takeReady() {
    synchronized (lock) {
      if (taken - emptied >= window - 1 || ended) return null;
      Span block = supply.ready();
      return block == null ? null : add(new Basket(block, 0, block.size()));
    }
  }

  private Basket nextBasket() {
    long at = supply.position();
    Span block = null;
    Throwable thrown = null;
    try {
      block = supply.next(pace, turns.alone());
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
      return add(basket);
    }
  }

  /** Puts a basket behind those that there are. Under the lock. */
  private Basket add(Basket basket) {
    return baskets[(int) (taken++ % window)] = basket;
  }

  private void fill(Basket basket) {
    if (basket.thrown != null || !basket.claim.enter()) return;
    if (plan.trace != null) plan.trace.join();
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
}
