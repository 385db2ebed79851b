// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IChunk;
import clojure.lang.IChunkedSeq;
import clojure.lang.IFn;
import clojure.lang.ISeq;
import clojure.lang.PersistentList;
import clojure.lang.RT;
import clojure.lang.Reduced;

/** The elements of a sequence, which is realized as they are wanted, and not held on to. */
public final class SeqFeed extends ItemFeed {
  private Object rest;   // the sequence that comes next, or, while in use, that of which the present element or chunk is the first
  private boolean used;  // whether its first element or chunk is in use or has been
  private IChunk chunk;  // null: none
  private int at;        // within the chunk

  /** @param seq anything that {@code seq} takes */
  public SeqFeed(Object seq) {
    rest = seq;
  }

  /** Makes sure that there is a chunk with an element, or that {@code rest} is a seq which isn't chunked; or says no. */
  @Override
  boolean hasItem() {
    if (chunk != null) return true;
    // Not before its first has been handed out: there are seqs for which this means to wait for the next element.
    if (used) rest = rest instanceof IChunkedSeq chunked ? chunked.chunkedMore() : ((ISeq) rest).more();
    used = false;
    ISeq seq = RT.seq(rest);
    rest = seq;
    if (seq == null) return false;
    if (seq instanceof IChunkedSeq chunked) {
      used = true;
      chunk = chunked.chunkedFirst();
      at = 0;
      if (chunk.count() == 0) {
        chunk = null;
        return hasItem();
      }
    }
    return true;
  }

  @Override
  Object item() {
    if (chunk == null) {
      used = true;
      return ((ISeq) rest).first();
    }
    Object x = chunk.nth(at++);
    if (at == chunk.count()) chunk = null;
    return x;
  }

  @Override
  Object reduceItems(IFn step, Object acc, int n) {
    long end = taken + n;
    do {
      if (chunk != null) {
        acc = reduceChunk(step, acc, end);
      } else if (rest instanceof PersistentList list) {
        acc = reduceList(step, acc, list, end);
      } else {
        acc = reduceCells(step, acc, end);
      }
    } while (!(acc instanceof Reduced) && taken < end && hasItem());
    return acc;
  }

  private Object reduceChunk(IFn step, Object acc, long end) {
    IChunk items = chunk;
    int from = at;
    int to = (int) Math.min(items.count(), from + end - taken);
    int i = from;
    while (i < to && !(acc instanceof Reduced)) acc = step.invoke(acc, items.nth(i++));
    taken += i - from;
    at = i;
    if (i == items.count()) chunk = null;
    return acc;
  }

  /** Goes on cell by cell, as long as they are of one kind. */
  private Object reduceCells(IFn step, Object acc, long end) {
    ISeq seq = (ISeq) rest;
    Class<?> kind = seq.getClass();
    rest = null;  // lest it hold on to what has been stepped on
    for (;;) {
      taken++;
      acc = step.invoke(acc, seq.first());
      if (acc instanceof Reduced) return acc;
      if (used = taken == end) break;
      seq = seq.next();
      if (seq == null || seq.getClass() != kind) break;
    }
    rest = seq;
    return acc;
  }

  /** As {@link #reduceCells}; twice as fast, since it is known whose methods are called. */
  private Object reduceList(IFn step, Object acc, PersistentList list, long end) {
    rest = null;
    for (;;) {
      taken++;
      acc = step.invoke(acc, list.first());
      if (acc instanceof Reduced) return acc;
      if (used = taken == end) break;
      list = (PersistentList) list.next();
      if (list == null) break;
    }
    rest = list;
    return acc;
  }
}
