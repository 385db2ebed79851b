// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IChunk;
import clojure.lang.IChunkedSeq;
import clojure.lang.IFn;
import clojure.lang.ISeq;
import clojure.lang.RT;
import clojure.lang.Reduced;
import java.util.Arrays;

/** The elements of a sequence, which is realized as they are wanted, and not held on to. */
public final class SeqFeed implements Feed {
  private static final int FIRST_BLOCK = 64;

  private Object rest;   // the sequence after the present chunk, or when there is none
  private IChunk chunk;  // null: none
  private int at;        // within the chunk
  private long taken;
  private Throwable broken;  // what ended the production of a block that has been handed out

  /** @param seq anything that {@code seq} takes */
  public SeqFeed(Object seq) {
    rest = seq;
  }

  /** Makes sure that there is a chunk with an element, or that {@code rest} is a seq which isn't chunked; or says no. */
  @Override
  public boolean exhausted() {
    if (broken != null) throw Sneaky.raise(broken);
    if (chunk != null) return false;
    ISeq seq = RT.seq(rest);
    rest = seq;
    if (seq == null) return true;
    if (seq instanceof IChunkedSeq chunked) {
      chunk = chunked.chunkedFirst();
      at = 0;
      rest = chunked.chunkedMore();
      if (chunk.count() == 0) {
        chunk = null;
        return exhausted();
      }
    }
    return false;
  }

  /** Takes the next element; there is one. */
  private Object take() {
    taken++;
    if (chunk == null) {
      ISeq seq = (ISeq) rest;
      rest = seq.more();
      return seq.first();
    }
    Object x = chunk.nth(at++);
    if (at == chunk.count()) chunk = null;
    return x;
  }

  @Override
  public long taken() {
    return taken;
  }

  @Override
  public Span next(int n) {
    if (exhausted()) return null;
    Object[] block = new Object[Math.min(n, FIRST_BLOCK)];
    int filled = 0;
    try {
      do {
        if (filled == block.length) block = Arrays.copyOf(block, Math.min(n, 4 * filled));
        Object x = take();
        block[filled++] = x;
      } while (filled < n && !exhausted());
    } catch (Throwable t) {
      broken = Feed.later(t, filled);
    }
    return new ArraySpan(block, filled);
  }

  @Override
  public Object reduce(IFn step, Object acc, int n) {
    for (int i = 0; i < n && !exhausted(); i++) {
      acc = step.invoke(acc, take());
      if (acc instanceof Reduced) return acc;
    }
    return acc;
  }
}
